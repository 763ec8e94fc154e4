"""What a plan costs: runs, updates, and, as soon as one like it is finished, time and space."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..results.training_log import speed, updates_so_far
from ..run_files import LOG, RESULT
from ..safe_files import read_json
from .experiment import Plan
from .run import Run

_MEBI = 2**20


def costs(plan: Plan) -> pd.DataFrame:
    """Return the cost of every part.

    Returns:
        A row a part, called by its name: how many ``runs``; how many of them are ``finished``;
        ``updates`` of all; those ``left`` to be done; ``seconds`` that these take one after
        another, nan while the speed is unknown; ``space``, mebibytes of all finished runs, nan
        while there is none to judge from.

    Raises:
        ValueError: a folder holds a run with other settings.
    """
    runs = pd.DataFrame([_row(run) for run in plan.runs], columns=_COLUMNS)
    # each system goes on at the speed of its own runs, or else at that of all runs
    own, usual = (
        runs.groupby(keys)["speed"].transform("mean") for keys in (["part", "system"], ["part"])
    )
    runs["seconds"] = (runs["left"] / own.fillna(usual)).where(runs["left"] > 0, 0.0)
    return runs.groupby("part", sort=False).agg(
        runs=("left", "size"),
        finished=("finished", "sum"),
        updates=("updates", "sum"),
        left=("left", "sum"),
        seconds=("seconds", lambda seconds: seconds.sum(skipna=False)),
        space=("space", lambda space: space.mean() * len(space)),
    )


_COLUMNS = ("part", "system", "finished", "updates", "left", "speed", "space")


def _row(run: Run) -> tuple[Any, ...]:
    """Return what is known of a run; what is not yet known is nan."""
    is_finished, result = run.is_finished(), read_json(run.folder / RESULT)
    rest = 0 if is_finished else max(0, run.updates - updates_so_far(run.folder / LOG))
    fast = result.get("updates_per_second") if result else speed(run.folder / LOG)
    sizes = [path.stat().st_size for path in run.folder.glob("*") if path.is_file()]
    space = sum(sizes) / _MEBI if is_finished else math.nan
    return run.part, run.cell.system, is_finished, run.updates, rest, fast or math.nan, space


def format_costs(found: pd.DataFrame, jobs: int, missing: Mapping[str, int] | None = None) -> str:
    """Lay costs out for a terminal, with their sum.

    Args:
        found: of `costs`.
        jobs: runs at a time, by which time is divided.
        missing: part whose data are not prepared -> how many runs it has.
    """
    lines = [f"{'part':<20} {'runs':>6} {'done':>6} {'updates':>10} {'left':>10}  time, space"]
    if len(found) > 1:
        found = pd.concat([found, found.sum(skipna=False).to_frame("all").T])
    for name, runs, finished, updates, left, seconds, space in found.itertuples():
        lines.append(
            f"{name:<20} {runs:>6,.0f} {finished:>6,.0f} {updates:>10,.0f} {left:>10,.0f}  "
            f"{_time(seconds, min(jobs, int(runs - finished)))}, "
            f"{'unknown' if math.isnan(space) else f'{space:,.0f} MiB'}"
        )
    for name, runs in (missing or {}).items():
        lines.append(f"{name:<20} {runs:>6,} {0:>6} {'?':>10} {'?':>10}  its data are not prepared")
    return "\n".join(lines) + "\n"


def _time(seconds: float, jobs: int) -> str:
    if math.isnan(seconds):
        return "unknown before the first run"
    minutes = round(seconds / max(1, jobs) / 60)
    text = f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
    return f"about {text}" + (f" with {jobs} at a time" if jobs > 1 else "")
