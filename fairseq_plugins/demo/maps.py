"""Maps of weights, cut to what a page shows, and the page's templates, which escape all texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation.shades import colour_range
from ..evaluation.shown_text import straight
from ..evaluation.templates import render as fill_in
from ..messages import shortened

PAGE = Path(__file__).parent / "page"
LONGEST = 24  # characters of a word in a drawing
MOST = 80  # rows and columns of a map: more are slow on a phone, and nobody reads them


def render(name: str, **values: Any) -> str:
    """Fill in a file of ``page/``."""
    return fill_in(name, PAGE, **values)


def short(text: str) -> str:
    """Return a word as it fits into a drawing."""
    return shortened(straight(text), LONGEST)


def as_map(
    title: str,
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    marked: tuple[int, int] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Cut a map to what is shown: its beginning, or the columns around those that are marked.

    Args:
        title: of it.
        weights: (T, S), not negative.
        rows, columns: T and S labels.
        marked: first and last column of a mark.
        more: ``turned``, whether columns look at rows; ``border``, the row and column that a line
            stands before.
    """
    T, S = weights.shape
    first = 0 if marked is None else max(0, min(sum(marked) // 2 - MOST // 2, S - MOST))
    shown = np.asarray(weights, dtype=float)[:MOST, first : first + MOST]
    low, top = colour_range([shown]) if shown.size else (0.0, 1.0)
    last = min(S, first + MOST)
    hidden = f"{min(T, MOST)} of {T} rows and columns {first + 1} to {last} of {S} are shown"
    return {
        "title": title,
        "rows": [short(name) for name in rows[:MOST]],
        "columns": [short(name) for name in columns[first:last]],
        "cells": ((shown - low) / (top - low)).round(3).tolist(),  # how dark, from 0 to 1
        "weights": (100 * shown).round(1).tolist(),
        "top": round(100 * top, 1),
        "low": round(100 * low, 1),
        "hidden": hidden if max(T, S) > MOST else "",
        "marked": marked and (marked[0] - first, marked[1] - first),
        "border": 0,
        "turned": False,
        **more,
    }
