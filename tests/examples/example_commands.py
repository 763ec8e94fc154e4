"""The commands of the examples, in a project of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from cli import shims

ROOT = Path(__file__).parents[2]


def example(project: Path, kind: str, *arguments: str, **variables: str) -> tuple[int, str, str]:
    """Run an example; return status, output and messages."""
    names = ("RAW", "NAME", "SIZE", "PRETRAINED", "PREPARE")
    own = {name: value for name, value in shims.variables().items() if name not in names}
    done = subprocess.run(
        ["bash", str(project / "examples" / kind / "run.sh"), *arguments],
        env={**own, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
