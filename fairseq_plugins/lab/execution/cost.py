"""What a plan costs: runs, updates, and, as soon as one like it is finished, time and space."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from ..results.training_log import speed, updates_so_far
from ..run_files import LOG, RESULT
from ..safe_files import read_text
from .experiment import Plan, PlannedRun

_MEBI = 2**20


@dataclass(frozen=True)
class Cost:
    """What some runs cost.

    Args:
        name: what they are.
        runs: how many.
        finished: of them.
        updates: of all.
        left: updates still to be done.
        seconds: that these take one after another; None while nothing tells of the speed.
        space: mebibytes of all finished runs; None while there is none to judge from.
    """

    name: str
    runs: int
    finished: int
    updates: int
    left: int
    seconds: float | None
    space: float | None


def costs(plan: Plan) -> list[Cost]:
    """Return the cost of every part.

    Raises:
        ValueError: a folder holds a run with other settings.
    """
    return [
        _cost(name, list(group)) for name, group in groupby(plan.runs, lambda one: one.part.name)
    ]


def _cost(name: str, runs: Sequence[PlannedRun]) -> Cost:
    finished = [planned.run.is_finished() for planned in runs]
    left = [
        0 if done else max(0, planned.run.updates - updates_so_far(planned.run.folder / LOG))
        for planned, done in zip(runs, finished)
    ]
    rates = [_speed(planned) for planned in runs]
    return Cost(
        name,
        len(runs),
        sum(finished),
        sum(planned.run.updates for planned in runs),
        sum(left),
        _seconds(runs, rates, left),
        _space(runs, finished),
    )


def _speed(planned: PlannedRun) -> float | None:
    """Return a run's updates a second, if it has run or begun."""
    path = planned.run.folder / RESULT
    if path.is_file():
        return json.loads(read_text(path)).get("updates_per_second")
    return speed(planned.run.folder / LOG)


def _seconds(
    runs: Sequence[PlannedRun], rates: Sequence[float | None], left: Sequence[int]
) -> float | None:
    """Return the time of what is left, each system by its own runs' speed or else by all runs'."""
    known = [rate for rate in rates if rate]
    if not any(left):
        return 0.0
    if not known:
        return None
    systems: dict[str, list[float]] = {}
    for planned, rate in zip(runs, rates):
        if rate:
            systems.setdefault(planned.run.cell.system, []).append(rate)
    return sum(
        updates / fmean(systems.get(planned.run.cell.system, known))
        for planned, updates in zip(runs, left)
    )


def _space(runs: Sequence[PlannedRun], finished: Sequence[bool]) -> float | None:
    """Return what all runs will take, by what the finished ones do."""
    sizes = [
        sum(path.stat().st_size for path in planned.run.folder.iterdir() if path.is_file())
        for planned, done in zip(runs, finished)
        if done
    ]
    return fmean(sizes) * len(runs) / _MEBI if sizes else None


def format_costs(found: Sequence[Cost], jobs: int, missing: Mapping[str, int] | None = None) -> str:
    """Lay costs out for a terminal, with their sum.

    Args:
        found: one a part.
        jobs: runs at a time, by which time is divided.
        missing: part whose data are not prepared -> how many runs it has.
    """
    lines = [f"{'part':<20} {'runs':>6} {'done':>6} {'updates':>10} {'left':>10}  time, space"]
    whole = Cost(
        "all",
        *(
            sum(getattr(one, key) for one in found)
            for key in ("runs", "finished", "updates", "left")
        ),
        _sum([one.seconds for one in found]),
        _sum([one.space for one in found]),
    )
    for one in [*found, *([whole] if len(found) > 1 else [])]:
        lines.append(
            f"{one.name:<20} {one.runs:>6,} {one.finished:>6,} {one.updates:>10,} {one.left:>10,}  "
            f"{_time(one.seconds, min(jobs, one.runs - one.finished))}, {_mebibytes(one.space)}"
        )
    for name, runs in (missing or {}).items():
        lines.append(f"{name:<20} {runs:>6,} {0:>6} {'?':>10} {'?':>10}  its data are not prepared")
    return "\n".join(lines) + "\n"


def _sum(values: Sequence[float | None]) -> float | None:
    return None if None in values else sum(value for value in values if value is not None)


def _time(seconds: float | None, jobs: int) -> str:
    """Spell a duration."""
    if seconds is None:
        return "unknown before the first run"
    minutes = round(seconds / max(1, jobs) / 60)
    text = f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
    return f"about {text}" + (f" with {jobs} at a time" if jobs > 1 else "")


def _mebibytes(space: float | None) -> str:
    return "unknown" if space is None else f"{space:,.0f} MiB"
