"""Curves: one line per system with the mean of its seeds and their range.

``plot_curves`` draws Sundararaman et al. 2019, Table 1 (BLEU against the share of the training
data); ``plot_gates`` Li et al. 2020, "Improving BERT with Syntax-aware Local Attention", Figure 2
(gate values by layer); ``plot_learning`` the validations of a training log.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
    StrMethodFormatter,
)

from ...errors import InputError
from .drawing import legend_above, look, note, plain, style, tidy, wrapped
from .seeds import half_interval

Points = Mapping[float, Sequence[float]]  # x -> one value per seed
Curves = Mapping[str, Points]  # system -> its points
_MARKED = 25  # longest curve with marked points
_GATES = "dataset system layer mean min max runs tokens values".split()
_SEEDS = "line: mean of the seeds; dots: each seed; band: their range"
_BARS = "bar: 95 % interval (t)"
_APART = 0.12  # of the axis: shares at least this far from each other are all named


@style()
def plot_curves(curves: Curves, metric: str = "BLEU") -> Figure:
    """Draw a score against the share of training data, in (0, 1], on a logarithmic axis."""
    figure, (ax,) = _figure(5.6, 3.5)
    _draw(ax, curves)
    ax.set_xscale("log")
    shares = sorted({*chain(*curves.values())})
    gaps = np.diff(np.log(shares))
    apart = bool(np.all(gaps >= _APART * np.sum(gaps)))
    ax.xaxis.set_major_locator(FixedLocator(shares) if apart else LogLocator(10, (1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set(xlabel="share of the training data (logarithmic)", ylabel=metric)
    tidy(ax, 0.07, 0.08)
    several = False
    for number, points in enumerate(curves.values()):
        for share, values in points.items():
            if len(values) > 2:
                how: Any = {"fmt": "none", "color": look(number)["color"], "capsize": 3}
                ax.errorbar(share, np.mean(values), half_interval(values), linewidth=1.2, **how)
                several = True
    _finish(figure, ax, *[_BARS] * several)
    return figure


@style()
def plot_gates(panels: Mapping[str, Curves]) -> Figure:
    """Draw the mean gate of every layer, one panel per dataset.

    A gate is the share of a token's attention that is local.

    Args:
        panels: dataset -> system -> layer, from 0 -> mean gate of each run, in [0, 1].
    """
    figure, axes = _figure(1.2 + 3.6 * len(panels), 3.3, len(panels))
    systems = list(dict.fromkeys(chain(*panels.values())))
    for ax, (dataset, curves) in zip(axes, panels.items()):
        _draw(ax, curves, systems)
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
        ax.set_xlabel("layer")
        tidy(ax, 0.06, 0.12)
        plain(ax.set_title(wrapped(dataset)))
    axes[0].set_ylabel("gate value (share of local attention)")
    _finish(figure, max(axes, key=lambda ax: len(ax.lines)))
    return figure


def gates_table(
    panels: Mapping[str, Curves], tokens: Mapping[tuple[str, str], int]
) -> pd.DataFrame:
    """Return the numbers of a figure of gates; the last column joins the runs' values by blanks."""
    rows = []
    for dataset, system in ((one, system) for one in panels for system in panels[one]):
        for layer, gates in sorted(panels[dataset][system].items()):
            numbers = (np.mean(gates), min(gates), max(gates), len(gates), tokens[dataset, system])
            own = " ".join(f"{gate:.6f}" for gate in gates)
            rows.append((dataset, system, layer, *numbers, own))
    return pd.DataFrame(rows, columns=_GATES)


@style()
def plot_learning(curves: Curves, label: str) -> Figure:
    """Draw a value against updates: system -> updates -> values of its seeds."""
    figure, (ax,) = _figure(4.8, 3.1)
    _draw(ax, curves)
    ax.set_xlabel("updates")
    plain(ax.yaxis.label)
    ax.set_ylabel(label)
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    tidy(ax, 0.03, 0.08)
    _finish(figure, ax)
    return figure


def _figure(width: float, height: float, panels: int = 1) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, [*figure.subplots(1, panels, squeeze=False, sharey=True)[0]]


def _draw(ax: Axes, curves: Curves, systems: Sequence[str] = ()) -> None:
    """Draw curves; the look of a system follows from its place in ``systems``."""
    if not curves:
        raise InputError("no curves to draw")
    systems, shade = systems or list(curves), 0.18 if len(curves) <= 3 else 0.08
    marked = max(map(len, curves.values())) <= _MARKED
    for system, points in curves.items():
        looks = look(systems.index(system)) | ({} if marked else {"marker": ""})
        x, color = sorted(points), looks["color"]
        if any(len(values) > 1 for values in points.values()):
            low, high = ([side(points[one]) for one in x] for side in (min, max))
            ax.fill_between(x, low, high, color=color, alpha=shade, linewidth=0)
            dots = [(one, value) for one in x for value in points[one] if marked]
            ax.scatter(*zip(*dots or [([], [])]), s=9, color=color, alpha=0.5, linewidth=0)
        means = [float(np.mean(points[one])) for one in x]
        ax.plot(x, means, linewidth=1.6, label=system, markersize=5, **looks)


def _finish(figure: Figure, ax: Axes, *more: str) -> None:
    """Draw the legend above a figure and the meaning of its marks below."""
    legend_above(figure, ax)
    note(figure, *[_SEEDS] * any(one.collections for one in figure.axes), *more)
