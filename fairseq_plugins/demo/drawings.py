"""What the page shows of a sentence or an answer, as HTML whose texts are all escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from ..evaluation.shown_text import straight
from ..evaluation.templates import render as fill_in
from ..messages import shortened
from .sentences import Reading

PAGE = Path(__file__).parent / "page"
LONGEST = 24  # characters of a word in a drawing
MOST = 80  # rows and columns of a map: more are slow on a phone, and nobody reads them
LETTER, BETWEEN = 8, 20  # pixels


@dataclass(frozen=True)
class Map:
    """Weights of rows over columns, to be shown as cells.

    Args:
        title: what they are.
        rows, columns: their labels, as many as are shown.
        cells: share of the largest weight, of each row.
        weights: the same as percentages.
        borders: a line stands before this row and this column; 0 for none.
        marked: first and last column that are marked; None for none.
        hidden: what is not shown, in words.
    """

    title: str
    rows: list[str]
    columns: list[str]
    cells: list[list[float]]
    weights: list[list[float]]
    borders: tuple[int, int] = (0, 0)
    marked: tuple[int, int] | None = None
    hidden: str = ""


def render(name: str, **values: Any) -> str:
    """Fill in a file of ``page/``."""
    return fill_in(name, PAGE, **values)


def as_map(
    title: str, weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], **more: Any
) -> Map:
    """Cut a map to what is shown.

    Args:
        title: of it.
        weights: (T, S), not negative.
        rows, columns: T and S labels.
        more: ``borders`` and ``marked`` of a `Map`.
    """
    T, S = weights.shape
    shown = np.asarray(weights, dtype=float)[:MOST, :MOST]
    top = shown.max(initial=0.0) or 1.0
    hidden = f"the first {MOST} rows and columns of {T} x {S} are shown" if max(T, S) > MOST else ""
    return Map(
        title,
        *([shortened(straight(text), LONGEST) for text in side[:MOST]] for side in (rows, columns)),
        cells=(shown / top).round(3).tolist(),
        weights=(100 * shown).round(1).tolist(),
        hidden=hidden,
        **more,
    )


def arcs(reading: Reading) -> Markup:
    """Draw the dependency arcs of a sentence, tags below its words; nothing without a parse."""
    from spacy import displacy

    if not reading.heads:
        return Markup()
    words = [shortened(straight(word), LONGEST) for word in reading.cut.words]
    labels = reading.relations or [""] * len(words)
    drawn = {
        "words": [
            {"text": word, "tag": str(escape(tag))}  # spaCy escapes words alone
            for word, tag in zip(words, reading.tags or [""] * len(words))
        ],
        "arcs": [
            {
                "start": min(word, head - 1),
                "end": max(word, head - 1),
                "label": str(escape(labels[word])),
                "dir": "left" if word < head - 1 else "right",
            }
            for word, head in enumerate(reading.heads)
            if head
        ],
    }
    look = {"bg": "transparent", "color": "currentColor", "font": "inherit", "word_spacing": 30}
    look["distance"] = BETWEEN + LETTER * max(map(len, (*words, *labels, *reading.tags)))
    how = {"style": "dep", "manual": True, "jupyter": False, "options": look}
    return Markup(displacy.render([drawn], **how))
