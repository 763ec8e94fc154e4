"""What the page shows of a sentence or an answer, as HTML whose texts are all escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation.shades import colour_range
from ..evaluation.shown_text import straight
from ..evaluation.templates import render as fill_in
from ..messages import shortened
from ..syntax.tree import arc_levels
from .sentences import Reading

PAGE = Path(__file__).parent / "page"
LONGEST = 24  # characters of a word in a drawing
MOST = 80  # rows and columns of a map: more are slow on a phone, and nobody reads them
LETTER, SPACE, STEP, ASIDE = 8, 22, 20, 4  # pixels


@dataclass(frozen=True)
class Map:
    """Weights of rows over columns, to be shown as cells.

    Args:
        title: what they are.
        rows, columns: their labels, as many as are shown.
        cells: how dark they are, from 0 to 1, of each row; see `colour_range`.
        weights: the same as percentages.
        borders: a line stands before this row and this column; 0 for none.
        marked: first and last column that are marked; None for none.
        hidden: what is not shown, in words.
        turned: whether columns look at rows.
        top: the largest weight, as a percentage.
        low: what the lightest cells stand for, as a percentage.
    """

    title: str
    rows: list[str]
    columns: list[str]
    cells: list[list[float]]
    weights: list[list[float]]
    borders: tuple[int, int] = (0, 0)
    marked: tuple[int, int] | None = None
    hidden: str = ""
    turned: bool = False
    top: float = 0.0
    low: float = 0.0


@dataclass(frozen=True)
class Arcs:
    """Arcs above a line of words, in pixels.

    Args:
        width: of the drawing.
        foot: where the arcs end.
        words: centre, word and tag of each.
        arcs: for each where its head and its dependent stand, its height, and its relation.
        roots: centres of the words without a head.
    """

    width: float
    foot: float
    words: list[tuple[float, str, str]]
    arcs: list[tuple[float, float, float, str]]
    roots: list[float]


def render(name: str, **values: Any) -> str:
    """Fill in a file of ``page/``."""
    return fill_in(name, PAGE, **values)


def as_map(
    title: str,
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    marked: tuple[int, int] | None = None,
    **more: Any,
) -> Map:
    """Cut a map to what is shown: its beginning, or the columns around those that are marked.

    Args:
        title: of it.
        weights: (T, S), not negative.
        rows, columns: T and S labels.
        marked: first and last column of a mark.
        more: ``borders`` and ``turned`` of a `Map`.
    """
    T, S = weights.shape
    first = 0 if marked is None else max(0, min(sum(marked) // 2 - MOST // 2, S - MOST))
    shown = np.asarray(weights, dtype=float)[:MOST, first : first + MOST]
    low, top = colour_range([shown]) if shown.size else (0.0, 1.0)
    last = min(S, first + MOST)
    hidden = f"{min(T, MOST)} of {T} rows and columns {first + 1} to {last} of {S} are shown"
    return Map(
        title,
        *(list(map(_short, side)) for side in (rows[:MOST], columns[first:last])),
        cells=((shown - low) / (top - low)).round(3).tolist(),
        weights=(100 * shown).round(1).tolist(),
        top=round(100 * top, 1),
        low=round(100 * low, 1),
        hidden=hidden if max(T, S) > MOST else "",
        marked=marked and (marked[0] - first, marked[1] - first),
        **more,
    )


def _short(text: str) -> str:
    return shortened(straight(text), LONGEST)


def straight_lines(text: str) -> str:
    """Return a text whose lines are left, and nothing in them turned round."""
    return "\n".join(map(straight, text.splitlines())) + ("\n" if text.endswith("\n") else "")


def arcs(reading: Reading) -> Arcs | None:
    """Lay the dependency arcs of a sentence out, tags below its words; nothing without a parse."""
    if not reading.heads:
        return None
    words = list(map(_short, reading.cut.words))
    tags, labels = (side or [""] * len(words) for side in (reading.tags, reading.relations))
    pairs = [(word, head - 1) for word, head in enumerate(reading.heads) if head]
    widths = [SPACE + LETTER * max(len(word), len(tag)) for word, tag in zip(words, tags)]
    for word, head in pairs:
        if abs(word - head) == 1:  # the relation has to fit in between
            room = SPACE + LETTER * len(labels[word])
            widths[word], widths[head] = max(room, widths[word]), max(room, widths[head])
    ends = [*accumulate(widths)]
    centres = [end - width / 2 for end, width in zip(ends, widths)]
    levels = arc_levels(pairs)
    foot = STEP * (max(levels, default=0) + 1)
    drawn: list[tuple[float, float, float, str]] = []
    for (word, head), level in zip(pairs, levels):
        side = ASIDE if head < word else -ASIDE  # arcs of a head stand beside each other
        drawn.append((centres[head] + side, centres[word], foot - STEP * level, labels[word]))
    roots = [centre for centre, head in zip(centres, reading.heads) if not head]
    return Arcs(ends[-1], foot, list(zip(centres, words, tags)), drawn, roots)
