"""What all figures share: fonts, colours, and files that are complete or absent.

Figures are drawn without a display, and the same input gives the same SVG.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from ...files import replaced

logger = logging.getLogger(__name__)

BLUE, RED = "#4477AA", "#EE6677"
COLORS = (BLUE, RED, "#228833", "#AA3377", "#CCBB44", "#66CCEE")  # safe for all eyes
MARKERS = "osD^vP"
FALLBACK_FONTS = (
    "Noto Sans CJK SC",
    "WenQuanYi Zen Hei",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
)
KINDS = {"png": {"dpi": 200}, "svg": {"metadata": {"Date": None}}}


def plain(text: Text) -> None:
    """Draw a text as it is: a dollar sign in a subword is no formula."""
    text.set_parse_math(False)


def legend(owner: Axes | Figure, **options: Any) -> None:
    """Draw a legend without a frame, its texts as they are."""
    for text in owner.legend(frameon=False, **options).get_texts():
        plain(text)


def note(figure: Figure, *sentences: str) -> None:
    """Say below a figure, small, what its marks mean; nothing without sentences."""
    if sentences:
        plain(figure.supxlabel("; ".join(sentences), fontsize=8.0, color="0.35", x=0.5))


def legend_above(figure: Figure, axes: Axes, columns: int = 3) -> None:
    """Draw the legend of axes above the figure, where it covers no curve."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        legend(figure, handles=handles, labels=labels, loc="outside upper left", ncols=columns)


def colour_range(matrices: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return what the lightest and the darkest colour stand for, one scale for all.

    From 0, but where all weights are alike (the least is above half of the greatest) from the
    least: differences would not be seen otherwise.
    """
    low, top = min(map(np.min, matrices)), max(map(np.max, matrices)) or 1.0
    return (float(low) if top / 2 < low < top else 0.0), float(top)


def tidy(ax: Axes, x: float, y: float, *, lines: bool = True) -> None:
    """Leave room around the data, draw no frame above and at the right.

    Args:
        ax: what is drawn on.
        x, y: room, as shares of the range of the data.
        lines: whether there are horizontal lines to read values by.
    """
    if lines:
        ax.grid(axis="y", color="0.9", linewidth=0.8)
    ax.margins(x=x, y=y)
    ax.spines[["top", "right"]].set_visible(False)


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
    ax.set_ylim(len(rows), 0)
    ax.set_aspect("equal")
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns, rotation=90)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
    ax.tick_params(length=0, pad=2, labelsize=font)
    for label in [*ax.get_xticklabels(), *ax.get_yticklabels()]:
        plain(label)
    ax.spines[:].set_visible(False)
    return image


@contextmanager
def style() -> Iterator[None]:
    """Set fonts and a fixed salt for SVG ids, leaving the caller's settings alone."""
    known = {font.name for font in font_manager.fontManager.ttflist}
    families = ["DejaVu Sans", *(name for name in FALLBACK_FONTS if name in known)]
    settings = {
        "font.family": families,
        "font.size": 10.0,
        "axes.titlesize": 12.0,
        "svg.hashsalt": "fairseq_plugins",
        "svg.fonttype": "none",
    }
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        yield


def check_stem(out_stem: str | Path, *more: str) -> Path:
    """Return a figure's file name without suffix, after making its folder.

    Called before long work, so that a figure that cannot be written is refused at once.

    Args:
        out_stem: the name; ``.png`` or ``.svg`` at its end is dropped.
        more: suffixes of further files of the figure.

    Raises:
        ValueError: no name, or a folder stands where the figure would.
        OSError: the folder cannot be made, or is closed to us.
    """
    stem = Path(out_stem)
    if not stem.name or str(out_stem).endswith(("/", os.sep)):
        raise ValueError(f"{str(out_stem)!r} names no figure: give a file name without suffix")
    if stem.suffix in (".png", ".svg"):
        stem = stem.with_suffix("")
    stem.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(stem.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{stem.parent}: no permission to write there")
    for kind in (*KINDS, *more):
        if (path := stem.with_name(f"{stem.name}.{kind}")).is_dir():
            raise ValueError(f"{path} is a folder, not a file to write")
    return stem


def save(figure: Figure, out_stem: str | Path, kinds: Sequence[str] = tuple(KINDS)) -> list[Path]:
    """Write a figure as PNG and SVG, or one of them: all appear, complete, or none.

    Args:
        figure: what was drawn.
        out_stem: file name without suffix; ``.png`` and ``.svg`` are added.
        kinds: of files.

    Returns:
        The files written.

    Raises:
        ValueError, OSError: see `check_stem`; or the files cannot be written.
    """
    stem = check_stem(out_stem)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in kinds]
    with ExitStack() as stack:
        for path, kind in zip(paths, kinds):
            options = {"facecolor": "white", "bbox_inches": "tight", **KINDS[kind]}
            figure.savefig(stack.enter_context(replaced(path)), format=kind, **options)
    logger.info("wrote %s", ", ".join(map(str, paths)))
    return paths
