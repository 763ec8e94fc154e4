"""What a plan costs: runs, updates, and, as soon as one like it is finished, time and space."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import pandas as pd

from ..results.training_log import speed, updates_so_far
from ..run_files import LOG, RESULT
from ..safe_files import read_json
from .experiment import Plan
from .run import Run

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
        seconds: that these take one after another; None while the speed is unknown.
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
    frame = pd.DataFrame([{"part": one.part.name, **_row(one.run)} for one in plan.runs])
    parts = frame.groupby("part", sort=False) if plan.runs else ()
    return [_cost(str(name), runs) for name, runs in parts]


def _row(run: Run) -> dict[str, Any]:
    """Return what is known of a run; what is not yet known is nan."""
    is_finished = run.is_finished()
    rest = 0 if is_finished else max(0, run.updates - updates_so_far(run.folder / LOG))
    sizes = [path.stat().st_size for path in run.folder.glob("*") if path.is_file()]
    return {
        "system": run.cell.system,
        "finished": is_finished,
        "updates": run.updates,
        "left": rest,
        "speed": _speed(run) or math.nan,
        "space": sum(sizes) / _MEBI if is_finished else math.nan,
    }


def _speed(run: Run) -> float | None:
    """Return a run's updates a second, if it has run or begun."""
    result = read_json(run.folder / RESULT)
    return result.get("updates_per_second") if result else speed(run.folder / LOG)


def _cost(name: str, runs: pd.DataFrame) -> Cost:
    """Sum up; each system goes on at the speed of its own runs, or else at that of all runs."""
    own = runs.groupby("system")["speed"].transform("mean")
    seconds = (runs["left"] / own.fillna(runs["speed"].mean())).where(runs["left"] > 0, 0.0)
    counts = (int(runs[column].sum()) for column in ("finished", "updates", "left"))
    known = (seconds.sum(skipna=False), runs["space"].mean() * len(runs))
    return Cost(name, len(runs), *counts, *(None if math.isnan(v) else float(v) for v in known))


def format_costs(found: Sequence[Cost], jobs: int, missing: Mapping[str, int] | None = None) -> str:
    """Lay costs out for a terminal, with their sum.

    Args:
        found: one a part.
        jobs: runs at a time, by which time is divided.
        missing: part whose data are not prepared -> how many runs it has.
    """
    lines = [f"{'part':<20} {'runs':>6} {'done':>6} {'updates':>10} {'left':>10}  time, space"]
    sums = map(_sum, zip(*(astuple(one)[1:] for one in found)))
    for one in [*found, *([Cost("all", *sums)] if len(found) > 1 else [])]:
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
