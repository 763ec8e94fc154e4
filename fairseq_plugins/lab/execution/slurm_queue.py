"""What Slurm has been given of an experiment, and what of that is still queued or running."""

from __future__ import annotations

import getpass
import hashlib
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ...files import write_text
from ..safe_files import read_json
from .run import Run

SUBMITTED = "submitted.json"  # run -> job, kind; of jobs that may still be there

Record = dict[str, tuple[str, str]]


def kind_of(run: Run) -> str:
    """Return a short name of all that a job does with a run, and with how many processes."""
    grid = run.grid
    decides = {
        "settings": run.settings,
        "predict": run.predict[1:],  # the interpreter may be called otherwise
        "evaluate": [grid.validation, grid.evaluate, grid.reference, dict(grid.generate)],
        "average": grid.average,
        "workers": [run.workers.nodes, run.workers.processes],
        "cpu": run.cpu,
    }
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]


def read_record(folder: Path) -> Record:
    """Return what a folder's record says: run -> job and kind; nothing if there is none."""
    found = read_json(folder / SUBMITTED)
    return {str(run): (str(job), str(kind)) for run, (job, kind) in found.items()}


def write_record(folder: Path, record: Mapping[str, tuple[str, str]]) -> None:
    """Write the record of a folder."""
    write_text(folder / SUBMITTED, json.dumps(record, indent=2) + "\n")


def queued_jobs(name: str) -> set[str]:
    """Return the jobs of a name that are queued or running: numbers may come again.

    Raises:
        ConnectionError: Slurm does not answer.
    """
    command = ["squeue", "--noheader", "--array", "--format=%i %j", f"--user={getpass.getuser()}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        detail = getattr(error, "stderr", "") or error
        raise ConnectionError(f"squeue does not answer: {str(detail).strip()}") from None
    jobs = (line.strip().partition(" ") for line in done.stdout.splitlines())
    return {number for number, _, found in jobs if found.strip() == name}
