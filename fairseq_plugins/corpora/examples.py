"""One example of an understanding task as in its file, before any processing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Example:
    """One sentence or pair of sentences with its gold label, if any.

    Args:
        id: the file's own index, or the running number from 0.
        texts: one or two raw sentences; given words are joined by single blanks.
        words: W words, if the file gives words (tagging).
        label: class, or score as written; None without gold.
        word_labels: W labels; None without gold.
        line: its first line in the file, from 1.
        values: layer that the file gives -> W values of the words.
        inner_labels: further levels of labels, for nested entities; W labels each.
        cells: the row of a table, by column, if kept.
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
