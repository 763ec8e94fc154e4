"""Semantic roles in columns, one per predicate: the files of CoNLL-2005 and CoNLL-2012.

One word per line, an empty line between sentences. From some column on, every column has the roles
of all words for one predicate, so a sentence has as many such columns as predicates:

    Anna   B-ARG0   (A0*)    *
    saw    B-V      (V*)     *
    Bert   B-ARG1   (A1*   (A0*)
    run    I-ARG1      *)   (V*)

Roles are labels (``O``, ``B-ARG0``, ``I-ARG0``, as written by labellers), or brackets as in both
shared tasks (Carreras and Màrquez 2005; Pradhan et al. 2012; ``*A0)`` closes like ``*)``), which
are converted to labels. Names are kept: ``A0`` and ``ARG0`` differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from ..messages import quoted
from ..option_flags import check, flag_of, option
from ..text_reading import numbered_lines
from .conllu import Line, read_blocks
from .readers.options import SEPARATORS
from .readers.tokens import OUTSIDE, columns_of

DOCUMENTS = ("#begin document", "#end document")  # lines of CoNLL-2012
LABEL = re.compile(r"O|[BI]-[^\s|]+")
BRACKETS = re.compile(r"(?:\(([^\s()*|]+))?\*(?:([^\s()*|]*)\))?")


@dataclass(frozen=True)
class RoleColumns:
    """The columns of words and roles."""

    word_column: int = option("column of the word, from 1", 1, least=1)
    first_column: int = option("column of the first predicate's roles, from 1", 2, least=1)
    columns_behind: int = option(
        "columns behind those of roles (1 in CoNLL-2012: coreference)", 0, least=0
    )
    separator: str = option("what separates columns", "blank", choices=tuple(SEPARATORS))

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class Predicates:
    """One sentence."""

    words: list[str]  # W words
    roles: list[list[str]]  # of each predicate W labels
    line: int  # its first line in the file


def read_roles(path: Path, columns: RoleColumns) -> Iterator[Predicates]:
    for block in read_blocks(numbered_lines(path), DOCUMENTS):
        yield _sentence(block, path, columns)


def _sentence(block: Sequence[Line], path: Path, columns: RoleColumns) -> Predicates:
    rows = [columns_of(text, SEPARATORS[columns.separator]) for _, text in block]
    count, start = len(rows[0]), columns.first_column - 1
    stop = count - columns.columns_behind
    for (line, text), row in zip(block, rows):
        if len(row) != count:
            what = f"found {len(row)} columns, line {block[0][0]} has {count}"
            raise InputError(f"{path}:{line}: {what}")
        word = row[columns.word_column - 1] if columns.word_column <= count else ""
        if stop < start or word.split() != [word]:
            flag = flag_of("word_column" if stop >= start else "first_column")
            number = columns.word_column if stop >= start else columns.first_column
            what = f"found {count} columns in {quoted(text)}: {flag} {number} has"
            none = "no word" if stop >= start else "no roles"
            raise InputError(f"{path}:{line}: {what} {none}")
    words = [row[columns.word_column - 1] for row in rows]
    lines = [line for line, _ in block]
    roles = [
        _labels([row[at] for row in rows], lines, f"column {at + 1}", path)
        for at in range(start, stop)
    ]
    return Predicates(words, roles, lines[0])


def _labels(cells: Sequence[str], lines: Sequence[int], column: str, path: Path) -> list[str]:
    if not any("*" in cell for cell in cells):
        for cell, line in zip(cells, lines):
            if not LABEL.fullmatch(cell):
                expected = "expected O, B-ROLE or I-ROLE, or brackets such as (A0*, * and *)"
                raise InputError(f"{path}:{line}: {column} has {quoted(cell)}; {expected}")
        return [*cells]
    try:
        return _from_brackets(cells, lines)
    except InputError as error:
        raise InputError(f"{path}:{error.args[1]}: {column} {error.args[0]}") from None


def _from_brackets(cells: Sequence[str], lines: Sequence[int]) -> list[str]:
    """Return the labels of spans in brackets; errors hold the line."""
    found, inside, since = [], "", lines[0]
    for cell, line in zip(cells, lines):
        match = BRACKETS.fullmatch(cell)
        if match is None:
            raise InputError(f"has {quoted(cell)} among brackets such as (A0*, * and *)", line)
        opens, closes = match.groups()  # the name after *, which may be empty, or None
        if opens and inside:
            raise InputError(f"opens {quoted(cell)} inside {inside}", line)
        due = opens or inside
        if closes is not None and (not due or closes not in ("", due)):
            raise InputError(f"closes {quoted(cell)}, but {due or 'nothing'} is open", line)
        label = f"B-{opens}" if opens else f"I-{inside}" if inside else OUTSIDE
        found.append(label)
        since = line if opens else since
        inside = "" if closes is not None else due
    if inside:
        raise InputError(f"opens {inside} and never closes it", since)
    return found
