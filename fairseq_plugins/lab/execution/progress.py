"""Progress of runs: the costs of a plan, and a line per running cell, in a terminal or log."""

import logging
import math
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tqdm import tqdm

from ...errors import InputError
from ..results.training_log import Validation, chief, speed, updates_so_far, validations
from ..run_files import LOG
from .experiment import Plan
from .run import Run

EVERY = 60.0  # seconds between lines in a log
_MEBI = 2**20

logger = logging.getLogger(__name__)


def format_costs(plan: Plan, missing: Mapping[str, int] | None = None) -> str:
    """Return each part's costs as lines: runs, updates, and after the first run time and space."""
    lines = [f"{'part':<20} {'runs':>6} {'done':>6} {'updates':>10} {'left':>10}  time, space"]
    jobs = plan.runs[0].machine.jobs if plan.runs else 1
    parts = {run.part: [one for one in plan.runs if one.part == run.part] for run in plan.runs}
    costs = {name: _costs(runs) for name, runs in parts.items()}
    if len(costs) > 1:
        costs["all"] = tuple(map(sum, zip(*costs.values())))
    for name, (runs, finished, updates, left, seconds, space) in costs.items():
        lines.append(
            f"{name:<20} {runs:>6,} {finished:>6,} {updates:>10,} {left:>10,}  "
            f"{_time(seconds, min(jobs, int(runs - finished)))}, "
            f"{'unknown' if math.isnan(space) else f'{space:,.0f} MiB'}"
        )
    for name, runs in (missing or {}).items():
        lines.append(f"{name:<20} {runs:>6,} {0:>6} {'?':>10} {'?':>10}  its data are not prepared")
    return "\n".join(lines) + "\n"


def _costs(runs: Sequence[Run]) -> tuple[float, ...]:
    """Return runs, finished runs, updates, updates left; seconds and mebibytes (nan if unknown)."""
    rows = {run.folder: run.row() for run in runs if run.is_finished()}
    done, left, rates = [], 0, []
    for run in runs:
        if row := rows.get(run.folder):
            done += [path.stat().st_size for path in run.folder.glob("*") if path.is_file()]
            rates += [run.updates / row.seconds] if row.seconds else []
        else:
            left += max(0, run.updates - updates_so_far(run.folder / LOG))
            rates += [*filter(None, [speed(run.folder / LOG)])]
    seconds = left / statistics.mean(rates or [math.nan]) if left else 0.0
    space = sum(done) / len(rows) * len(runs) / _MEBI if rows else math.nan
    return len(runs), len(rows), sum(run.updates for run in runs), left, seconds, space


def _time(seconds: float, jobs: int) -> str:
    if math.isnan(seconds):
        return "unknown before the first run"
    minutes = round(seconds / max(1, jobs) / 60)
    text = f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
    return f"about {text}" + (f" with {jobs} at a time" if jobs > 1 else "")


class Progress:
    """Shows the updates of all runs and of each running one; of a single run its validations.

    In a notebook there is one bar, which the page of a notebook shows well.
    """

    def __init__(self, runs: Sequence[Run], every: float = EVERY) -> None:
        total = sum(run.updates for run in runs)
        self._is_notebook = "ipykernel" in sys.modules
        disable = False if self._is_notebook else None
        self._whole = tqdm(total=total, desc="all runs", unit=" updates", disable=disable)
        self._every, self._told = every, time.monotonic()
        self._bars: dict[Path, tqdm] = {}
        self._begun: dict[Path, tuple[int, float]] = {}  # updates at the first look, and its time
        self._seen: dict[Path, int] = {}
        self._single = len(runs) == 1
        self._validated = len(_validations(runs[0])) if self._single else 0

    def look(self, running: Sequence[Run], ended: Sequence[Run]) -> None:
        """Show the progress of runs; runs that ended lose their line."""
        for run in (*running, *ended):
            self._advance(run, run.updates if run in ended else updates_so_far(run.folder / LOG))
            found = _validations(run) if self._single else []
            for one in found[self._validated :]:
                logger.info(_line_of(one, run))
                self._whole.set_postfix_str(_line_of(one, run).partition(": ")[2])
            self._validated = max(self._validated, len(found))
        for run in ended:
            self._bars.pop(run.folder).close()
        if self._whole.disable and time.monotonic() - self._told >= self._every:
            self._told = time.monotonic()
            for run in running:
                logger.info("%s: %s", run.name, self._how_far(run))

    def close(self) -> None:
        """Remove all lines except the total."""
        for bar in (*self._bars.values(), self._whole):
            bar.close()

    def _advance(self, run: Run, updates: int) -> None:
        done, before = min(updates, run.updates), self._seen.get(run.folder, 0)
        if run.folder not in self._bars:
            disable = self._is_notebook or None
            bar = tqdm(total=run.updates, desc=run.name, leave=False, disable=disable)
            self._bars[run.folder] = bar
            self._begun[run.folder] = (done, time.monotonic())
        self._seen[run.folder] = done
        for bar in (self._whole, self._bars[run.folder]):
            bar.update(done - before)

    def _how_far(self, run: Run) -> str:
        """Return the progress in words, with the remaining time at the current speed."""
        done, (first, begun) = self._seen[run.folder], self._begun[run.folder]
        told = f"{done:,} of {run.updates:,} updates"
        if done <= first:
            return told
        seconds = (run.updates - done) * (time.monotonic() - begun) / (done - first)
        return f"{told}, {max(1, round(seconds / 60))} min left"


def _validations(run: Run) -> list[Validation]:
    """Return the validations so far, without an unfinished line."""
    with suppress(FileNotFoundError, InputError):
        return validations(run.folder / LOG, run.grid.validation)
    return []


def _line_of(found: Validation, run: Run) -> str:
    """Return a validation as a line; the metric that chooses the checkpoint comes first."""
    shown = chief(found.metrics, run.settings["metric"])
    said = ", ".join(f"{name} {value:g}" for name, value in shown.items())
    return f"update {found.updates} of {run.updates}: {said}"
