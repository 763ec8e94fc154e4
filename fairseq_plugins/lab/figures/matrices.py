"""Matrices of attention: cells with labels, beside and below each other, on one colour scale."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from .drawing import SMALL, figure_of, plain, wrapped

MAX_LABEL = 32  # characters
LETTER = 0.62 / 72  # width of an average letter of one point, inches
GAP = 0.15  # inches between matrices with what stands around them
BAR = (0.12, 2.5)  # width and greatest height of the bar of colours, inches
LEAST_SCALE = 1.0  # inches of its height


def checked(
    weights: Any, rows: Sequence[str], columns: Sequence[str], what: str, sides: Sequence[str]
) -> np.ndarray:
    """Return attention of labelled rows over labelled columns as floats.

    Args:
        weights, rows, columns: the attention and its labels.
        what: it is called in errors.
        sides: what rows and columns are.

    Raises:
        ValueError: nothing, or what does not fit its labels, is negative or not finite.
    """
    matrix = np.asarray(weights, dtype=float)
    if matrix.shape != (len(rows), len(columns)) or not matrix.size:
        fit = f"{len(rows)} {sides[0]} and {len(columns)} {sides[1]}, at least one each"
        raise ValueError(f"{what}: weights of shape {matrix.shape} do not fit {fit}")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError(f"{what}: weights must be finite and not negative")
    return matrix


def shorten(label: str) -> str:
    """Bound a label's length and keep it on one line."""
    label = " ".join(label.split()) or "\u2423"
    return label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "\u2026"


def draw_matrix(
    ax: Axes,
    matrix: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    shades: tuple[float, float],
    font: float,
    border: float,
) -> Any:
    """Draw weights as cells, with labels above and to the left; ``shades``: see `colour_range`."""
    look = {"cmap": "Blues", "edgecolors": "0.9", "linewidth": border}
    image = ax.pcolormesh(matrix, vmin=shades[0], vmax=shades[1], **look)
    ax.set_xlim(0, len(columns))
    ax.set_ylim(len(rows), 0)
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(len(columns)) + 0.5, [shorten(label) for label in columns], rotation=90)
    ax.set_yticks(np.arange(len(rows)) + 0.5, [shorten(label) for label in rows])
    ax.tick_params(length=0, pad=2, labelsize=font)
    for label in [*ax.get_xticklabels(), *ax.get_yticklabels()]:
        plain(label)
    ax.spines[:].set_visible(False)
    return image


def arrange(axes: Sequence[Axes], cell: float, widest: float) -> None:
    """Place matrices from left to right, and below each other where a row would be too wide.

    Cells are squares; what stands around a matrix (labels, title, arcs) covers no other. The figure
    takes the size that they need.

    Args:
        axes: of one figure, drawn.
        cell: side of a cell, inches.
        widest: most inches of a row of several.
    """
    rows: list[list[tuple[Axes, np.ndarray, np.ndarray]]] = [[]]
    used = 0.0
    for ax in axes:
        size, around = _room(ax, cell)
        width = around[0] + size[0] + around[2] + GAP
        if rows[-1] and used + width > widest:
            rows.append([])
            used = 0.0
        rows[-1].append((ax, size, around))
        used += width
    places, right, down = {}, 0.0, 0.0
    for row in rows:
        down += max(around[3] for *_, around in row)
        across = 0.0
        for ax, size, around in row:
            places[ax] = (across + around[0], down, *size)
            across += around[0] + size[0] + around[2] + GAP
        right = max(right, across)
        down += max(size[1] + around[1] for _, size, around in row) + GAP
    figure_of(axes[0]).set_size_inches(right, down)
    for ax, (x, y, width, height) in places.items():
        ax.set_position((x / right, 1 - (y + height) / down, width / right, height / down))


def _room(ax: Axes, cell: float) -> tuple[np.ndarray, np.ndarray]:
    """Return width and height of a matrix, and what it needs left, below, right, above; inches."""
    figure, limits = figure_of(ax), (ax.get_xlim(), ax.get_ylim())
    size = cell * np.abs(np.diff(limits)).ravel()
    ax.set_position((0, 0, *size / figure.get_size_inches()))
    inner, outer = ax.get_window_extent(), ax.get_tightbbox() or Bbox.null()
    return size, np.abs(np.subtract(outer.extents, inner.extents)) / figure.dpi


def finish(figure: Figure, image: Any, notes: Sequence[str], title: str = "") -> None:
    """Draw the bar of colours beside the first row of arranged matrices, and texts above and below.

    Args:
        figure: with arranged matrices.
        image: that `draw_matrix` returned.
        notes: below the figure; a scale that does not begin at 0 is told of as well.
        title: above it.
    """
    width, height = figure.get_size_inches()
    first = figure.axes[0].get_position()
    tall = min(BAR[1], max(LEAST_SCALE, first.height * height))
    place = (1.0, first.y1 - tall / height, BAR[0] / width, tall / height)
    bar = figure.colorbar(image, cax=figure.add_axes(place))
    bar.set_label("attention weight", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    outline: Any = bar.outline
    outline.set_visible(False)
    least = image.get_clim()[0]
    notes = [*notes, *[f"the scale begins at {least:.2g}, not at 0"] * bool(least)]
    room = max(width, 4.0)  # of texts, inches
    if title:
        about = wrapped(title, int(15 * room))
        plain(figure.text(0, 1 + 0.05 / height, about, fontsize=9.0, va="bottom"))
    if notes:
        about = wrapped("; ".join(notes), int(16.5 * room))
        plain(figure.text(0, -0.02 / height, about, fontsize=SMALL, color="0.35", va="top"))
