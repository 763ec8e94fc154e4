"""What a user meets first: the directory for --user-dir, or how to install fairseq."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import fairseq_plugins
from fairseq_plugins.installation import FAIRSEQ_REQUIREMENT

ROOT = Path(fairseq_plugins.__file__).resolve().parents[1]


def _run(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        cwd="/",
    )


MAIN = """
import runpy, sys
sys.argv = ["x"]
runpy.run_module("fairseq_plugins", run_name="__main__")
"""


def test_main_prints_the_user_dir_alone():
    done = _run(MAIN, PYTHONPATH=str(ROOT))
    assert done.stdout == f"{ROOT / 'fairseq_plugins'}\n"
    assert done.returncode == 0
    assert done.stderr == ""


def test_main_without_fairseq_says_how_to_install_it():
    done = _run(f"import sys; sys.modules['fairseq'] = None\n{MAIN}", PYTHONPATH=str(ROOT))
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"pip install --no-deps --no-build-isolation {FAIRSEQ_REQUIREMENT}" in done.stderr
    assert "Traceback" not in done.stderr


def test_importing_leaves_logging_and_stdout_alone():
    code = "import logging, fairseq_plugins; r = logging.getLogger(); print(r.level, r.handlers)"
    done = _run(code, PYTHONPATH=str(ROOT))
    assert done.stdout == "30 []\n"
    assert done.stderr == ""


def test_importing_what_needs_no_fairseq_leaves_it_out():
    code = "import sys, fairseq_plugins.targets.squad; print('fairseq' in sys.modules)"
    assert _run(code, PYTHONPATH=str(ROOT)).stdout == "False\n"
