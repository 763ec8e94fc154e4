"""Predicted classes against true ones, and their probabilities against the share of right answers.

``plot_confusion`` draws a matrix for each system; ``plot_reliability`` is Guo et al. 2017,
"On Calibration of Modern Neural Networks", Figure 1, with all systems on one pair of axes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...targets.calibration import Bin, calibration_error
from .drawing import GREY, SMALL, legend_above, look, note, plain, style, tidy, wrapped

_CELL, _ROOM = 0.5, 1.6  # inches of a cell, and of labels
_MOST = 12.0  # inches of a matrix
_WRITTEN = 30  # classes whose counts are written into the cells
_LONGEST = 24  # characters of a class


@style()
def plot_confusion(systems: Mapping[str, np.ndarray], labels: Sequence[str]) -> Figure:
    """Draw how often each true class is predicted as each class.

    Args:
        systems: name -> counts, true classes down, predicted ones across, (C, C).
        labels: C classes.
    """
    side = min(_MOST, _CELL * len(labels))
    size = ((side + _ROOM) * len(systems), side + _ROOM)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, len(systems), squeeze=False, sharey=True)[0]
    shown = [one if len(one) <= _LONGEST else f"{one[: _LONGEST - 1]}…" for one in labels]
    for ax, (name, counts) in zip(axes, systems.items()):
        shares = counts / np.maximum(1, counts.sum(1, keepdims=True))
        ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
        ax.set_xticks(range(len(labels)), shown, rotation=90)
        ax.set_yticks(range(len(labels)), shown)
        ax.tick_params(length=0)
        ax.set_xlabel("predicted")
        ax.spines[:].set_visible(False)
        plain(*ax.get_xticklabels(), *ax.get_yticklabels(), ax.set_title(wrapped(name, 24)))
        for (row, column), count in np.ndenumerate(counts if len(labels) <= _WRITTEN else []):
            color = "white" if shares[row, column] > 0.6 else "black"
            how: Any = {"ha": "center", "va": "center", "fontsize": SMALL, "color": color}
            ax.text(column, row, f"{int(count):,}", **how)
    axes[0].set_ylabel("true")
    note(figure, "shade: share of the true class")
    return figure


@style()
def plot_reliability(systems: Mapping[str, Sequence[Bin]]) -> Figure:
    """Draw the share of right answers against their probability: system -> filled bins."""
    figure = Figure(figsize=(4.4, 4.0), layout="constrained")
    ax = figure.subplots()
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":", label="as probable as right")
    for number, (name, bins) in enumerate(systems.items()):
        told = f"{name} (ECE {100 * calibration_error(bins):.1f} %)"
        points = [one.confidence for one in bins], [one.accuracy for one in bins]
        ax.plot(*points, linewidth=1.6, markersize=5, label=told, **look(number))
    ax.set(xlabel="probability of the predicted class", ylabel="share of right answers")
    tidy(ax, 0.03, 0.03, lines="both")
    legend_above(figure, ax)
    return figure
