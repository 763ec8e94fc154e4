"""How far an experiment is: what it is, what failed, what still runs, and the commands of all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd

from ..results.run_frame import FAILED, FINISHED, UNFINISHED
from ..results.runs import Experiment
from ..results.tables import Cell, Heading, Table
from ..results.training_log import updates_so_far
from ..run_files import COMMAND, LOG, RESULT, SETTINGS
from ..safe_files import is_file, read_tail, read_text
from .model import Command, Counts, Failure

_LAST_LINES = 20  # of a log
_TAIL = 100_000  # bytes that hold them


def names_of(run: Any) -> tuple[str, str]:
    """Return what a run is called: its part and system; its setting and seed."""
    part = f"{run.part} · " if run.part != "." else ""
    return part + run.system, f"{run.setting.values} · seed {run.seed}"


def title_of(run: Any) -> str:
    """Return what it is called in lists."""
    return " · ".join(names_of(run))


def counts_of(experiment: Experiment) -> Counts:
    """Return how many runs are how far."""
    status = experiment.runs.status
    numbers = (int((status == one).sum()) for one in (FINISHED, FAILED, UNFINISHED))
    return Counts(*numbers, planned=experiment.planned)


def facts_of(experiment: Experiment) -> list[tuple[str, str]]:
    """Return what there is to know about an experiment, as names and values."""
    runs = experiment.runs
    systems, seeds = list(dict.fromkeys(runs.system)), sorted(set(runs.seed))
    updates = sum(runs[runs.status == FINISHED].planned)
    found = [
        ("file", str(experiment.facts.get("file") or "")),
        ("folder", str(experiment.folder)),
        ("systems", f"{len(systems)}: {', '.join(systems)}" if systems else ""),
        ("seeds", ", ".join(map(str, seeds))),
        ("updates", f"{updates:,} in finished runs" if updates else ""),
        ("begun", _when(min(_times(runs, SETTINGS), default=math.nan))),
        ("last result", _when(max(_times(runs, RESULT), default=math.nan))),
    ]
    return [(name, value) for name, value in found if value]


def _times(runs: pd.DataFrame, name: str) -> Iterator[float]:
    """Yield when a file of each run was written."""
    paths = (folder / name for folder in runs.folder)
    return (path.stat().st_mtime for path in paths if is_file(path))


def _when(seconds: float) -> str:
    """Show a time; empty where there is none."""
    if math.isnan(seconds):
        return ""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _with_status(experiment: Experiment, status: str) -> Iterator[Any]:
    return experiment.runs[experiment.runs.status == status].itertuples()


def failures_of(experiment: Experiment) -> list[Failure]:
    """Return the failed runs, each with the last lines of what it said."""
    found = []
    for run in _with_status(experiment, FAILED):
        done = updates_so_far(run.folder / LOG)
        told = f"{done:,} of {run.planned:,} updates" if run.planned else f"{done:,} updates"
        text = str(run.facts.get("error") or "")
        text = text if text.strip() else read_tail(run.folder / LOG, _TAIL)
        last = "\n".join(text.rstrip().splitlines()[-_LAST_LINES:]) or "It left no message."
        found.append(Failure(title_of(run), str(run.folder), told, last))
    return found


def unfinished_table(experiment: Experiment) -> Table | None:
    """Return how far runs are that have begun and are not finished; None if there are none."""
    names = ("run", "updates", "done", "log last written")
    headings = [Heading(name, is_number=name in ("updates", "done")) for name in names]
    rows = [list(_how_far(run)) for run in _with_status(experiment, UNFINISHED)]
    return Table("Unfinished runs", headings, rows) if rows else None


def _how_far(run: Any) -> Iterator[Cell]:
    """Yield the cells of an unfinished run."""
    log: Path = run.folder / LOG
    done = updates_so_far(log)
    share = min(1.0, done / run.planned) if run.planned else math.nan
    yield Cell(*names_of(run))
    yield Cell(f"{done:,}", f"of {run.planned:,}" if run.planned else "", done)
    yield Cell("" if math.isnan(share) else f"{100 * share:.0f} %", value=share, share=share)
    yield Cell(_when(log.stat().st_mtime) if is_file(log) else "not yet")


def commands_of(experiment: Experiment) -> list[Command]:
    """Return the command of the experiment, then that of every run."""
    own = str(experiment.facts.get("command") or "")
    found = [Command("the whole experiment", own, True)] if own else []
    for run in experiment.runs.itertuples():
        text, path = str(run.facts.get("command") or ""), run.folder / COMMAND
        if not text and is_file(path):  # begun, and without a result
            text = read_text(path, _TAIL, "replace").strip()
        found += [Command(title_of(run), text)] if text else []
    return found
