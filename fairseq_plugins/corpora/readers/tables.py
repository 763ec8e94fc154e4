"""One example a row: tab-separated tables with or without a header, and JSON lines.

GLUE's tables have no quoting: a quotation mark is a character like any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...messages import named, quoted
from ...text_reading import is_cell
from ..examples import Example
from .split_file import EMPTY, MALFORMED, NO_MAJORITY, Line, Reading, Unusable, usable

JSON_SUFFIXES = (".jsonl", ".json")


@dataclass(frozen=True)
class Table:
    """Columns of a table that make an example.

    Args:
        texts: columns of the one or two sentences.
        label: names that the label's column may have, the first present counts.
        id: names that the id's column may have.
        headerless: all columns, for files that have no header.
        to_label: cell to label; None for a row without a majority label, ValueError for a cell
            that is no label.
        split_column: column that tells the split, where one file holds all.
        split_names: our split name -> its values there.
        broken_rows: the official files have rows that cannot be used: they are passed over
            in splits with labels (never in test splits, whose rows are counted by servers).
        strict_id: whether the column of the id must be there.
        numbered: files have no header, and their columns are called 1, 2, 3, ...
    """

    texts: tuple[str, ...]
    label: tuple[str, ...] = ("label",)
    id: tuple[str, ...] = ("index",)
    headerless: tuple[str, ...] = ()
    to_label: Callable[[str], str | None] = str.strip
    split_column: str = ""
    split_names: Mapping[str, str] = field(default_factory=dict)
    broken_rows: bool = False
    strict_id: bool = False
    numbered: bool = False

    def columns(self) -> set[str]:
        """Return all names that it looks for."""
        return {*self.texts, *self.label, *self.id} | ({self.split_column} - {""})


def without_majority(cell: str) -> str | None:
    """Read a gold label that is ``-`` where annotators disagree."""
    return None if cell.strip() == "-" else cell.strip()


def read_table(reading: Reading, tables: Sequence[Table]) -> Iterator[Example]:
    """Read a file whose columns are those of the first of ``tables`` that fits.

    Raises:
        ValueError: a row that is no example, with file and line; a missing or doubled column.
    """
    if reading.path.suffix in JSON_SUFFIXES:
        if tables[0].numbered:
            raise ValueError(f"{reading.path}: JSON has names, not numbers: leave out --no-header")
        return _read_json(reading, tables[0])
    return _read_tabbed(reading, tables)


def _read_tabbed(reading: Reading, tables: Sequence[Table]) -> Iterator[Example]:
    lines = _without_blank_end(reading.lines())
    first = next(lines, None)
    if first is None:
        return
    cells = first[1].split("\t")
    table = next((table for table in tables if set(table.texts) <= set(cells)), None)
    if tables[0].numbered:
        table, names = tables[0], [str(number) for number in range(1, len(cells) + 1)]
        cells, rows = [], enumerate(_and(first, lines))
        _check_there(reading, table, names, first[0])
    elif table:
        names, rows = _checked_header(reading, first[0], cells, table), enumerate(lines)
    else:
        table = next((table for table in tables if table.headerless), None)
        if table is None:
            _check_there(reading, tables[0], cells, first[0])
        names, rows = list(table.headerless), enumerate(_and(first, lines))
    _check_label_column(reading, table, names)
    yield from _examples(
        reading, table, rows, partial(_cells, reading=reading, names=names, header=cells)
    )


def _read_json(reading: Reading, table: Table) -> Iterator[Example]:
    rows = enumerate(_without_blank_end(reading.lines()))
    yield from _examples(reading, table, rows, partial(_members, reading=reading, table=table))


def _examples(
    reading: Reading,
    table: Table,
    rows: Iterator[tuple[int, Line]],
    parse: Callable[[Line], dict[str, str]],
) -> Iterator[Example]:
    also = (EMPTY, MALFORMED) if table.broken_rows and reading.must_have_labels else ()
    wanted = table.split_names.get(reading.split, "")

    def make(row: tuple[int, Line]) -> Example | None:
        number, line = row
        cells = parse(line)
        if wanted and cells.get(table.split_column, wanted).strip() != wanted:
            return None
        return _example(reading, table, cells, number, line[0])

    return usable(rows, make, reading, also)


def _example(
    reading: Reading, table: Table, cells: dict[str, str], number: int, line: int
) -> Example:
    """Make an example of a row's cells by column name."""
    texts = tuple(reading.text(cells[name], line, f"{name!r}") for name in table.texts)
    written = next((cells[name] for name in table.label if name in cells), "")
    try:
        label = table.to_label(written) if written.strip() else ""
    except ValueError as error:
        raise reading.malformed(line, str(error)) from None
    if label is None:
        raise Unusable(NO_MAJORITY, f"{reading.path}:{line}: no majority label: {quoted(written)}")
    identifier = next((cells[name] for name in table.id if name in cells), str(number))
    if not is_cell(identifier):
        what = f"id {quoted(identifier)} is empty, or holds a tab or line break"
        raise reading.malformed(line, what)
    return Example(identifier, texts, None, reading.label(label, line), None, line)


def _cells(line: Line, reading: Reading, names: list[str], header: list[str]) -> dict[str, str]:
    """Split a row at tabs."""
    number, text = line
    cells = text.split("\t")
    if len(cells) != len(names):
        raise reading.malformed(number, f"found {len(cells)} columns, expected {len(names)}")
    if cells == header == names:
        raise reading.malformed(number, "the header once more")
    return dict(zip(names, cells))


def _members(line: Line, reading: Reading, table: Table) -> dict[str, str]:
    """Read a JSON object; its members that we look for, as text."""
    number, text = line
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise reading.malformed(number, f"no JSON ({error})") from None
    if not isinstance(record, dict):
        raise reading.malformed(number, f"expected a JSON object, found {text[:40]!r}")
    cells = {name: _written(record[name]) for name in table.columns() if name in record}
    _check_there(reading, table, list(record), number)
    for name in table.texts:
        if not isinstance(record[name], str):
            raise reading.malformed(number, f"{name!r} is no text: {quoted(record[name])}")
    return cells


def _written(value: Any) -> str:
    """Return a JSON value as it would stand in a table."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _checked_header(reading: Reading, number: int, cells: list[str], table: Table) -> list[str]:
    _check_there(reading, table, cells, number)
    twice = sorted(name for name in table.columns() if cells.count(name) > 1)
    if twice:
        raise ValueError(f"{reading.path}:{number}: the header names column {twice[0]!r} twice")
    return cells


def _check_there(reading: Reading, table: Table, names: Sequence[str], number: int) -> None:
    for name in (*table.texts, *(table.id if table.strict_id else ())):
        if name not in names:
            raise _no_column(reading, name, names, number)


def _check_label_column(reading: Reading, table: Table, names: Sequence[str]) -> None:
    if not reading.must_have_labels or set(table.label) & set(names):
        return
    if not table.label:
        raise ValueError(f"split {reading.split!r} must have labels: name their --label-column")
    raise _no_column(reading, table.label[0], names, 1)


def _no_column(reading: Reading, name: str, names: Sequence[str], number: int) -> Unusable:
    by_number = name.isdecimal() and not reading.options.no_header
    hint = "; numbers are for files without a header, with --no-header" if by_number else ""
    what = f"no column {quoted(name)}; the columns are {named(names)}{hint}"
    return reading.malformed(number, what)


def _without_blank_end(lines: Iterator[Line]) -> Iterator[Line]:
    """Yield lines up to the last that is not empty."""
    empty: list[Line] = []
    for line in lines:
        if line[1]:
            yield from empty
            empty.clear()
            yield line
        else:
            empty.append(line)


def _and(first: Line, lines: Iterator[Line]) -> Iterator[Line]:
    yield first
    yield from lines
