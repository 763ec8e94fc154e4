"""Files of one word a line with its label, and blank lines between sentences (CoNLL)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from ...messages import quoted
from ..examples import Example
from .options import SEPARATORS, ReadOptions
from .split_file import Line, Reading, blocks, tagged, usable

OUTSIDE = "O"


@dataclass(frozen=True)
class TokenLayout:
    """Where words and labels stand.

    Args:
        token: column of the word, from 0, or from the end.
        tag: column of its label.
        separator: between columns; None for any run of blanks.
        iob1: whether entities may begin with ``I-`` (CoNLL-2003), which becomes ``B-``.
        ends: beginnings of lines that stand between sentences.
    """

    token: int = 0
    tag: int = -1
    separator: str | None = "\t"
    iob1: bool = False
    ends: tuple[str, ...] = ()

    def fields(self, line: str) -> list[str]:
        """Split a line into its columns."""
        return line.split(self.separator)


def layout_of(options: ReadOptions) -> TokenLayout:
    """Return the layout of the user's own files."""
    numbers = [n - 1 if n > 0 else n for n in (options.token_column, options.tag_column)]
    return TokenLayout(*numbers, SEPARATORS[options.separator])


def read_tokens(reading: Reading, layout: TokenLayout | None = None) -> Iterator[Example]:
    """Read a token file; a file of one column has no labels.

    Args:
        reading: what to read.
        layout: of the file, or None for that of the options.

    Raises:
        ValueError: other columns than the first line's, an unknown label, a word that is empty
            or has blanks inside; with file and line.
    """
    layout = layout or layout_of(reading.options)
    sentences = blocks(reading.lines(), layout.ends)
    first = next(sentences, None)
    if first is None:
        return
    columns = _checked_columns(reading, layout, first[0])
    make = partial(_sentence, reading=reading, layout=layout, columns=columns)
    yield from usable(enumerate(chain([first], sentences)), make, reading)


def _checked_columns(reading: Reading, layout: TokenLayout, line: Line) -> int:
    """Return the number of columns that the first line has."""
    columns = len(layout.fields(line[1]))
    if columns == 1 and reading.must_have_labels:
        what = f"found no label column, which split {reading.split!r} must have"
        raise reading.malformed(line[0], f"{what}: {quoted(line[1])}")
    for column in (layout.token, layout.tag):
        if columns > 1 and not -columns <= column < columns:
            raise reading.malformed(
                line[0], f"found {columns} columns, so there is no column {column + (column >= 0)}"
            )
    return columns


def _sentence(
    item: tuple[int, list[Line]], reading: Reading, layout: TokenLayout, columns: int
) -> Example:
    number, block = item
    words, labels = [], []
    for line, text in block:
        fields = layout.fields(text)
        if len(fields) != columns:
            raise reading.malformed(line, f"found {len(fields)} columns, expected {columns}")
        words.append(checked_word(reading, fields[layout.token if columns > 1 else 0], line))
        if columns > 1:
            labels.append(fields[layout.tag].strip())
    checked = [reading.label(label, line) for label, (line, _) in zip(labels, block)]
    gold = [label for label in checked if label is not None]
    if gold and len(gold) != len(words):
        line = block[checked.index(None)][0] if None in checked else block[0][0]
        raise reading.malformed(line, "a word without a label in a sentence with labels")
    return tagged(words, (iob2(gold) if layout.iob1 else gold) or None, str(number), block[0][0])


def checked_word(reading: Reading, word: str, line: int) -> str:
    """Refuse a word that is empty or has blanks inside.

    Raises:
        Unusable: such a word.
    """
    if not word or any(character.isspace() for character in word):
        what = f"word {quoted(word)} has a blank inside" if word.strip() else f"empty word {word!r}"
        raise reading.malformed(line, what)
    return word


def iob2(labels: Sequence[str]) -> list[str]:
    """Let every entity begin with ``B-``: IOB1 to IOB2, and IOB2 to itself.

    In IOB1 (Ramshaw and Marcus, 1995) an entity begins with ``I-``, unless it follows one of its
    own type at once.
    """
    result, before = [], ""
    for label in labels:
        kind = label[2:] if label[:2] in ("B-", "I-") else ""
        begins = kind and label[0] == "I" and kind != before
        result.append(f"B-{kind}" if begins else label)
        before = kind
    return result
