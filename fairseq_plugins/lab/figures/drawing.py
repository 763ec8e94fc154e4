"""What all figures share: fonts, colours, and files that are complete or absent.

A function of this room returns a figure, which `save` writes. Figures are drawn without a display,
and the same input gives the same SVG.
"""

import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from textwrap import TextWrapper
from typing import Any, cast

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from ...errors import InputError
from ...files import replaced
from ...text_reading import check_characters

logger = logging.getLogger(__name__)

BLUE, RED = "#4477AA", "#EE6677"
COLORS = (BLUE, RED, "#228833", "#AA3377", "#CCBB44", "#66CCEE")  # safe for all eyes
MARKERS, LINES = "osD^vP", ("-", "--", ":", "-.")
GREY = "0.35"
SMALL = 8.0  # points
LETTER = 0.62 / 72  # width of an average letter of one point, inches
FONTS = ("Noto Sans CJK SC", "WenQuanYi Zen Hei", "Noto Sans Arabic", "Noto Sans Devanagari")
KINDS = {"png": {"dpi": 200}, "svg": {"metadata": {"Date": None}}}
FORMATS = tuple(KINDS)


@contextmanager
def style() -> Iterator[None]:
    """Set fonts and a fixed salt for SVG ids, leaving the caller's settings alone."""
    known = {font.name for font in font_manager.fontManager.ttflist}
    settings = {
        "font.family": ["DejaVu Sans", *(name for name in FONTS if name in known)],
        "axes.formatter.useoffset": False,  # whole numbers at ticks, no "+8.1e1" elsewhere
        "svg.hashsalt": "fairseq_plugins",
        "svg.fonttype": "none",
    }
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        yield


def look(number: int) -> dict[str, Any]:
    """Return colour, marker and line of a curve; no two of 24 look alike."""
    line = LINES[number // len(COLORS) % len(LINES)]
    color, marker = COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)]
    return {"color": color, "marker": marker, "linestyle": line}


_BREAKS = re.compile(r"(\s+)|(?<=[_/=,;:+-])")  # behind spaces and the marks of file names


class _Names(TextWrapper):
    """Breaks lines where `_BREAKS` says."""

    wordsep_re = _BREAKS


def wrapped(text: str, most: int = 32) -> str:
    """Return a whole text in lines of at most so many characters."""
    return "\n".join(_Names(max(most, 1)).wrap(text))


def plain(*texts: Text) -> None:
    """Draw texts as they are: a dollar sign in a subword is no formula."""
    for text in texts:
        text.set_parse_math(False)


def figure_of(drawn: Artist) -> Figure:
    """Return the figure that something is drawn in."""
    return cast(Figure, drawn.get_figure())


def note(figure: Figure, *sentences: str) -> None:
    """Say below a figure, small, what its marks mean; nothing without sentences."""
    if sentences:
        text = wrapped("; ".join(sentences), int(16.5 * figure.get_figwidth()))
        plain(figure.supxlabel(text, fontsize=SMALL, color=GREY, x=0.5))


def legend_above(figure: Figure, axes: Axes) -> None:
    """Draw the legend of axes above the figure, which grows by it; it covers no curve."""
    handles, labels = axes.get_legend_handles_labels()
    labels = list(map(wrapped, labels))
    longest = max(len(line) for label in labels for line in label.split("\n"))
    columns = int(figure.get_figwidth() / (0.6 + 10 * LETTER * longest))
    how: Any = {"loc": "outside upper left", "ncols": max(1, columns), "frameon": False}
    legend = figure.legend(handles, labels, **how)
    plain(*legend.get_texts())
    height = legend.get_window_extent().height / figure.dpi
    figure.set_figheight(figure.get_figheight() + height)


def tidy(ax: Axes, x: float, y: float, lines: str = "y") -> None:
    """Leave room around the data, draw no frame above and at the right.

    Args:
        ax: what is drawn on.
        x, y: room, as shares of the range of the data.
        lines: from which axis lines go out to read values by; empty for none.
    """
    if lines:
        ax.grid(axis=cast(Any, lines), color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
    ax.margins(x=x, y=y)
    ax.spines[["top", "right"]].set_visible(False)


def check_stem(out_stem: str | Path, *more: str) -> Path:
    """Return a figure's file name without suffix, after making its folder.

    Called before long work, so that a figure that cannot be written is refused at once.

    Args:
        out_stem: the name; ``.png`` or ``.svg`` at its end is dropped.
        more: suffixes of further files of the figure.
    """
    check_characters(str(out_stem), "--output")
    stem = Path(out_stem)
    if not stem.name or str(out_stem).endswith(("/", os.sep)):
        raise InputError(f"{str(out_stem)!r} names no figure: give a file name without suffix")
    if stem.suffix in (".png", ".svg"):
        stem = stem.with_suffix("")
    stem.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(stem.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{stem.parent}: no permission to write there")
    for kind in (*FORMATS, *more):
        if (path := stem.with_name(f"{stem.name}.{kind}")).is_dir():
            raise InputError(f"{path} is a folder, not a file to write")
    return stem


@style()
def save(figure: Figure, out_stem: str | Path, kinds: Sequence[str] = FORMATS) -> list[Path]:
    """Write a figure as PNG and SVG, or one of them: all appear, complete, or none.

    Args:
        figure: what was drawn.
        out_stem: file name without suffix; ``.png`` and ``.svg`` are added.
        kinds: of files.

    Returns:
        The files written.
    """
    stem = check_stem(out_stem)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in kinds]
    with ExitStack() as stack:
        for path, kind in zip(paths, kinds):
            _write(figure, stack.enter_context(replaced(path)), kind)
    logger.info("wrote %s", ", ".join(map(str, paths)))
    return paths


@style()
def svg_of(figure: Figure) -> bytes:
    """Return a figure as SVG."""
    stream = BytesIO()
    _write(figure, stream, "svg")
    return stream.getvalue()


def _write(figure: Figure, place: Any, kind: str) -> None:
    options: dict[str, Any] = {"facecolor": "white", "bbox_inches": "tight", **KINDS[kind]}
    figure.savefig(place, format=kind, **options)
