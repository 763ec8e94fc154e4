"""What every reader shares: what is read, which rows can be used, and what a gold label is.

A row that cannot be used raises `Unusable`, which names file and line. It ends the reading, unless
the options or the dataset's own rules pass over rows of its kind; those are counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ...messages import named, quoted
from ...text_reading import is_cell, numbered_lines
from ..examples import Example
from .labels import Respelled, known_label
from .options import ReadOptions

Line = tuple[int, str]  # number from 1, text without its end
Row = TypeVar("Row")

EMPTY = "empty sentences"
MALFORMED = "malformed rows"
NO_MAJORITY = "no majority label"
UNLABELLED = "without gold among labelled"


class Unusable(ValueError):
    """A row that is no example.

    Args:
        kind: `EMPTY`, `MALFORMED` or `NO_MAJORITY`.
        message: one sentence with file and line.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Reading:
    """One file read as one split.

    Args:
        path: the file.
        split: name of the split; all but ``test…`` and ``ax…`` must have labels.
        options: of the user.
        target: ``classes``, ``score`` or ``word_labels``.
        labels: closed set, or empty when any label goes.
        dropped: counts of rows passed over, by reason; grows while reading.
        respelled: counts of labels that stand for others; grows while reading.
    """

    path: Path
    split: str
    options: ReadOptions
    target: str
    labels: tuple[str, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter, compare=False)
    respelled: Respelled = field(default_factory=Counter, compare=False)

    @property
    def must_have_labels(self) -> bool:
        """Whether a row without a label is an error."""
        return not self.split.startswith(("test", "ax"))

    def lines(self) -> Iterator[Line]:
        """Yield the file's numbered lines; they end at ``\\n`` alone, a byte order mark is gone."""
        return numbered_lines(self.path)

    def malformed(self, number: int, text: str) -> Unusable:
        """Return the error of a row that has not the form of its file."""
        header = number == 1 and self.options.no_header
        hint = "; if line 1 names the columns, leave out --no-header" if header else ""
        return Unusable(MALFORMED, f"{self.path}:{number}: {text}{hint}")

    def label(self, text: str, number: int) -> str | None:
        """Return a label as it is called, or a score as written; None where none is written.

        Raises:
            Unusable: no label, an unknown one, one that no line or column could hold, or a score
                that is no finite number.
        """
        if not text:
            if self.must_have_labels:
                raise self.malformed(number, f"no label, which split {self.split!r} must have")
            return None
        if self.target == "score":
            return self._score(text, number)
        if not is_cell(text) or (self.target == "word_labels" and text.split() != [text]):
            what = f"label {quoted(text)} holds a tab, a line break or a blank"
            raise self.malformed(number, what)
        known = known_label(text, self.labels) if self.labels else text
        if known is None:
            what = f"unknown label {quoted(text)}; choices are {named(self.labels)}"
            raise self.malformed(number, what)
        if known != text:
            self.respelled[text, known] += 1
        return known

    def _score(self, text: str, number: int) -> str:
        try:
            finite = math.isfinite(float(text)) and "_" not in text
        except ValueError:
            finite = False
        if not finite:
            raise self.malformed(number, f"score {quoted(text)} is no finite number")
        return text

    def text(self, text: str, number: int, name: str = "sentence") -> str:
        """Refuse an empty sentence.

        Raises:
            Unusable: nothing but blanks.
        """
        if not text.strip():
            raise Unusable(EMPTY, f"{self.path}:{number}: empty {name}")
        return text

    def passed_over(self) -> frozenset[str]:
        """Return the kinds of unusable rows that do not end the reading."""
        kinds = {NO_MAJORITY}
        if self.options.on_empty == "skip":
            kinds.add(EMPTY)
        if self.options.on_bad_row == "skip":
            kinds.add(MALFORMED)
        return frozenset(kinds)


def usable(
    rows: Iterable[Row],
    make: Callable[[Row], Example | None],
    reading: Reading,
    also: Iterable[str] = (),
) -> Iterator[Example]:
    """Yield the example of each row, and count the rows that are none.

    Args:
        rows: raw rows.
        make: row to example; None for a row of another split.
        reading: whose policy and counts.
        also: further kinds to pass over.
    """
    kinds = reading.passed_over() | set(also)
    for row in rows:
        try:
            example = make(row)
        except Unusable as error:
            if error.kind not in kinds:
                raise
            reading.dropped[error.kind] += 1
            continue
        if example is not None:
            yield example


def blocks(lines: Iterable[Line], ends: Sequence[str] = ()) -> Iterator[list[Line]]:
    """Group lines into runs between blank ones (a lone tab is blank, too).

    Args:
        lines: numbered lines.
        ends: lines that begin like one of these separate runs, too.
    """
    block: list[Line] = []
    for number, line in lines:
        if line.strip() and not line.startswith(tuple(ends)):
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def tagged(
    words: Sequence[str], labels: Sequence[str] | None, identifier: str, number: int
) -> Example:
    """Make the example of given words."""
    given = None if labels is None else tuple(labels)
    return Example(identifier, (" ".join(words),), tuple(words), None, given, number)
