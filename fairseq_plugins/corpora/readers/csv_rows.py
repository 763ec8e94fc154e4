"""Rows of CSV: cells between commas, semicolons or TABs, some in quotation marks.

The first row decides the separator: only with that mark it has the wanted columns, or the next rows
are as long. Blanks after the separator in the first row are dropped everywhere.
"""

import csv
import logging
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from ...errors import InputError
from ...text_reading import decode_line

logger = logging.getLogger(__name__)

MARKS = {",": "commas", ";": "semicolons", "\t": "TABs"}
Row = tuple[int, list[str]]  # its first line, and its cells


def is_csv(path: Path) -> bool:
    """Return whether a file is CSV by its name."""
    return path.suffix.lower() == ".csv"


def csv_rows(path: Path, fits: Callable[[list[str]], bool]) -> Iterator[Row]:
    """Yield the rows of a file; an empty line has no cells.

    Args:
        fits: whether the first row, cut in some way, has the wanted columns.
    """
    ways = [(mark, blanks) for blanks in (False, True) for mark in MARKS]
    first = {way: rows[0] for way in ways if (rows := _begin(path, *way))}
    fitting = {way: cells for way, cells in first.items() if fits(cells)}
    if len({*map(tuple, fitting.values())}) > 1:
        even = (w for w in fitting if len({*map(len, _begin(path, *w, count=100))}) == 1)
        fitting = {way: first[way] for way in even} or fitting
    if len({*map(tuple, fitting.values())}) > 1:
        found = " or ".join(dict.fromkeys(MARKS[mark] for mark, _ in fitting))
        raise InputError(f"{path}:1: {found} may separate the columns: write it as TSV (.tsv)")
    mark, blanks = next(iter(fitting), max(first or ways, key=lambda way: len(first.get(way, ()))))
    _log_once(path, MARKS[mark] + " and blanks" * blanks)
    yield from _rows(path, mark, blanks)


def _begin(path: Path, mark: str, blanks: bool, *, count: int = 1) -> list[list[str]]:
    """Return some rows; empty if they are no CSV, or the first has blanks to drop."""
    try:
        rows = [cells for _, cells in islice(_rows(path, mark, blanks), count)]
    except InputError:
        return []
    whole = rows and rows[0] and (blanks or not any(cell[:1] == " " for cell in rows[0]))
    return [cells for cells in rows if cells] if whole else []


def _rows(path: Path, mark: str, blanks: bool) -> Iterator[Row]:
    with open(path, "rb") as stream:
        lines = (f"{decode_line(raw, path, number)}\n" for number, raw in enumerate(stream, 1))
        reader = csv.reader(lines, delimiter=mark, skipinitialspace=blanks, strict=True)
        number = 1
        try:
            for cells in reader:
                yield number, cells
                number = reader.line_num + 1
        except csv.Error as error:
            why = str(error).partition(" - ")[0]
            raise InputError(
                f"{path}:{number}: the row that begins here is no CSV ({why}): a cell with a "
                'quotation mark stands in quotation marks, and has "" for each of its own'
            ) from None


@cache
def _log_once(path: Path, marks: str) -> None:
    logger.info("%s: %s separate the columns", path, marks)
