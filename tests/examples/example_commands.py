"""The commands of the examples, in a project of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def example(project: Path, kind: str, *arguments: str, **variables: str) -> tuple[int, str, str]:
    """Run an example; return status, output and messages."""
    names = ("RAW", "NAME", "SIZE", "PRETRAINED", "PREPARE")
    own = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        ["bash", str(project / "examples" / kind / "run.sh"), *arguments],
        env={**own, "VENV": sys.prefix, "OMP_NUM_THREADS": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
