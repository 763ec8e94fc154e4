"""Attention matrices beside each other, as PNG and SVG. Nothing here opens a checkpoint.

Two papers' figures are of this form: Sundararaman et al. 2019, Figure 3 (attention of each target
subword over the source subwords), and Li et al. 2020, "Improving BERT with Syntax-aware Local
Attention", Figure 3 (attention of each token over its sentence; dependency arcs stand above the
columns, and rectangles mark where the second system looks more than the first).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Curve
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from ...evaluation.shades import colour_range
from ...syntax.tree import Arc, arc_levels
from .drawing import RED, figure_of, plain, save, style, wrapped
from .matrices import LETTER, arrange, checked, draw_matrix, finish

CELL = 0.25  # inches; shrinks for long sentences, grows for single words
LONGEST_SIDE, SHORTEST_SIDE = 11.0, 1.2  # inches of the largest matrix
WIDEST = 16.0  # inches of matrices side by side
TITLE_ROOM = 1.2  # inches by which a line of a title may be wider than its matrix
ARC_STEP = 0.11  # inches by which an arc rises above those within it
RELATION_STEP = 0.17  # likewise, where relations stand at arcs
RELATION_FONT = 6.5  # points
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
    about: str = "",
) -> list[Path]:
    """Draw attention matrices on one colour scale, side by side where there is room.

    Args:
        panels: at least one; they may differ in size.
        out_stem: names the files that are returned; see `drawing.save`.
        sides: what rows and columns are.
        about: what attention it is, in words below the figure.

    Raises:
        ValueError: no panels, weights that do not fit their labels, are negative or not finite, or
            an arc or mark beyond the matrix.
    """
    matrices = [_checked(panel, sides) for panel in panels]
    if not matrices:
        raise ValueError("no attention panels to draw")
    cell, shades = _cell(panels), colour_range(matrices)
    with style():
        figure = Figure()
        axes = [figure.add_axes((0, 0, 1, 1), label=str(k)) for k in range(len(panels))]
        for panel, matrix, ax in zip(panels, matrices, axes):
            image = _draw_panel(ax, panel, matrix, cell, shades)
            ax.set_ylabel(sides[0])
            ax.set_xlabel(sides[1])
        arrange(axes, cell, WIDEST)
        finish(figure, image, [about] * bool(about) + _notes(panels))
        return save(figure, out_stem)


def _draw_panel(
    ax: Axes, panel: AttentionPanel, matrix: np.ndarray, cell: float, shades: tuple[float, float]
) -> Any:
    """Draw one matrix with its marks, its arcs and its title."""
    font = max(3.5, min(11.0, cell * 72 * 0.6))
    how = {"shades": shades, "font": font, "border": min(cell, CELL) * 2}
    image = draw_matrix(ax, matrix, panel.rows, panel.columns, **how)
    for row, column in panel.marked:
        frame = {
            "fill": False,
            "edgecolor": RED,
            "linewidth": min(cell, CELL) * 6,
            "clip_on": False,
        }
        ax.add_patch(Rectangle((column, row), 1, 1, **frame))
    for line in (ax.axhline, ax.axvline) if panel.border else ():
        line(panel.border, color=BORDER_COLOR, linewidth=1.2)
    pad = 8 + 72 * _draw_arcs(ax, panel, cell)  # points
    wide = cell * len(panel.columns) + TITLE_ROOM
    title = wrapped(panel.title, int(wide / (12 * 1.15 * LETTER)))
    plain(ax.set_title(title, y=1.0, pad=pad, fontweight="bold"))
    return image


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


def _cell(panels: Sequence[AttentionPanel]) -> float:
    """Return the side of a cell, inches."""
    longest = max(max(len(panel.rows), len(panel.columns)) for panel in panels)
    return max(min(CELL, LONGEST_SIDE / longest), SHORTEST_SIDE / longest)


def _draw_arcs(ax: Axes, panel: AttentionPanel, cell: float) -> float:
    """Draw arcs above the column labels, an arrow head at each dependent; may be none.

    The relation, where it is known, stands on the top of its arc.

    Returns:
        How far labels and arcs rise above the matrix, inches.
    """
    tallest = max(label.get_window_extent().height for label in ax.get_xticklabels())
    label = tallest / figure_of(ax).dpi + LABEL_GAP
    arcs, step = panel.arcs, panel.arc_step
    if not arcs:
        return label
    # columns across, inches above the matrix upwards
    one_up = ScaledTranslation(0, 1, ax.transAxes)  # pyrefly: ignore[bad-argument-type]
    above = figure_of(ax).dpi_scale_trans + one_up
    where = blended_transform_factory(ax.transData, above)
    named = panel.relations or [""] * len(arcs)
    widths = [len(relation) * RELATION_FONT * LETTER / cell for relation in named]  # columns
    foot, levels = label + ARC_GAP, arc_levels(arcs, widths if any(named) else ())
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
