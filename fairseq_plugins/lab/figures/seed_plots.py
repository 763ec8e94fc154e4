"""Every seed a dot: the scores of systems, not their means alone, as PNG and SVG."""

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from ..results.seeds import Shown
from ..results.tables import name_of, scale_of
from .drawing import BLUE, KINDS, note, plain, save, style, tidy, wrapped

_ROW, _LINE = 0.52, 0.17  # least height of a system, and height of a line of its name, in inches
_DOT = 0.025  # about the width of a dot, as a share of the range of all scores
_APART, _CLOSEST = 0.094, 0.05  # between dots that would cover each other: usual, least; inches
_MOST = 0.38  # how far dots may stand from the middle, in rows


def plot_seeds(
    scores: Mapping[str, Sequence[float]],
    out_stem: str | Path,
    shown: Shown,
    kinds: Sequence[str] = tuple(KINDS),
) -> list[Path]:
    """Draw a row a system, the first on top: a dot a seed, and the mean of several as a line.

    Args:
        scores: system -> a score a seed, as computed; one that is no number is told of, not drawn.
        out_stem, kinds: name the files that are returned; see `drawing.save`.
        shown: metric and split of the scores.

    Raises:
        ValueError: no scores.
        OSError: the files cannot be written.
    """
    if not scores or not all(scores.values()):
        raise ValueError("no scores to draw")
    scale, names = scale_of(shown.metric), [_named(*one) for one in scores.items()]
    rows = [[scale * one for one in own if math.isfinite(one)] for own in scores.values()]
    width = _DOT * np.ptp(np.concatenate(rows)) if any(rows) else 0.0
    levels = [spread(values, width) for values in rows]
    most = max((abs(level) for own in levels for level in own), default=0)
    row = max(_row_height(names), most * _CLOSEST / _MOST)
    letters = max(len(line) for name in names for line in name.split("\n"))
    with style():
        size = (4.2 + 0.085 * letters, 1.0 + row * len(scores))
        figure = Figure(figsize=size, layout="constrained")
        ax = figure.subplots()
        _draw_rows(ax, rows, levels, min(_APART / row, _MOST / max(most, 1)))
        _style_rows(ax, names, any(rows))
        plain(ax.set_xlabel(f"{name_of(shown.metric)}, {shown.split}"))
        several = max(map(len, rows)) > 1
        note(figure, "dot: a seed", *["line: the mean of the seeds"] * several)
        return save(figure, out_stem, kinds)


def _row_height(names: Sequence[str]) -> float:
    """Return inches of a row in which the longest of the names has room."""
    return max(_ROW, _LINE * max(name.count("\n") + 2 for name in names))


def _draw_rows(
    ax: Axes, rows: Sequence[Sequence[float]], levels: Sequence[Sequence[int]], step: float
) -> None:
    """Draw the dots of each row, and the mean of those that have several."""
    for row, (values, own) in enumerate(zip(rows, levels)):
        places = [row + step * level for level in own]
        ax.scatter(values, places, s=34, color=BLUE, alpha=0.75, edgecolor="white", zorder=3)
        if len(values) > 1:
            mean = statistics.fmean(values)
            ax.vlines(mean, row - 0.44, row + 0.44, color="0.15", linewidth=1.8)


def spread(values: Sequence[float], width: float) -> list[int]:
    """Return how many dots below the middle of its row each dot stands: 0, if it covers none.

    Args:
        values: where dots stand across.
        width: of a dot, in the same unit; equal values never share a place, whatever it is.
    """
    levels: dict[int, int] = {}
    for at in np.argsort(values, kind="stable").tolist():
        near = {
            level for other, level in levels.items() if 0 <= values[at] - values[other] <= width
        }
        sides = ((number + 1) // 2 * (1 if number % 2 else -1) for number in count())
        levels[at] = next(level for level in sides if level not in near)
    return [levels[at] for at in range(len(values))]


def _named(system: str, scores: Sequence[float]) -> str:
    """Return what stands beside a row: the system, its number of seeds, and those without a dot."""
    broken = sum(not math.isfinite(score) for score in scores)
    seeds = f"{len(scores)} seed{'s' * (len(scores) != 1)}"
    return f"{wrapped(system)}\n{seeds}" + f", {broken} without a number" * bool(broken)


def _style_rows(ax: Axes, names: Sequence[str], filled: bool) -> None:
    """Name the rows, and draw lines to read values by; no values where there are no dots."""
    tidy(ax, 0.05, 0.0, lines=False)
    ax.grid(axis="x", color="0.9", linewidth=0.8)
    ax.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10]) if filled else NullLocator())
    ax.set_axisbelow(True)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)
    for label in ax.get_yticklabels():
        plain(label)
    ax.set_ylim(len(names) - 0.5, -0.5)
