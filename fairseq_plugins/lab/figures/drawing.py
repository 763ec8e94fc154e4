"""Common parts of all figures: fonts, colours, and complete files.

Functions of this room return figures, which `save` writes. Figures need no display, and the same
input gives the same SVG.
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
from PIL import Image
from PIL.PngImagePlugin import PngImageFile, PngInfo

from ...errors import InputError
from ...files import replaced
from ...text_reading import check_characters

logger = logging.getLogger(__name__)

BLUE, RED = "#4477AA", "#EE6677"
COLORS = (BLUE, RED, "#228833", "#AA3377", "#CCBB44", "#66CCEE")  # for colour-blind readers too
MARKERS, LINES = "osD^vP", ("-", "--", ":", "-.")
GREY = "0.35"
SMALL = 8.0  # points
LETTER = 0.62 / 72  # width of an average letter of one point, inches
FONTS = ("Noto Sans CJK SC", "WenQuanYi Zen Hei", "Noto Sans Arabic", "Noto Sans Devanagari")
FORMATS = ("png", "svg")
DPI, PAGE = 200, 1400  # of a PNG: it is as wide as a page at least, so that letters are alike
SOURCE = "Source"  # key of what a figure was made from, in both formats


@contextmanager
def style() -> Iterator[None]:
    """Set fonts and a fixed salt for SVG ids inside a context; the caller's settings stay."""
    known = {font.name for font in font_manager.fontManager.ttflist}
    settings = {
        "font.family": ["DejaVu Sans", *(name for name in FONTS if name in known)],
        "axes.formatter.useoffset": False,  # whole numbers at ticks, no "+8.1e1" in a corner
        "svg.hashsalt": "fairseq_plugins",
        "svg.fonttype": "none",
    }
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        yield


def look(number: int) -> dict[str, Any]:
    """Return colour, marker and line style of a curve; 24 curves differ."""
    line = LINES[number // len(COLORS) % len(LINES)]
    color, marker = COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)]
    return {"color": color, "marker": marker, "linestyle": line}


_BREAKS = re.compile(r"(\s+)|(?<=[_/=,;:+-])")  # after spaces and the separators of file names


class _Names(TextWrapper):
    """Breaks lines at `_BREAKS`."""

    wordsep_re = _BREAKS


def wrapped(text: str, most: int = 32) -> str:
    """Return a text broken into lines of limited length."""
    return "\n".join(_Names(max(most, 1)).wrap(text))


def plain(*texts: Text) -> None:
    """Draw texts literally: a dollar sign in a subword starts no formula."""
    for text in texts:
        text.set_parse_math(False)


def figure_of(drawn: Artist) -> Figure:
    return cast(Figure, drawn.get_figure())


def note(figure: Figure, *sentences: str) -> None:
    """Write small sentences below a figure."""
    if sentences:
        text = wrapped("; ".join(sentences), int(16.5 * figure.get_figwidth()))
        plain(figure.supxlabel(text, fontsize=SMALL, color=GREY, x=0.5))


def legend_above(figure: Figure, axes: Axes) -> None:
    """Draw the legend above the figure, which grows, so that no curve is covered."""
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
    """Leave margins around the data; draw no frame at the top and right.

    Args:
        ax: the axes.
        x, y: margins, as shares of the range of the data.
        lines: axis with grid lines; empty for none.
    """
    if lines:
        ax.grid(axis=cast(Any, lines), color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
    ax.margins(x=x, y=y)
    ax.spines[["top", "right"]].set_visible(False)


def check_stem(out_stem: str | Path, *more: str) -> Path:
    """Return a figure's file name without suffix, after making its folder.

    Called before long work, to refuse early a figure that cannot be written.

    Args:
        out_stem: the name; a final ``.png`` or ``.svg`` is dropped.
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
def save(
    figure: Figure, out_stem: str | Path, kinds: Sequence[str] = FORMATS, made_of: str = ""
) -> list[Path]:
    """Write a figure as PNG and SVG, or one of them; all files appear, complete, or none.

    Args:
        out_stem: file name without suffix; ``.png`` and ``.svg`` are added.
        made_of: what the figure shows, kept in the files' metadata.

    Returns:
        The files written.
    """
    stem = check_stem(out_stem)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in kinds]
    with ExitStack() as stack:
        for path, kind in zip(paths, kinds):
            (_write_png if kind == "png" else _write_svg)(
                figure, stack.enter_context(replaced(path)), made_of
            )
    logger.info("wrote %s", ", ".join(map(str, paths)))
    return paths


@style()
def svg_of(figure: Figure) -> bytes:
    stream = BytesIO()
    _write_svg(figure, stream)
    return stream.getvalue()


def _write_svg(figure: Figure, place: Any, made_of: str = "") -> None:
    told: Any = {"Date": None, SOURCE: made_of or None}
    figure.savefig(place, format="svg", facecolor="white", bbox_inches="tight", metadata=told)


def _write_png(figure: Figure, place: Any, made_of: str = "") -> None:
    """Write a figure in the middle of a page's width, in 256 colours: a third of the bytes."""
    stream, told = BytesIO(), PngInfo()
    figure.savefig(stream, format="png", facecolor="white", bbox_inches="tight", dpi=DPI)
    stream.seek(0)
    drawn = PngImageFile(stream).convert("RGB")  # of any size, unlike Image.open
    whole = Image.new("RGB", (max(drawn.width, PAGE), drawn.height), "white")
    whole.paste(drawn, ((whole.width - drawn.width) // 2, 0))
    if made_of:
        told.add_text(SOURCE, made_of)
    colors = whole.quantize(256, Image.Quantize.MAXCOVERAGE)
    colors.save(place, "png", optimize=True, dpi=(DPI, DPI), pnginfo=told)
