"""Attention matrices side by side, as PNG and SVG. Nothing here opens a checkpoint.

Two papers' figures are of this form: Sundararaman et al. 2019, Figure 3 (attention of each target
subword over the source subwords), and Li et al. 2020, "Improving BERT with Syntax-aware Local
Attention", Figure 3 (attention of each token over its sentence; dependency arcs stand above the
columns, and rectangles mark where the second system looks more than the first).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Curve
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from ...syntax.tree import Arc, arc_levels
from .drawing import RED, checked, colour_range, draw_matrix, note, plain, save, style

CELL = 0.25  # inches; shrinks for long sentences
LONGEST_SIDE = 11.0  # inches of matrix
MAX_LABEL = 28  # characters
ARC_STEP = 0.11  # inches by which an arc rises above those within it
RELATION_STEP = 0.16  # likewise, where relations stand at arcs
RELATION_FONT = 5.5  # points
LABEL_GAP = 0.05  # inches between matrix and labels
ARC_GAP = 0.08  # inches between labels and arcs
ARC_COLOR = BORDER_COLOR = "0.35"
TRANSLATION = ("target subwords", "source subwords")


@dataclass(frozen=True)
class AttentionPanel:
    """One matrix of the figure.

    Attributes:
        title: for instance the system's name.
        weights: (T, S) attention of each row over the columns.
        rows: T labels, for instance target subwords.
        columns: S labels, for instance source subwords.
        arcs: drawn above the columns, each from a dependent to its head.
        marked: cells (row, column) with a rectangle around them.
        border: number of the second sentence's first row and column, of a text that attends to
            itself; 0 draws no line.
        relations: what stands at each arc, may be empty; nothing at any arc if there are none.
    """

    title: str
    weights: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]
    arcs: Sequence[Arc] = ()
    marked: Sequence[tuple[int, int]] = ()
    border: int = 0
    relations: Sequence[str] = ()

    @property
    def arc_step(self) -> float:
        """Inches by which an arc rises above those within it."""
        return RELATION_STEP if any(self.relations) else ARC_STEP


def plot_attention(
    panels: Sequence[AttentionPanel],
    out_stem: str | Path,
    *,
    sides: tuple[str, str] = TRANSLATION,
) -> list[Path]:
    """Draw attention matrices side by side on one colour scale.

    Args:
        panels: at least one; they may differ in size.
        out_stem: names the files that are returned; see `drawing.save`.
        sides: what rows and columns are.

    Raises:
        ValueError: no panels, weights that do not fit their labels, are negative or not finite, or
            an arc or mark beyond the matrix.
    """
    matrices = [_checked(panel, sides) for panel in panels]
    if not matrices:
        raise ValueError("no attention panels to draw")
    shades = colour_range(matrices)
    cell, font, size = _measures(panels)
    with style():
        figure = Figure(figsize=size, layout="constrained")
        widths = [len(panel.columns) for panel in panels]
        axes = figure.subplots(1, len(panels), squeeze=False, width_ratios=widths)[0]
        for panel, matrix, ax in zip(panels, matrices, axes):
            labels = (list(map(_shorten, side)) for side in (panel.rows, panel.columns))
            image = draw_matrix(ax, matrix, *labels, shades=shades, font=font, border=cell * 2)
            ax.set_xlim(0, len(panel.columns))
            ax.set_anchor("N")
            for row, column in panel.marked:
                look = {"fill": False, "edgecolor": RED, "linewidth": cell * 6}
                ax.add_patch(Rectangle((column, row), 1, 1, **look))
            for line in (ax.axhline, ax.axvline) if panel.border else ():
                line(panel.border, color=BORDER_COLOR, linewidth=1.2)
            ax.set_ylabel(sides[0])
            pad = 8 + 72 * _draw_arcs(ax, panel)  # points
            plain(ax.set_title(panel.title, y=1.0, pad=pad, fontweight="bold"))
        level = {"anchor": (0.0, 0.8), "panchor": False}  # with the top of the matrices
        bar = figure.colorbar(image, ax=list(axes), shrink=0.5, aspect=25, pad=0.015, **level)
        bar.set_label("attention weight")
        bar.outline.set_visible(False)
        note(figure, *_notes(panels))
        return save(figure, out_stem)


def _checked(panel: AttentionPanel, sides: tuple[str, str]) -> np.ndarray:
    """Return the weights as (T, S) floats, refusing what cannot be drawn."""
    what, (T, S) = f"panel {panel.title!r}", (len(panel.rows), len(panel.columns))
    matrix = checked(panel.weights, panel.rows, panel.columns, what, sides)
    for arc in panel.arcs:
        if not all(0 <= end <= S - 1 for end in arc):
            raise ValueError(f"{what}: arc {arc} leads beyond {S} columns")
    if len(panel.relations) not in (0, len(panel.arcs)):
        raise ValueError(f"{what}: {len(panel.relations)} relations at {len(panel.arcs)} arcs")
    for row, column in panel.marked:
        if not (0 <= row < T and 0 <= column < S):
            raise ValueError(f"{what}: no cell {(row, column)} in {T} x {S}")
    return matrix


def _notes(panels: Sequence[AttentionPanel]) -> list[str]:
    """Return what arcs and rectangles mean, where there are any."""
    notes = []
    if any(panel.arcs for panel in panels):
        notes.append("arcs: from each head to its dependents")
    if any(panel.border for panel in panels):
        notes.append("line: between both sentences")
    if any(panel.marked for panel in panels):
        notes.append(f"red: where attention grows most against {panels[0].title}")
    return notes


def _measures(panels: Sequence[AttentionPanel]) -> tuple[float, float, tuple[float, float]]:
    """Return side of a cell (inches), label size (points) and (width, height) of the figure."""
    wide = sum(len(panel.columns) for panel in panels)
    high = max(len(panel.rows) for panel in panels)
    cell = min(CELL, LONGEST_SIDE * len(panels) / wide, LONGEST_SIDE / high)
    font = max(3.5, min(11.0, cell * 72 * 0.6))
    letter = font / 72 * 0.62  # width of an average letter, inches
    row_labels = [letter * max(map(len, map(_shorten, panel.rows))) for panel in panels]
    column_label = letter * max(len(_shorten(label)) for p in panels for label in p.columns)
    arcs = max(panel.arc_step * max(arc_levels(panel.arcs), default=0) for panel in panels)
    width = cell * wide + sum(row_labels) + 0.35 * len(panels) + 1.2
    height = cell * high + column_label + arcs + 1.2
    return cell, font, (max(width, 3.5), max(height, 2.2))


def _shorten(label: str) -> str:
    """Bound a label's length and keep it on one line."""
    label = " ".join(label.split()) or "\u2423"
    return label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "\u2026"


def _draw_arcs(ax: Axes, panel: AttentionPanel) -> float:
    """Draw arcs above the column labels, an arrow head at each dependent; may be none.

    The relation, where it is known, stands on the top of its arc.

    Returns:
        How far labels and arcs rise above the matrix, inches.
    """
    tallest = max(label.get_window_extent().height for label in ax.get_xticklabels())
    label = tallest / ax.get_figure().dpi + LABEL_GAP
    arcs, step = panel.arcs, panel.arc_step
    if not arcs:
        return label
    # columns across, inches above the matrix upwards
    above = ax.get_figure().dpi_scale_trans + ScaledTranslation(0, 1, ax.transAxes)
    where = blended_transform_factory(ax.transData, above)
    foot, levels = label + ARC_GAP, arc_levels(arcs)
    named = panel.relations or [""] * len(arcs)
    for (dependent, head), level, relation in zip(arcs, levels, named):
        ends = (head + 0.5, dependent + 0.5)
        top = foot + step * (level + 0.5)
        peak = foot + (top - foot) / 0.75  # a Bezier curve rises to 3/4 of its handles
        points = [(ends[0], foot), (ends[0], peak), (ends[1], peak), (ends[1], foot)]
        curve = Curve(points, [Curve.MOVETO, *[Curve.CURVE4] * 3])
        look = {"transform": where, "clip_on": False}
        ax.add_patch(PathPatch(curve, fill=False, edgecolor=ARC_COLOR, linewidth=0.8, **look))
        ax.plot([ends[1]], [foot], marker="v", markersize=3, color=ARC_COLOR, **look)
        if relation:
            how = {"ha": "center", "va": "center", "fontsize": RELATION_FONT, "zorder": 3}
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
            plain(ax.text(sum(ends) / 2, top, relation, bbox=box, color=ARC_COLOR, **how, **look))
    return foot + step * (max(levels) + 0.5) + (RELATION_FONT / 144 if any(named) else 0)
