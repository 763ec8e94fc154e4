"""Learning rates tried on a part of the training data (Chadha and Sood 2019, sections 3.5-3.6).

Every rate is a run of a grid, so a search that was stopped goes on. A rate at which training breaks
down is an answer as well, and is remembered next to its log.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...files import write_text
from ..results.rate_trials import RateTrial
from ..run_files import LOG, RESULT
from ..safe_files import read_json, read_tail
from .cluster import this_machine
from .run import Run
from .runner import execute

BROKEN = "diverged.json"
DIVERGED, FAILED = "diverged", "failed"  # the latter for another reason than the rate
_BREAKDOWN = re.compile(r"nan/inf|Nan/Inf|FloatingPointError|Minimum loss scale reached")
_TAIL = 20_000  # bytes of a log that show why it ended


def spaced(low: float, high: float, count: int) -> list[float]:
    """Return rates from ``low`` to ``high``, each the same multiple of the one before.

    Raises:
        ValueError: no such range.
    """
    if not 0 < low < high < math.inf or count < 2:
        raise ValueError(
            f"rates from {low:g} to {high:g} in {count}: expected 0 < low < high, and 2 or more"
        )
    step = math.log(high / low) / (count - 1)
    return [float(f"{low * math.exp(step * k):.3g}") for k in range(count)]


def search(
    runs: Sequence[Run], report: Callable[[RateTrial], None], *, jobs: int = 1, keep: bool = False
) -> tuple[list[RateTrial], list[str]]:
    """Bring all runs to their end.

    Args:
        runs: one a rate and system.
        report: is called with each trial, finished ones at once and others as they end.
        jobs: how many at a time.
        keep: whether to keep their checkpoints.

    Returns:
        The trials in the order of the runs; and messages of runs that failed for another reason
        than the rate, which the next search tries again.

    Raises:
        ValueError: fewer than one job, or a folder with a run of other settings.
    """
    trials: dict[Path, RateTrial] = {}
    failures: list[str] = []

    def done(run: Run, reason: str = "") -> None:
        trials[run.folder] = _ended(run, reason, keep)
        if reason and trials[run.folder].problem != DIVERGED:
            failures.append(f"{run.folder}: {reason}")
        report(trials[run.folder])

    waiting = [run for run in runs if not run.is_finished() and read_trial(run) is None]
    for run in runs:
        if run not in waiting:
            done(run)
    if waiting:
        execute(waiting, this_machine(runs[0].root / "jobs", jobs, cpu=runs[0].cpu), done)
    return [trials[run.folder] for run in runs], failures


def _ended(run: Run, reason: str, keep: bool) -> RateTrial:
    """Return what a run came to; its checkpoints are removed where there is nothing left to do."""
    if reason and _BREAKDOWN.search(read_tail(run.folder / LOG, _TAIL)):
        text = json.dumps({"settings": run.settings, "problem": DIVERGED}, indent=2)
        write_text(run.folder / BROKEN, text + "\n")  # it is not tried again
    trial = read_trial(run)
    for path in run.folder.glob("*.pt") if trial and not keep else ():
        path.unlink()
    return trial or _trial(run, problem=FAILED)


def read_trial(run: Run) -> RateTrial | None:
    """Return what a finished run came to; None where it is still to be trained."""
    if result := read_json(run.folder / RESULT):
        best, last, metric = result["best"], result["last"], result["metric"]
        return _trial(
            run,
            score=float(best[metric]),
            loss=float(best.get("loss", math.nan)),
            last=float(last.get(metric, math.nan)),
            updates=int(result["best_updates"]),
        )
    broken = read_json(run.folder / BROKEN)
    same = broken and broken["settings"] == run.settings
    return _trial(run, problem=broken["problem"]) if same else None


def _trial(run: Run, **found: Any) -> RateTrial:
    return RateTrial(run.cell.system, run.cell.learning_rate, run.settings["metric"], **found)
