"""Scores of systems with a dot for every seed."""

import math
from collections.abc import Mapping, Sequence
from itertools import count

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator
from scipy import stats

from ...errors import InputError
from ..results.frame import Shown
from ..results.tables import name_of, scale_of
from .drawing import BLUE, note, plain, style, tidy, wrapped

_LEAST, _LINE = 0.52, 0.17  # height of a system, and of a line of its name, in inches
_DOT = 0.025  # approximate width of a dot, as a share of the range of all scores
_APART, _CLOSEST = 0.094, 0.05  # distance between overlapping dots: usual, least; inches
_MOST = 0.38  # largest distance of a dot from the middle, in rows


@style()
def plot_seeds(scores: Mapping[str, Sequence[float]], shown: Shown) -> Figure:
    """Draw one row per system, the first on top: a dot per seed, their mean and its interval.

    Args:
        scores: system -> one score per seed, as computed; NaN scores are counted, not drawn.
    """
    if not scores or not all(scores.values()):
        raise InputError("no scores to draw")
    scale, names = scale_of(shown.metric), [_named(*one) for one in scores.items()]
    rows = [[scale * one for one in own if math.isfinite(one)] for own in scores.values()]
    width = _DOT * np.ptp(np.concatenate(rows)) if any(rows) else 0.0
    levels = [spread(values, width) for values in rows]
    most = max((abs(level) for own in levels for level in own), default=0)
    lines = [line for name in names for line in name.split("\n")]
    row = max(_LEAST, _LINE * max(name.count("\n") + 2 for name in names), most * _CLOSEST / _MOST)
    size = (4.2 + 0.085 * max(map(len, lines)), 1.0 + row * len(rows))
    figure = Figure(figsize=size, layout="constrained")
    ax, step = figure.subplots(), min(_APART / row, _MOST / max(most, 1))
    for place, (values, own) in enumerate(zip(rows, levels)):
        _draw_row(ax, place, values, [place + step * level for level in own])
    tidy(ax, 0.05, 0.0, "x")
    ax.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10]) if any(rows) else NullLocator())
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.5, -0.5)
    plain(ax.set_xlabel(f"{name_of(shown.metric)}, {shown.split}"), *ax.get_yticklabels())
    several = max(map(len, rows))
    means = ["upright line: the mean of the seeds"] * (several > 1)
    note(figure, "dot: a seed", *means, *["across: its 95 % interval (t)"] * (several > 2))
    return figure


def _draw_row(ax: Axes, place: float, values: Sequence[float], across: Sequence[float]) -> None:
    """Draw the dots of a system; two dots get no interval, which would be too wide."""
    ax.scatter(values, across, s=34, color=BLUE, alpha=0.75, edgecolor="white", zorder=3)
    mean = float(np.mean(values)) if len(values) else 0.0
    if len(values) > 1:
        ax.vlines(mean, place - 0.44, place + 0.44, color="0.15", linewidth=1.8)
    if len(values) > 2:
        half = half_interval(values)
        ax.hlines(place, mean - half, mean + half, color="0.15", linewidth=1.0)


def half_interval(values: Sequence[float]) -> float:
    """Return half the 95 % interval of a mean by Student's t, of three values or more."""
    return float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))


def _named(system: str, scores: Sequence[float]) -> str:
    """Return the label of a row: the system, its number of seeds, and the number without a dot."""
    broken = sum(not math.isfinite(score) for score in scores)
    seeds = f"{len(scores)} seed{'s' * (len(scores) != 1)}"
    return f"{wrapped(system)}\n{seeds}" + f", {broken} without a number" * bool(broken)


def spread(values: Sequence[float], width: float) -> list[int]:
    """Return the level of each dot relative to the middle of its row: 0 if it covers no other dot.

    Args:
        width: of a dot, in the same unit; equal values never share a level.
    """
    levels: dict[int, int] = {}
    for at in np.argsort(values, kind="stable").tolist():
        near = {levels[one] for one in levels if 0 <= values[at] - values[one] <= width}
        sides = ((number + 1) // 2 * (1 if number % 2 else -1) for number in count())
        levels[at] = next(level for level in sides if level not in near)
    return [levels[at] for at in range(len(values))]
