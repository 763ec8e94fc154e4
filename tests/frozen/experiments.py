"""What the example experiments plan: how many runs, their commands, the steps after them."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from frozen.commands import ROOT
from frozen.workshop import Workshop, digest
from lab.example_runs import EXAMPLES, invent_data

from fairseq_plugins.cli.main import main
from fairseq_plugins.lab.plan.experiment_file import read_experiment

FILES = sorted(
    path
    for path in [*EXAMPLES.glob("*/*.yaml"), *EXAMPLES.glob("*/configs/*.yaml")]
    if "evidence" not in path.relative_to(EXAMPLES).parts  # which grow
)
WORDS = ("--dry-run", "--preset", "--seeds", "1")  # one setting of each system


def make_experiments(workshop: Workshop) -> Any:
    """Plan every example: file -> runs, digest of their commands, digest of the steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(workshop.place)
        return {str(path.relative_to(EXAMPLES)): planned(path) for path in FILES}


def planned(path: Path) -> str:
    """Plan an example on invented data in the working directory."""
    for part in read_experiment(path).parts:
        invent_data(part.resized(""))
    out, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        assert main(["run", str(path), *WORDS]) == 0
    trained = [_plain(line) for line in out.getvalue().splitlines()]
    steps = [_plain(line) for line in told.getvalue().splitlines() if line.startswith("after: ")]
    found = (digest("\n".join(lines).encode()) for lines in (trained, steps))
    return " ".join([str(len(trained)), *found])


def _plain(line: str) -> str:
    """Return a command without what is of this machine."""
    for place in (sys.executable, os.getcwd(), str(ROOT)):
        line = line.replace(place, "")
    return line
