"""One example per row: TSV and CSV with or without a header, and JSON lines.

GLUE's tables are TSV without quoting: a quotation mark is a character like any other.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from ...errors import InputError
from ...messages import named, quoted, shortened
from ...targets.label_sets import joined
from ...text_reading import ONE_A_LINE, is_cell
from ..examples import Example
from .csv_rows import csv_rows, is_csv
from .options import JSON_SUFFIXES
from .split_file import EMPTY, MALFORMED, NO_MAJORITY, SplitFile, Unusable

Raw = tuple[int, Any]  # number of a line, and its text; of CSV its cells

_CSV = "; TABs separate columns, this file looks like CSV: give it a name that ends with .csv"


@dataclass(frozen=True)
class Table:
    """Columns of a table that make an example."""

    texts: tuple[str, ...]  # columns of the one or two sentences
    # possible names of the label's column, the first present counts
    label: tuple[str, ...] = ("label",)
    id: tuple[str, ...] = ("index",)  # possible names of the id's column
    headerless: tuple[str, ...] = ()  # all columns, for files without a header
    # cell to label; None for a row without a majority label; refuses other cells
    to_label: Callable[[str], str | None] = str.strip
    cells: Mapping[str, str] = field(default_factory=dict)  # labels -> cells, if different
    split_column: str = ""  # column with the split, if one file holds all
    # our split name -> its values there
    split_names: Mapping[str, str] = field(default_factory=dict)
    # whether the official files have unusable rows, skipped in splits with labels (never in test
    # splits, whose rows are counted by servers)
    broken_rows: bool = False
    strict_id: bool = False  # whether the id column must exist and be unique
    strict_label: bool = False  # whether the label column must exist, with or without labels
    keeps: bool = False  # whether examples keep all cells
    numbered: bool = False  # whether files have no header, with columns named 1, 2, 3

    def columns(self) -> set[str]:
        return {*self.texts, *self.label, *self.id} | ({self.split_column} - {""})


def table_for(tables: Sequence[Table], cells: Sequence[str]) -> tuple[Table, bool]:
    """Return the table of a tab-separated file by its first line, and whether that is a header."""
    fitting = next((table for table in tables if set(table.texts) <= set(cells)), None)
    if fitting is not None and not tables[0].numbered:
        return fitting, True
    headerless = (table for table in tables if table.headerless or table.numbered)
    if not tables[0].numbered and any(set(table.label) & set(cells) for table in tables):
        return tables[0], True  # a header without a needed column
    return next(((table, False) for table in headerless), (tables[0], True))


def read_table(file: SplitFile, tables: Sequence[Table]) -> Iterator[Example]:
    """Read a file with the columns of the first of ``tables`` that fits."""
    lines, table, parse = _opened(file, tables)
    also = (EMPTY, MALFORMED) if table.broken_rows and file.must_have_labels else ()
    wanted = table.split_names.get(file.split, "")
    seen: dict[str, int] = {}

    def make(row: tuple[int, Raw]) -> Example | None:
        number, line = row
        cells = parse(line)
        if wanted and cells.get(table.split_column, wanted).strip() != wanted:
            return None
        example = _example(file, table, cells, number, line[0])
        if table.keeps:
            is_json = file.path.suffix.lower() in JSON_SUFFIXES
            example = replace(example, cells=json.loads(line[1]) if is_json else cells)
        return _with_new_id(file, table, example, seen)

    yield from file.examples(enumerate(lines), make, also)


def _opened(
    file: SplitFile, tables: Sequence[Table]
) -> tuple[Iterator[Raw], Table, Callable[[Raw], dict[str, str]]]:
    """Return a file's rows after its header, its table, and a parser of rows into named cells."""
    table = tables[0]
    raw = csv_rows(file.path, partial(_fits, file, tables)) if is_csv(file.path) else file.lines()
    lines = _without_blank_end(raw)
    if file.path.suffix.lower() in JSON_SUFFIXES:
        if table.numbered:
            raise InputError(f"{file.path}: JSON has names, not numbers: leave out --no-header")
        return lines, table, partial(_members, file, table)
    first = next(lines, None)
    if first is None:
        return lines, table, partial(_cells, file, [], True)
    cells = _cut(first[1])
    table, header = table_for(tables, cells)
    numbers = [str(number) for number in range(1, len(cells) + 1)]
    names = cells if header else numbers if table.numbered else [*table.headerless]
    _check_columns(file, table, names, first[0])
    return lines if header else chain([first], lines), table, partial(_cells, file, names, header)


def read_plain(file: SplitFile, **how: Any) -> Iterator[Example]:
    """Read the user's own TSV, CSV or JSON lines, with the columns of the options."""
    options = file.options
    names = ((options.text_column, options.text2_column), (options.label_column,))
    texts, label, identifier = (tuple(filter(None, n)) for n in (*names, (options.id_column,)))
    how |= {"strict_id": bool(identifier), "numbered": options.no_header}
    return read_table(file, (Table(texts, label, identifier, **how),))


def _example(
    file: SplitFile, table: Table, cells: dict[str, str], number: int, line: int
) -> Example:
    for name in table.texts:
        if not cells[name].strip():
            raise file.empty(line, f"empty {name!r}")
    written = next((cells[name] for name in table.label if name in cells), "")
    try:
        label = table.to_label(written) if written.strip() else ""
    except InputError as error:
        raise file.malformed(line, str(error)) from None
    if label is None:
        raise Unusable(NO_MAJORITY, f"{file.path}:{line}: no majority label: {quoted(written)}")
    identifier = next((cells[name] for name in table.id if name in cells), str(number))
    if not is_cell(identifier):
        what = f"id {quoted(identifier)} is empty, or holds a tab or line break"
        raise file.malformed(line, what)
    texts = tuple(cells[name] for name in table.texts)
    return Example(identifier, texts, None, file.label(label, line), None, line)


def _with_new_id(file: SplitFile, table: Table, example: Example, seen: dict[str, int]) -> Example:
    """Return an example; refuse a repeated own id (``seen``, id -> line, grows)."""
    before = seen.setdefault(example.id, example.line) if table.strict_id else example.line
    if before != example.line:
        raise file.malformed(example.line, f"id {quoted(example.id)} is in line {before} already")
    return example


def _fits(file: SplitFile, tables: Sequence[Table], cells: Sequence[str]) -> bool:
    """Return whether a row can be the first of a table: a header, or enough cells."""
    table, header = table_for(tables, cells)
    if header:
        return set(table.texts) <= set(cells)
    if not table.numbered:
        return len(cells) == len(table.headerless)
    return len(cells) >= max(map(int, table.columns() if file.must_have_labels else table.texts))


def _cut(row: Any) -> list[str]:
    return row if isinstance(row, list) else row.split("\t")


def _cells(file: SplitFile, names: list[str], header: bool, line: Raw) -> dict[str, str]:
    number, row = line
    cells = _cut(row)
    if len(cells) != len(names):
        alike = len(cells) == 1 and max(map(cells[0].count, ",;")) >= len(names) - 1
        hint = _CSV if alike else ""
        if is_csv(file.path):
            hint = "; a cell that holds the separator stands in quotation marks"
        if cells in ([], [""]):
            raise file.malformed(number, f"an empty line; expected {len(names)} columns")
        raise file.malformed(number, f"found {len(cells)} columns, expected {len(names)}{hint}")
    if header and cells == names:
        raise file.malformed(number, "the header once more")
    return dict(zip(names, cells))


def _members(file: SplitFile, table: Table, line: Raw) -> dict[str, str]:
    """Read a JSON object; return its wanted values as text."""
    number, text = line
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise file.malformed(number, f"no JSON ({error}): {ONE_A_LINE}") from None
    if not isinstance(record, dict):
        what = f"expected a JSON object, found {text[:40]!r}: {ONE_A_LINE}"
        raise file.malformed(number, what)
    _check_there(file, table, list(record), number)
    for name in table.texts:
        if not isinstance(record[name], str):
            raise file.malformed(number, f"{name!r} is no text: {quoted(record[name])}")
    try:
        return {
            name: _member(file, name in table.label, record[name])
            for name in table.columns()
            if name in record
        }
    except InputError as error:
        raise file.malformed(number, str(error)) from None


def _member(file: SplitFile, is_label: bool, value: Any) -> str:
    """Return a value of a JSON object as text; a list only for several labels."""
    if value is None or isinstance(value, str):
        return value or ""
    text, what = json.dumps(value), "label" if is_label else "value"
    if isinstance(value, list) and is_label and file.target.several:
        texts = ("" if one is None or isinstance(one, list) else str(one) for one in value)
        if none := [one for one, text in zip(value, texts) if not text.strip()]:
            raise InputError(f"label {shortened(text)}: {json.dumps(none[0])} is no label")
        return joined([_member(file, True, one) for one in value])
    if isinstance(value, list | dict):
        raise InputError(f"{what} {shortened(text)}: a row has one {what}, no list and no object")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{what} {text} is no finite number (null stands for no {what})")
    return file.value_label(value, text) if is_label and file.target.labelled else text


def _check_columns(file: SplitFile, table: Table, names: Sequence[str], number: int) -> None:
    """Refuse missing or repeated columns among the needed ones."""
    _check_there(file, table, names, number)
    wanted = names if table.keeps else table.columns()
    twice = sorted(name for name in wanted if names.count(name) > 1)
    if twice:
        raise InputError(f"{file.path}:{number}: the header names column {twice[0]!r} twice")


def _check_there(file: SplitFile, table: Table, names: Sequence[str], number: int) -> None:
    strict = (table.id * table.strict_id, table.label * table.strict_label)
    for name in chain(table.texts, *strict):
        if name not in names:
            raise _no_column(file, name, names, number)
    if file.must_have_labels and not set(table.label) & set(names):
        if not table.label:
            raise InputError(f"split {file.split!r} must have labels: name their --label-column")
        raise _no_column(file, table.label[0], names, number)


def _no_column(file: SplitFile, name: str, names: Sequence[str], number: int) -> Unusable:
    by_number = name.isdecimal() and not file.options.no_header
    hint = "; numbers are for files without a header, with --no-header" if by_number else ""
    if len(names) == 1 and name in re.split("[,;]", names[0].replace('"', "")):
        hint = _CSV
    what = f"no column {quoted(name)}; the columns are {named(names)}{hint}"
    return file.malformed(number, what)


def _without_blank_end(lines: Iterator[Raw]) -> Iterator[Raw]:
    """Yield lines up to the last that is not empty."""
    empty: list[Raw] = []
    for line in lines:
        empty.append(line)
        if line[1]:
            yield from empty
            empty.clear()
