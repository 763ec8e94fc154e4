"""Dependency arcs above columns of words, each with its relation."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Curve
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from ...syntax.tree import Arc, arc_levels
from .drawing import GREY, LETTER, SMALL, figure_of, plain

PLAIN_STEP, NAMED_STEP = 0.11, 0.19  # inches by which an arc rises above the arcs inside
NAME: dict[str, Any] = {  # look of a relation
    "ha": "center",
    "va": "center",
    "fontsize": SMALL,
    "color": GREY,
    "zorder": 3,
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.4},
}


def draw_arcs(
    ax: Axes, foot: float, cell: float, arcs: Sequence[Arc], relations: Sequence[str] = ()
) -> float:
    """Draw arcs above columns, each with an arrow head at the dependent and its relation.

    Args:
        ax: the axes, whose column i reaches from i to i + 1.
        foot: inches from the top of the axes to the arcs.
        cell: inches of a column.
        arcs: each from a dependent's column to its head's.
        relations: label of each arc, may be empty.

    Returns:
        Height above the axes, inches.
    """
    if not arcs:
        return foot
    one_up = ScaledTranslation(0, 1, ax.transAxes)  # pyrefly: ignore[bad-argument-type]
    above = figure_of(ax).dpi_scale_trans + one_up  # inches above the axes
    look = {"transform": blended_transform_factory(ax.transData, above), "clip_on": False}
    named = relations or [""] * len(arcs)
    widths = [len(relation) * SMALL * LETTER / cell for relation in named]  # columns
    step = NAMED_STEP if any(named) else PLAIN_STEP
    levels = arc_levels(arcs, widths if any(named) else ())
    for (dependent, head), level, relation in zip(arcs, levels, named):
        ends = (head + 0.5, dependent + 0.5)
        top = foot + step * (level + 0.5)
        peak = foot + (top - foot) / 0.75  # a Bezier curve rises to 3/4 of its handles
        points = [(ends[0], foot), (ends[0], peak), (ends[1], peak), (ends[1], foot)]
        curve = Curve(points, [Curve.MOVETO, *[Curve.CURVE4] * 3])
        ax.add_patch(PathPatch(curve, fill=False, edgecolor=GREY, linewidth=0.8, **look))
        ax.plot([ends[1]], [foot], marker="v", markersize=3, color=GREY, **look)
        if relation:
            plain(ax.text(sum(ends) / 2, top, relation, **NAME, **look))
    return foot + step * (max(levels) + 0.5) + (SMALL / 144 if any(named) else 0)
