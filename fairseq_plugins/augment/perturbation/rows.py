"""Rows of official files with other sentences and another label, and nothing else changed.

Cells of other columns stay as they are, byte for byte, even where they speak of the sentences as
they were (the parses of SNLI and MNLI, the second label of SICK).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...corpora.readers.dataset import Dataset
from ...corpora.readers.tables import JSON_SUFFIXES, Table, table_for

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLANKS = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class RawRows:
    """The rows of a file that `corpora.datasets.read_split` can read.

    Args:
        path: the file.
        table: what its columns are.
        columns: their names in order; none in JSON lines.
        head: the header with its end, or nothing.
        lines: all lines with their ends, by number from 1.
    """

    path: Path
    table: Table
    columns: tuple[str, ...]
    head: bytes
    lines: Mapping[int, bytes]

    def row(self, line: int) -> bytes:
        """Return a row as it stands there, its end made sure of."""
        raw = self.lines[line].removeprefix(BYTE_ORDER_MARK if line == 1 else b"")
        return raw if raw.endswith(b"\n") else raw + b"\n"

    def edited(self, line: int, texts: Sequence[str], label: str | None) -> bytes:
        """Return a row with other sentences, and another label unless it is None."""
        row = self.row(line).decode("utf-8")
        body = row.rstrip("\r\n")
        cells = dict(zip(self.table.texts, texts))
        if label is not None:
            cells[self._label_column(body)] = cell_of(self.table, label)
        put = self._columns_edited if self.columns else members_edited
        return (put(body, cells) + row[len(body) :]).encode()

    def _label_column(self, body: str) -> str:
        names = self.columns or json.loads(body)
        return next(name for name in self.table.label if name in names)

    def _columns_edited(self, body: str, cells: Mapping[str, str]) -> str:
        old = body.split("\t")
        return "\t".join(cells.get(name, cell) for name, cell in zip(self.columns, old))


def open_rows(dataset: Dataset, path: Path) -> RawRows:
    """Read the rows of a file; which table it is follows from its first line."""
    with open(path, "rb") as stream:
        lines = dict(enumerate(stream, 1))
    if path.suffix in JSON_SUFFIXES:
        return RawRows(path, dataset.tables[0], (), b"", lines)
    header = lines[1].removeprefix(BYTE_ORDER_MARK).decode("utf-8").rstrip("\r\n").split("\t")
    table, has_header = table_for(dataset.tables, header)
    columns, head = (tuple(header), lines[1]) if has_header else (table.headerless, b"")
    return RawRows(path, table, columns, head, lines)


def cell_of(table: Table, label: str) -> str:
    """Return what stands for a label in a table's column."""
    cell = table.cells.get(label, label)
    if not table.to_label(cell) == label:
        raise ValueError(f"no cell of column {table.label[0]!r} says {label!r}")
    return cell


def members_edited(body: str, cells: Mapping[str, str]) -> str:
    """Exchange members of a JSON object for texts; all other characters stay."""
    found: dict[str, tuple[int, int]] = {}
    decoder, place = json.JSONDecoder(), BLANKS.match(body).end() + 1  # behind "{"
    while True:
        name, place = decoder.raw_decode(body, BLANKS.match(body, place).end())
        start = BLANKS.match(body, BLANKS.match(body, place).end() + 1).end()  # behind ":"
        _, end = decoder.raw_decode(body, start)
        found[name] = start, end  # of members with one name the last counts
        place = BLANKS.match(body, end).end()
        if body[place] != ",":
            break
        place += 1
    for name, (start, end) in sorted(found.items(), key=lambda item: -item[1][0]):
        if name in cells:
            value = json.dumps(cells[name], ensure_ascii=body.isascii())
            body = body[:start] + value + body[end:]
    return body


def file_name(dataset: Dataset, split: str, path: Path) -> str:
    """Return the name to write a split under: not that of a file that holds all splits (SICK)."""
    others = {name for other, names in dataset.splits.items() if other != split for name in names}
    own = [name for name in dataset.splits[split] if name not in others and "/" not in name]
    return path.name if path.name in own or not own else own[0]
