"""The list of ambiguous words of a test set, and how often a translation has the right sense.

A row tells for one word of one sentence which part of speech it has there, which German word
translates it, all German forms of that reading, and how many words of the reference are among
them. A translation has the sense if at least as many of its words are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grammar.ambiguity import Occurrence, matches

COLUMNS = ("line", "word", "surface", "start", "upos", "german", "forms", "count")
GERMAN_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Row:
    """One ambiguous word: line (from 1), base form, part of speech, forms, count."""

    line: int
    word: str
    upos: str
    forms: frozenset[str]
    count: int


def write_report(path: Path, sentences: Sequence[Sequence[Occurrence]]) -> None:
    """Write the list, tab-separated with a header; forms are joined by "|"."""
    lines = ["\t".join(COLUMNS)]
    for number, found in enumerate(sentences, 1):
        for item in found:
            cells = (number, item.word, item.surface, item.start, item.upos)
            rest = (item.german, "|".join(item.forms), item.count)
            lines.append("\t".join(map(str, (*cells, *rest))))
    path.write_bytes(("\n".join(lines) + "\n").encode("utf-8"))


def read_report(path: Path) -> list[Row]:
    """Read the list.

    Raises:
        ValueError: the header or a row is not as `write_report` writes it.
    """
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    if tuple(header.split("\t")) != COLUMNS:
        raise ValueError(f"{path}:1: columns {header!r} instead of {', '.join(COLUMNS)}")
    rows = []
    for number, line in enumerate(lines, 2):
        cells = line.split("\t")
        if len(cells) != len(COLUMNS):
            raise ValueError(f"{path}:{number}: {len(cells)} columns instead of {len(COLUMNS)}")
        place, word, _, _, upos, _, forms, count = cells
        rows.append(Row(int(place), word, upos, frozenset(forms.split("|")), int(count)))
    return rows


def has_sense(translation: str, row: Row) -> bool:
    """True if the translation has enough words of the row's forms."""
    words = GERMAN_WORD.findall(translation)
    return sum(matches(word, n == 0, row.forms) for n, word in enumerate(words)) >= row.count


def is_confused(translation: str, row: Row, rows: Sequence[Row]) -> bool:
    """True if the translation has not the word's sense but, of these rows, that of another one."""
    others = [other for other in rows if other.word == row.word and other.upos != row.upos]
    return not has_sense(translation, row) and any(has_sense(translation, o) for o in others)


def score(translations: Sequence[str], rows: Sequence[Row]) -> tuple[Counter, Counter]:
    """Count the words, and those with the right sense, for each (word, part of speech).

    Raises:
        ValueError: a row names a sentence that is not there.
    """
    seen, hit = Counter(), Counter()
    for row in rows:
        if row.line > len(translations):
            raise ValueError(f"line {row.line} wanted, but there are {len(translations)} lines")
        key = (row.word, row.upos)
        seen[key] += 1
        hit[key] += has_sense(translations[row.line - 1], row)
    return seen, hit
