"""One example of an understanding task as its file gives it, before any processing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Example:
    """One sentence or pair of sentences with its gold label, if there is one.

    Args:
        id: the file's own index, or the running number from 0.
        texts: one or two raw sentences; given words are joined by single blanks.
        words: W words, when the file gives words (tagging).
        label: class, or score as written; None without gold.
        word_labels: W labels; None without gold.
        line: line of the file it starts at, from 1.
        values: W values of the words in layers that the file gives, by the layer's name.
        inner_labels: further levels of labels, for entities within others; W labels each.
        cells: the row of a table, by column, where all of it is kept.
    """

    id: str
    texts: tuple[str, ...]
    words: tuple[str, ...] | None = None
    label: str | None = None
    word_labels: tuple[str, ...] | None = None
    line: int = 0
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inner_labels: tuple[tuple[str, ...], ...] = ()
    cells: Mapping[str, Any] = field(default_factory=dict)
