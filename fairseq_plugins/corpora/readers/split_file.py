"""The common part of all readers: the file, its usable rows, and its gold labels.

An unusable row raises `Unusable`, which names file and line. It ends the reading, unless the
options or the dataset's own rules skip rows of its kind, which are counted.

One class is ``ENTAILMENT`` in SICK and ``entailment`` in SNLI, or ``1`` and, written by pandas,
``1.0``: an unknown label means the only known one that differs from it by case alone, or is the
same number. Similar known labels (``US``, ``us``) stay distinct.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from ...errors import InputError
from ...messages import named, quoted
from ...targets.target import Target
from ...text_reading import is_cell, numbered_lines
from ..conllu import Line
from ..examples import Example
from .options import ReadOptions

logger = logging.getLogger(__name__)

Row = TypeVar("Row")
Respelled = Counter[tuple[str, str]]  # (as written, known label) -> count

EMPTY = "empty sentences"
MALFORMED = "malformed rows"
NO_MAJORITY = "no majority label"
UNLABELLED = "without gold among labelled"
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?")  # as in JSON


class Unusable(InputError):
    """A row that is no example.

    Args:
        kind: `EMPTY`, `MALFORMED` or `NO_MAJORITY`.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class SplitFile:
    """One file read as one split."""

    path: Path  # the file
    split: str  # name of the split; all but ``test…`` and ``ax…`` must have labels
    options: ReadOptions  # of the user
    target: Target  # of the gold values
    labels: tuple[str, ...] = ()  # closed set, or empty to allow any label
    # counts of skipped rows, by reason; grows while reading
    dropped: Counter[str] = field(default_factory=Counter, compare=False)
    # counts of labels that mean others; grows while reading
    respelled: Respelled = field(default_factory=Counter, compare=False)
    # label of JSON that is no text -> its first spelling in the file; grows while reading
    values: dict[Any, str] = field(default_factory=dict, compare=False)

    @property
    def must_have_labels(self) -> bool:
        """Whether a row without a label is an error."""
        return not self.split.startswith(("test", "ax"))

    def lines(self) -> Iterator[Line]:
        """Yield the file's numbered lines, ended only by ``\\n``, without a byte order mark."""
        return numbered_lines(self.path)

    def first_line(self) -> str:
        """Return the first line that is not blank, or an empty text."""
        return next((line for _, line in self.lines() if line.strip()), "")

    def examples(
        self, rows: Iterable[Row], make: Callable[[Row], Example | None], also: Iterable[str] = ()
    ) -> Iterator[Example]:
        """Yield the example of each row, and count the unusable rows.

        Args:
            rows: raw rows.
            make: row to example; None for a row of another split.
            also: kinds of unusable rows to skip, in addition to those of the options.
        """
        policies = {EMPTY: self.options.on_empty, MALFORMED: self.options.on_bad_row}
        skipped = {NO_MAJORITY, *also, *(kind for kind in policies if policies[kind] == "skip")}
        for row in rows:
            try:
                example = make(row)
            except Unusable as error:
                if error.kind not in skipped:
                    raise
                self.dropped[error.kind] += 1
                continue
            if example is not None:
                yield example

    def malformed(self, number: int, text: str) -> Unusable:
        """Return the error of a malformed row."""
        header = number == 1 and self.options.no_header
        hint = "; if line 1 names the columns, leave out --no-header" if header else ""
        return Unusable(MALFORMED, f"{self.path}:{number}: {text}{hint}")

    def empty(self, number: int, what: str = "empty sentence") -> Unusable:
        """Return the error of a row without text."""
        return Unusable(EMPTY, f"{self.path}:{number}: {what}")

    def label(self, text: str, number: int) -> str | None:
        """Return a label in its known spelling, or a score as written; None if empty."""
        if not text:
            if self.must_have_labels:
                raise self.malformed(number, f"no label, which split {self.split!r} must have")
            return None
        try:
            return self.target.spelt(text, self._class)
        except InputError as error:
            raise self.malformed(number, str(error)) from None

    def _class(self, text: str) -> str:
        if not is_cell(text) or (self.target.by_word and text.split() != [text]):
            raise InputError(f"label {quoted(text)} holds a tab, a line break or a blank")
        known = known_label(text, self.labels) if self.labels else text
        if known is None:
            raise InputError(f"unknown label {quoted(text)}; choices are {named(self.labels)}")
        if known != text:
            self.respelled[text, known] += 1
        return known

    def value_label(self, value: Any, text: str) -> str:
        """Return a number or truth value of JSON in the file's first spelling."""
        if self.labels:
            return text
        before = next(iter(self.values), value)
        if isinstance(before, bool) is not isinstance(value, bool):
            raise InputError(
                f"label {text}, but {self.values[before]} before: labels are numbers, or true and "
                'false; write texts ("1", "true") where both are meant'
            )
        known = self.values.setdefault(value, text)
        if known != text:
            self.respelled[text, known] += 1
        return known

    def word(self, word: str, number: int) -> str:
        """Return a given word; refuse white space."""
        if not word or any(character.isspace() for character in word):
            what = "has a blank inside" if word.strip() else "is white space, which no model sees"
            hint = f"word {quoted(word)} {what}: put another character, such as _, in its place"
            raise self.malformed(number, hint if word else "empty word ''")
        return word


def tagged(
    words: Sequence[str], labels: Sequence[str] | None, identifier: str, number: int
) -> Example:
    """Return the example of given words."""
    given = None if labels is None else tuple(labels)
    return Example(identifier, (" ".join(words),), tuple(words), None, given, number)


def known_label(written: str, labels: Collection[str]) -> str | None:
    """Return the known label of a text; None if there is none, or several."""
    if written in labels:
        return written
    alike = [label for label in labels if likeness(label) == likeness(written)]
    return alike[0] if len(alike) == 1 else None


def likeness(label: str) -> str | Decimal:
    """Return the common form of similar labels: the number, or the text without case."""
    return Decimal(label) if NUMBER.fullmatch(label) else label.casefold()


def log_respelled(path: Path, respelled: Respelled) -> None:
    """Log labels of a file that mean others, with counts."""
    if respelled:
        taken = (
            f"{quoted(written)} as {quoted(label)} ({count:,})"
            for (written, label), count in sorted(respelled.items())
        )
        logger.info("%s: labels are taken for known ones: %s", path, named(taken))
