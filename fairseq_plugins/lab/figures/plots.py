"""Curves, as PNG and SVG. Nothing here opens a log or a checkpoint.

``plot_curves`` draws Sundararaman et al. 2019, Table 1 (BLEU against the share of the training
data); ``plot_gates`` Li et al. 2020, "Improving BERT with Syntax-aware Local Attention", Figure 2
(gate values in different layers); ``plot_learning`` what a training log says.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ..results.tables import to_csv
from .drawing import (
    BLUE,
    COLORS,
    LINES,
    RED,
    SMALL,
    legend_above,
    look,
    note,
    plain,
    save,
    style,
    thin_out,
    tidy,
    wrapped,
)

Curves = Mapping[str, Mapping[float, Sequence[float]]]  # system -> place across -> its seeds

_Named = tuple[str, Mapping[float, Sequence[float]]]  # system, fraction -> scores
_MARKED = 25  # longest curve whose points are marked
_GATES = "dataset system layer mean min max runs tokens values".split()
_PAPER = {"wla": BLUE, "sla": RED}  # Figure 2's colours


def plot_curves(curves: Curves, out_stem: str | Path, *, metric: str = "BLEU") -> list[Path]:
    """Draw a score against the share of training data, one line a system, logarithmic in data.

    Args:
        curves: system -> share, in (0, 1] -> scores of its seeds, drawn as mean and range.
        out_stem: names the files that are returned; see `drawing.save`.
        metric: label of the vertical axis.

    Raises:
        ValueError: no curves, a share outside (0, 1] or a score that is not finite.
    """
    if not curves:
        raise ValueError("no curves to draw")
    for system, share, scores in ((s, *one) for s in curves for one in curves[s].items()):
        if not 0 < share <= 1 or not all(map(math.isfinite, scores)):
            wrong = f"{share}, {scores}"
            raise ValueError(f"{system}: share must be in (0, 1] and scores finite: {wrong}")
    with style():
        figure = Figure(figsize=(5.6, 3.5), layout="constrained")
        ax = figure.subplots()
        for k, (system, points) in enumerate(curves.items()):
            _draw_line(ax, system, points, look(k))
        _style_curves(ax, sorted({one for points in curves.values() for one in points}), metric)
        gaps = _label_gaps(ax, *curves.items()) if len(curves) == 2 else []
        legend_above(figure, ax)
        about = [f"numbers above: {' minus '.join(reversed(list(curves)))}"] if gaps else []
        note(figure, *about, *_notes(curves))
        thin_out(gaps)
        thin_out(ax.get_xticklabels())
        return save(figure, out_stem)


def _draw_line(
    ax: Axes,
    system: str,
    points: Mapping[float, Sequence[float]],
    looks: Mapping[str, Any],
    shade: float = 0.18,
) -> None:
    """Draw one system: the mean at each fraction, and the range where there are several scores."""
    x = sorted(points)
    means = [float(np.mean(points[fraction])) for fraction in x]
    if any(len(points[fraction]) > 1 for fraction in x):
        low, high = ([side(points[fraction]) for fraction in x] for side in (min, max))
        ax.fill_between(x, low, high, color=looks["color"], alpha=shade, linewidth=0)
        if looks["marker"]:
            seeds = [(fraction, score) for fraction in x for score in points[fraction]]
            ax.scatter(*zip(*seeds), s=9, color=looks["color"], alpha=0.5, linewidth=0)
    ax.plot(x, means, linewidth=1.6, label=system, markersize=5, **looks)


def _notes(*panels: Mapping[str, Mapping[float, Sequence[float]]]) -> list[str]:
    """Return what bands and dots mean, where a system has several seeds."""
    points = (points for curves in panels for points in curves.values())
    if any(len(scores) > 1 for one in points for scores in one.values()):
        return ["line: mean of the seeds; dots: each seed; band: their range"]
    return []


def _label_gaps(ax: Axes, first: _Named, second: _Named) -> list[Annotation]:
    """Write the difference of two systems at each shared fraction, above all that is drawn."""
    gaps = []
    for fraction in sorted(first[1].keys() & second[1].keys()):
        one, two = (float(np.mean(points[fraction])) for _, points in (first, second))
        where = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points"}
        how = {"xytext": (0, 3), "ha": "center", "fontsize": SMALL, "color": "0.35"}
        gaps.append(ax.annotate(f"{two - one:+.1f}", (fraction, 1.0), **where, **how))
    return gaps


def _style_curves(ax: Axes, fractions: Sequence[float], metric: str) -> None:
    """Set a logarithmic percent axis with one tick a fraction."""
    ax.set_xscale("log")
    ax.set_xticks(fractions, [f"{100 * fraction:g} %" for fraction in fractions])
    ax.minorticks_off()
    ax.set_xlabel("share of the training data (logarithmic)")
    ax.set_ylabel(metric)
    tidy(ax, 0.07, 0.14)
    if all(np.all(np.asarray(line.get_ydata()) >= 0) for line in ax.lines):
        ax.set_ylim(bottom=max(0.0, ax.get_ylim()[0]))


def plot_gates(panels: Mapping[str, Curves], out_stem: str | Path) -> list[Path]:
    """Draw the mean gate of every layer, one polyline a system, one panel a dataset.

    A gate is the share of a token's attention that is local. Several runs of one system (seeds) are
    drawn as their mean with their range. Systems named after ``wla`` and ``sla`` have the paper's
    colours, blue and red.

    Args:
        panels: dataset -> system -> layer, from 0 -> mean gate of each run, in [0, 1].
        out_stem: names the files that are returned; see `drawing.save`.

    Raises:
        ValueError: no gates, or one that is no number from 0 to 1.
    """
    systems = list(dict.fromkeys(system for _, system, *_ in _gates_of(panels)))
    looks = dict(zip(systems, _looks(systems)))
    with style():
        figure = Figure(figsize=(1.2 + 3.6 * len(panels), 3.3), layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for ax, (dataset, series) in zip(axes, panels.items()):
            for system, points in series.items():
                _draw_line(ax, system, points, looks[system])
            layers = sorted({layer for points in series.values() for layer in points})
            ax.set_xticks(layers, list(map(str, layers)))
            ax.set_xlabel("layer")
            tidy(ax, 0.06, 0.12)
            plain(ax.set_title(wrapped(dataset)))
        legend_above(figure, max(axes, key=lambda ax: len(ax.lines)))
        note(figure, *_notes(*panels.values()))
        axes[0].set_ylabel("gate value (share of local attention)")
        for ax in axes:
            thin_out(ax.get_xticklabels())
        return save(figure, out_stem)


def _gates_of(panels: Mapping[str, Curves]) -> Iterator[tuple[str, str, float, Sequence[float]]]:
    """Yield dataset, system, layer and gates, layer by layer; ValueError: see `plot_gates`."""
    if not panels:
        raise ValueError("no gate values")
    for dataset, series in panels.items():
        for system, layer in ((name, one) for name in series for one in sorted(series[name])):
            gates = series[system][layer]
            if not all(0 <= gate <= 1 for gate in gates):
                wrong = f"{gates} of {system!r} in layer {layer} on {dataset!r}"
                raise ValueError(f"a gate value must be from 0 to 1: {wrong}")
            yield dataset, system, layer, gates


def gates_csv(panels: Mapping[str, Curves], tokens: Mapping[tuple[str, str], int]) -> str:
    """Write the numbers of the figure as CSV, the runs' own values joined by blanks at the end.

    Args:
        panels: see `plot_gates`.
        tokens: dataset and system -> how many tokens the means are over.
    """
    rows = []
    for dataset, system, layer, gates in _gates_of(panels):
        numbers = (sum(gates) / len(gates), min(gates), max(gates), *gates)
        mean, low, high, *own = (f"{number:.6f}" for number in numbers)
        counts = (len(gates), tokens[dataset, system])
        rows.append((dataset, system, layer, mean, low, high, *counts, " ".join(own)))
    return to_csv(rows, _GATES)


def _looks(systems: Sequence[str]) -> list[dict[str, Any]]:
    """Return how each system is drawn: in the paper's colour where its name tells."""
    fixed = [
        next((color for name, color in _PAPER.items() if name in system.lower()), None)
        for system in systems
    ]
    fixed = [None if color in fixed[:i] else color for i, color in enumerate(fixed)]
    others = iter([color for color in COLORS if color not in fixed] * len(systems))
    colors = [color or next(others) for color in fixed]
    lines = (LINES[colors[:i].count(color) % len(LINES)] for i, color in enumerate(colors))
    own = zip(colors, lines)
    return [look(i) | {"color": color, "linestyle": line} for i, (color, line) in enumerate(own)]


def plot_learning(curves: Curves, out_stem: str | Path, *, label: str) -> Path:
    """Draw a value against updates, one line a system: the mean of its seeds with their range.

    Args:
        curves: system -> updates -> values of its seeds.
        out_stem: file name without suffix.
        label: of the vertical axis.

    Returns:
        The SVG file written.

    Raises:
        ValueError: no curves.
        OSError: the file cannot be written.
    """
    if not curves:
        raise ValueError("no curves to draw")
    longer = {system: points for system, points in curves.items() if len(points) > 1}
    left_out = [system for system in curves if longer and system not in longer]
    curves = longer or curves  # a single point shows no course
    most = max(map(len, curves.values()))
    with style():
        figure = Figure(figsize=(4.8, 3.1), layout="constrained")
        ax = figure.subplots()
        for k, (system, points) in enumerate(curves.items()):
            marked = {} if most <= _MARKED else {"marker": ""}
            _draw_line(ax, system, points, look(k) | marked, 0.18 if len(curves) <= 3 else 0.08)
        _style_learning(ax, label, {x for points in curves.values() for x in points})
        legend_above(figure, ax, fontsize=9)
        note(figure, *_notes(curves), *(f"not drawn, one point: {one}" for one in left_out))
        return save(figure, out_stem, ["svg"])[0]


def _style_learning(ax: Axes, label: str, updates: Collection[float]) -> None:
    """Set axes of updates and of a value."""
    ax.set_xlabel("updates")
    plain(ax.yaxis.label)
    ax.set_ylabel(label)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    if len(updates) > 1:
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    else:
        ax.set_xticks(list(updates))
    tidy(ax, 0.03, 0.08)
