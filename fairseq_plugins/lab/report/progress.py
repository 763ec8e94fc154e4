"""How far an experiment is: what it is, what failed, what still runs, and the commands of all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone

from ..results.training_log import updates_so_far
from ..run_files import COMMAND, RESULT, SETTINGS
from ..safe_files import is_file, read_tail, read_text
from .model import Cell, Command, Counts, Failure, Heading, Table
from .records import FAILED, FINISHED, UNFINISHED, Experiment, RunRecord

_LAST_LINES = 20  # of a log
_TAIL = 100_000  # bytes that hold them


def counts_of(experiment: Experiment) -> Counts:
    """Return how many runs are how far."""
    numbers = (_with_status(experiment, status) for status in (FINISHED, FAILED, UNFINISHED))
    return Counts(*map(len, numbers), planned=experiment.planned)


def facts_of(experiment: Experiment) -> list[tuple[str, str]]:
    """Return what there is to know about an experiment, as names and values."""
    runs = experiment.records
    systems = dict.fromkeys(run.setting.system for run in runs)
    seeds = sorted({run.seed for run in runs})
    updates = sum(run.updates for run in runs if run.status == FINISHED)
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


def _times(runs: Sequence[RunRecord], name: str) -> Iterator[float]:
    """Yield when a file of each run was written."""
    for run in runs:
        path = run.folder / name
        if is_file(path):
            yield path.stat().st_mtime


def _when(seconds: float) -> str:
    """Show a time; empty where there is none."""
    if math.isnan(seconds):
        return ""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _with_status(experiment: Experiment, status: str) -> list[RunRecord]:
    return [run for run in experiment.records if run.status == status]


def failures_of(experiment: Experiment) -> list[Failure]:
    """Return the failed runs, each with the last lines of what it said."""
    return [
        Failure(run.title, str(run.folder), _progress(run), _last_lines(run))
        for run in _with_status(experiment, FAILED)
    ]


def _progress(run: RunRecord) -> str:
    done = updates_so_far(run.log)
    return f"{done:,} of {run.updates:,} updates" if run.updates else f"{done:,} updates"


def _last_lines(run: RunRecord) -> str:
    """Return the error of a run, or else the end of its log."""
    text = str(run.facts.get("error") or "")
    if not text.strip():
        text = read_tail(run.log, _TAIL)
    return "\n".join(text.rstrip().splitlines()[-_LAST_LINES:]) or "It left no message."


def unfinished_table(experiment: Experiment) -> Table | None:
    """Return how far runs are that have begun and are not finished; None if there are none."""
    rows = []
    for run in _with_status(experiment, UNFINISHED):
        done = updates_so_far(run.log)
        share = min(1.0, done / run.updates) if run.updates else math.nan
        percent = "" if math.isnan(share) else f"{100 * share:.0f} %"
        written = [path.stat().st_mtime for path in (run.log,) if is_file(path)]
        rows.append(
            [
                Cell(*run.names),
                Cell(f"{done:,}", f"of {run.updates:,}" if run.updates else "", done),
                Cell(percent, value=share, share=share),
                Cell(_when(written[0]) if written else "not yet"),
            ]
        )
    names = ("run", "updates", "done", "log last written")
    headings = [Heading(name, is_number=name in ("updates", "done")) for name in names]
    return Table("Unfinished runs", headings, rows) if rows else None


def commands_of(experiment: Experiment) -> list[Command]:
    """Return the command of the experiment, then that of every run."""
    own = str(experiment.facts.get("command") or "")
    found = [Command("the whole experiment", own, True)] if own else []
    for run in experiment.records:
        text = str(run.facts.get("command") or "") or _begun_with(run)
        found += [Command(run.title, text)] if text else []
    return found


def _begun_with(run: RunRecord) -> str:
    """Return the command of a run without a result; empty where it left none."""
    path = run.folder / COMMAND
    return read_text(path, _TAIL, "replace").strip() if is_file(path) else ""
