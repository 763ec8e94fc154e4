"""A sentence as a model reads it, and what several models make of it, above a figure.

Columns of subwords with the values of features below and dependency arcs above; then each
translation, with the words marked that a reference lacks.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...evaluation.contrast import MISS, mark_words
from ...syntax.tree import Arc
from .arcs import draw_arcs
from .drawing import DPI, GREY, LETTER, RED, plain, style

FONT, ROW, GAP = 11.0, 0.25, 0.16  # points of words; inches of a row, and between kinds of rows
NARROWEST, WIDEST = 0.6, 12.0  # inches of a column, of all columns
MIDDLE = 0.26 / 72  # inches from the baseline to the middle of a line of one point
NAME = 24  # most characters of a system
LONGEST = 60  # least characters at which a translation goes on in the next row
Parts = list[tuple[str, bool]]  # parts of a row, and whether the reference lacks them


@dataclass(frozen=True)
class ReadSentence:
    """A sentence with what a model reads of it, and its translations."""

    tokens: Sequence[str]  # S subwords
    layers: Mapping[str, Sequence[str]]  # feature -> S values
    arcs: Sequence[Arc] = ()  # each from a dependent to its head
    relations: Sequence[str] = ()  # of the arcs
    translations: Sequence[tuple[str, str]] = ()  # systems with their translations
    reader: str = ""  # system that reads the layers
    reference: str = ""

    def meanings(self) -> list[str]:
        """Return what the marks mean, for the note below a figure."""
        said = {
            f"grey rows: read by {self.reader}": self.layers,
            "arcs: from each head to its dependents, by the annotator": self.arcs,
            "red: not in the reference": self.reference,
        }
        return [text for text, is_there in said.items() if is_there]


@style()
def add_sentence(figure: Figure, read: ReadSentence) -> None:
    """Draw a sentence above a figure, its left side on that of the figure."""
    figure.set_dpi(DPI)  # at another, letters have other widths than in the PNG
    told = [("reference", read.reference)] if read.reference else []
    names = [name for name, _ in (*read.translations, *told)] + [*read.layers]
    left = 0.2 + FONT * LETTER * min(NAME, max(map(len, names), default=0))  # inches
    cell = _column(read)[0] * len(read.tokens)
    longest = max(LONGEST, int(cell / (FONT * LETTER)))
    rows = [
        *(row for one in read.translations for row in _rows(*one, read.reference, longest)),
        *(row for one in told for row in _rows(*one, "", longest)),
    ]
    width, height = figure.get_size_inches()
    low = 2 * GAP + ROW * len(rows)  # inches from the figure to the columns
    for number, (name, parts) in enumerate(rows):
        y = 1 + (low - GAP - ROW * (number + 0.5) - FONT * MIDDLE) / height
        shown = name if len(name) <= NAME else f"{name[: NAME - 1]}…"
        plain(figure.text(0, y, shown, fontweight="bold", fontsize=FONT))
        _write(figure, left / width, y, parts)
    _draw_columns(figure, read, left, low)


def _column(read: ReadSentence) -> tuple[float, float]:
    """Return inches of a column, and the font of its labels."""
    labels = [*read.tokens, *(label for row in read.layers.values() for label in row)]
    wanted = max(NARROWEST, 0.1 + FONT * LETTER * max(map(len, labels)))
    cell = min(wanted, WIDEST / len(read.tokens))
    return cell, FONT * cell / wanted


def _draw_columns(figure: Figure, read: ReadSentence, left: float, low: float) -> None:
    """Draw subwords, layers and arcs ``low`` inches above the figure, names at their left."""
    (width, height), (cell, font) = figure.get_size_inches(), _column(read)
    count, rows = len(read.tokens), 1 + len(read.layers)
    place = (left / width, 1 + low / height, cell * count / width, ROW * rows / height)
    ax = figure.add_axes(place, label="sentence")
    ax.set(xlim=(0, count), ylim=(rows, 0))
    ax.set_axis_off()
    for number, (name, row) in enumerate([("", read.tokens), *read.layers.items()]):
        y = 1 + (low + ROW * (rows - number - 0.5) - FONT * MIDDLE) / height
        plain(figure.text(0, y, name, fontsize=FONT, color=GREY))
        look = {"color": GREY} if number else {"fontweight": "bold"}
        how: Any = {"ha": "center", "fontsize": font, **look}
        foot = number + 0.5 + font * MIDDLE / ROW
        plain(*(ax.text(i + 0.5, foot, one, **how) for i, one in enumerate(row)))
    draw_arcs(ax, 0.04, cell, read.arcs, read.relations)


def _rows(name: str, text: str, reference: str, longest: int) -> list[tuple[str, Parts]]:
    """Cut a text into rows, the first with its name, and its rows into marked and other parts."""
    rows, left = [(name, Parts())], longest
    for part, mark in mark_words(text, "", reference) if reference else [(text, "")]:
        for word in re.findall(r"\s*\S+|\s+", part):
            if len(word) > left and rows[-1][1]:
                rows.append(("", Parts()))
                left, word = longest, word.lstrip()
            rows[-1][1].append((word, mark == MISS))
            left -= len(word)
    return rows


def _write(figure: Figure, x: float, y: float, parts: Parts) -> None:
    """Write the parts of a row on one baseline; marked ones are red and underlined."""
    whole, below = "", 0.05 / figure.get_figheight()
    for part, is_marked in parts:
        whole, shown = whole + part, part.strip()
        end = x + _width(figure, whole)
        begin = end - _width(figure, shown)
        color = RED if is_marked else "black"
        plain(figure.text(begin, y, shown, fontsize=FONT, color=color))
        if is_marked:
            line = Line2D([begin, end], [y - below] * 2, color=RED, transform=figure.transFigure)
            figure.add_artist(line)


def _width(figure: Figure, text: str) -> float:
    """Return the width of a text, as a share of the figure's."""
    drawn = figure.text(0, 0, text, fontsize=FONT)
    plain(drawn)
    width = drawn.get_window_extent().width / figure.bbox.width
    drawn.remove()
    return width
