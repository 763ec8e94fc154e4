"""Attention matrices side by side, on one colour scale.

The figures of three papers have this form: Sundararaman et al. 2019, Figure 3 (attention of each
target subword over the source subwords); Li et al. 2020, "Improving BERT with Syntax-aware Local
Attention", Figure 3 (attention of each token over its sentence; dependency arcs above the columns,
rectangles where the second system attends more than the first); Chadha and Sood 2019, Figure 4
(attention between a question and its context, here cut into strips).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox

from ...errors import InputError
from ...evaluation.shades import colour_range
from ...syntax.tree import Arc
from .arcs import draw_arcs
from .drawing import GREY, LETTER, RED, SMALL, figure_of, plain, style, wrapped

TRANSLATION = ("target subwords", "source subwords")  # names of rows and columns
ITSELF = ("attending tokens", "attended tokens")
MAX_LABEL = 32  # characters
CELL = 0.25  # inches; smaller for long sentences, larger for single words
LONGEST_SIDE, SHORTEST_SIDE = 11.0, 1.2  # inches of the largest matrix
WIDEST = 16.0  # inches of matrices side by side
GAP = 0.15  # inches between matrices with their labels
TITLE_ROOM = 1.2  # inches by which a title may be wider than its matrix
ARC_GAP = 0.08  # inches between labels and arcs
BAR = (0.12, 1.0, 2.5)  # colour bar: width, smallest and largest height, inches


@dataclass(frozen=True)
class AttentionPanel:
    """One matrix of a figure."""

    title: str  # for instance the system's name
    weights: np.ndarray  # (T, S) attention of each row over the columns
    rows: Sequence[str]  # T labels, for instance target subwords
    columns: Sequence[str]  # S labels, for instance source subwords
    arcs: Sequence[Arc] = ()  # drawn above the columns, each from a dependent to its head
    relations: Sequence[str] = ()  # label of each arc, may be empty
    framed: Sequence[tuple[int, int, int, int]] = ()  # first row and column, height and width
    is_dashed: bool = False  # whether frames have dashed lines
    border: int = 0  # first row and column of a second sentence; 0 for none


@style()
def plot_attention(
    panels: Sequence[AttentionPanel],
    sides: tuple[str, str] = TRANSLATION,
    *,
    title: str = "",
    notes: Sequence[str] = (),
    widest: float = WIDEST,
) -> Figure:
    """Draw attention matrices, side by side if there is room.

    Args:
        panels: at least one; sizes may differ.
        sides: names of rows and columns.
        notes: below the figure, for instance the kind of attention.
        widest: most inches of matrices side by side.
    """
    if not panels:
        raise InputError("no attention panels to draw")
    matrices = [_checked(panel, sides) for panel in panels]
    longest = max(max(matrix.shape) for matrix in matrices)
    cell = max(min(CELL, LONGEST_SIDE / longest), SHORTEST_SIDE / longest)
    figure, image, shades = Figure(), None, colour_range(matrices)
    for number, (panel, matrix) in enumerate(zip(panels, matrices)):
        ax = figure.add_axes((0, 0, 1, 1), label=str(number))
        image = _draw_panel(ax, panel, matrix, cell, shades)
        ax.set(ylabel=sides[0], xlabel=sides[1])
    size = _arrange(figure, cell, widest)
    _finish(figure, image, size, title, "; ".join([*notes, *_meanings(panels, shades[0])]))
    return figure


def plot_coattention(
    weights: np.ndarray,
    question: Sequence[str],
    context: Sequence[str],
    sides: tuple[str, str],
    *,
    span: tuple[int, int] | None = None,
    chosen: bool = True,
    title: str = "",
    about: str = "",
    strip: int = 48,
) -> Figure:
    """Draw an attention map, question down and context across, cut into strips.

    Args:
        weights: (Q, C).
        question, context: Q and C labels.
        sides: roles of question and context, for instance ``question (attending)``.
        span: first and last column of the best span, which gets a frame.
        chosen: whether the span is the answer; else the frame is dashed.
        title, about: texts above and below the figure.
        strip: most columns of a strip.
    """
    panels = []
    for start in range(0, len(context), strip):
        part, (first, last) = context[start : start + strip], span or (0, -1)
        first, end = max(first - start, 0), min(last + 1 - start, len(part))
        framed = [(0, first, len(question), end - first)] if first < end else []
        shown: dict[str, Any] = {"framed": framed, "is_dashed": not chosen}
        cut = weights[:, start : start + strip]
        panels.append(AttentionPanel("", cut, question, part, **shown))
    return plot_attention(panels, sides, title=title, notes=[about] * bool(about), widest=0)


def _checked(panel: AttentionPanel, sides: tuple[str, str]) -> np.ndarray:
    """Return the weights as (T, S) floats; refuse unusable weights."""
    matrix, what = np.asarray(panel.weights, dtype=float), f"panel {panel.title!r}: weights"
    fit = f"{len(panel.rows)} {sides[0]} and {len(panel.columns)} {sides[1]}"
    if matrix.shape != (len(panel.rows), len(panel.columns)) or not matrix.size:
        raise InputError(f"{what} of shape {matrix.shape} do not fit {fit}, at least one each")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise InputError(f"{what} must be finite and not negative")
    return matrix


def _shorten(label: str) -> str:
    label = " ".join(label.split()) or "\u2423"
    return label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "\u2026"


def _draw_panel(
    ax: Axes, panel: AttentionPanel, matrix: np.ndarray, cell: float, shades: tuple[float, float]
) -> Any:
    (T, S), line = matrix.shape, min(cell, CELL) * 2
    look = {"cmap": "Blues", "edgecolors": "0.9", "linewidth": line}
    image = ax.pcolormesh(matrix, vmin=shades[0], vmax=shades[1], **look)
    ax.set(xlim=(0, S), ylim=(T, 0))
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(S) + 0.5, list(map(_shorten, panel.columns)), rotation=90)
    ax.set_yticks(np.arange(T) + 0.5, list(map(_shorten, panel.rows)))
    ax.tick_params(length=0, pad=2, labelsize=max(3.5, min(11.0, cell * 72 * 0.6)))
    plain(*ax.get_xticklabels(), *ax.get_yticklabels())
    ax.spines[:].set_visible(False)
    _draw_frames(ax, panel, min(cell, CELL))
    labels = (label.get_window_extent().height for label in ax.get_xticklabels())
    foot = max(labels) / figure_of(ax).dpi + ARC_GAP
    pad = 8 + 72 * draw_arcs(ax, foot, cell, panel.arcs, panel.relations)  # points
    title = wrapped(panel.title, int((cell * S + TITLE_ROOM) / (12 * 1.15 * LETTER)))
    plain(ax.set_title(title, y=1.0, pad=pad, fontweight="bold"))
    return image


def _draw_frames(ax: Axes, panel: AttentionPanel, cell: float) -> None:
    """Draw the rectangles, and the lines between two sentences."""
    line = "--" if panel.is_dashed else "-"
    look = {"fill": False, "edgecolor": RED, "linewidth": cell * 6, "linestyle": line}
    for row, column, height, width in panel.framed:
        ax.add_patch(Rectangle((column, row), width, height, clip_on=False, **look))
    for draw in (ax.axhline, ax.axvline) if panel.border else ():
        draw(panel.border, color=GREY, linewidth=1.2)


def _arrange(figure: Figure, cell: float, widest: float) -> tuple[float, float]:
    """Place matrices in rows without overlap of their labels and titles.

    Returns:
        Width and height of all matrices, inches.
    """
    rooms: list[Any] = [(ax, *_room(ax, cell)) for ax in figure.axes]
    across = max(left + width + right for _, width, _, left, _, right, _ in rooms) + GAP
    many, down, unit = max(1, int(widest / across)), 0.0, figure.get_size_inches()
    for first in range(0, len(rooms), many):
        row = rooms[first : first + many]
        down += max(above for *_, above in row)
        for place, (ax, width, height, left, *_) in enumerate(row):
            corner = np.array([across * place + left, unit[1] - down - height])
            ax.set_position((*corner / unit, *(width, height) / unit))
        down += max(height + below for _, _, height, _, below, _, _ in row) + GAP
    return across * min(many, len(rooms)), down


def _room(ax: Axes, cell: float) -> list[float]:
    """Return inches of a matrix: width, height, and room at the left, below, right, above."""
    figure, limits = figure_of(ax), (ax.get_xlim(), ax.get_ylim())
    size = cell * np.abs(np.diff(limits)).ravel()
    ax.set_position((0, 0, *size / figure.get_size_inches()))
    inner, outer = ax.get_window_extent(), ax.get_tightbbox() or Bbox.null()
    return [*size, *np.abs(np.subtract(outer.extents, inner.extents)) / figure.dpi]


def _finish(figure: Figure, image: Any, size: Sequence[float], title: str, about: str) -> None:
    """Draw the colour bar beside the first row of matrices, and the texts above and below."""
    (width, height), first = figure.get_size_inches(), figure.axes[0].get_position()
    tall = min(BAR[2], max(BAR[1], first.height * height))
    place = (size[0] / width, first.y1 - tall / height, BAR[0] / width, tall / height)
    bar = figure.colorbar(image, cax=figure.add_axes(place))
    bar.set_label("attention weight", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)  # pyrefly: ignore[not-callable]
    room = max(size[0], 4.0)  # of texts, inches
    plain(figure.text(0, 1 + 0.05 / height, wrapped(title, int(15 * room)), fontsize=9.0))
    about, low = wrapped(about, int(16.5 * room)), 1 - (size[1] + 0.02) / height
    plain(figure.text(0, low, about, fontsize=SMALL, color=GREY, va="top"))


def _meanings(panels: Sequence[AttentionPanel], least: float) -> list[str]:
    """Return the meaning of arcs, lines, rectangles and an unusual scale that the panels have."""
    said = {
        f"the scale begins at {least:.2g}, not at 0": bool(least),
        "arcs: from each head to its dependents": any(panel.arcs for panel in panels),
        "line: between both sentences": any(panel.border for panel in panels),
        f"red: where attention grows most against {panels[0].title}": panels[0].title
        and any(panel.framed for panel in panels),
    }
    return [text for text, is_there in said.items() if is_there]
