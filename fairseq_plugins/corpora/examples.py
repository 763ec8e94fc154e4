"""One example of an understanding task as in its file, before any processing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Example:
    """One sentence or pair of sentences with its gold label, if any."""

    id: str  # the file's own index, or the running number from 0
    texts: tuple[str, ...]  # one or two raw sentences; given words are joined by single blanks
    words: tuple[str, ...] | None = None  # W words, if the file gives words (tagging)
    label: str | None = None  # class, or score as written; None without gold
    word_labels: tuple[str, ...] | None = None  # W labels; None without gold
    line: int = 0  # its first line in the file, from 1
    # layer that the file gives -> W values of the words
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # further levels of labels, for nested entities; W labels each
    inner_labels: tuple[tuple[str, ...], ...] = ()
    cells: Mapping[str, Any] = field(default_factory=dict)  # the row of a table, by column, if kept
