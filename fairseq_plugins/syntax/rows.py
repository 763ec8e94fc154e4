"""Rows of whole numbers, read from binary streams of a prepared folder and checked.

The ``.bin`` file of a stream (`streams`) holds all rows one after another; the ``.idx`` file has
their lengths and beginnings. fairseq trusts the ``.idx`` file, so both files are compared here:
before fairseq opens a stream, and before any use of its numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from ..errors import InputError

AGAIN = "prepare the folder again"
AT_ONCE = 1 << 22  # numbers checked together
ROWS_AT_ONCE = 100_000
HEADER = struct.Struct("<9sQBQ")  # mark, version, number type, rows
MARK, VERSION = b"MMIDIDX\x00\x00", 1
TYPES = {1: "u1", 2: "i1", 3: "i2", 4: "i4", 5: "i8", 8: "u2", 9: "u4"}  # of whole numbers


def stream_exists(prefix: Path) -> bool:
    """Whether both files of the stream are there."""
    return all(Path(f"{prefix}.{ext}").is_file() for ext in ("bin", "idx"))


def stream_layout(prefix: Path) -> tuple[np.ndarray, np.dtype]:
    """Return the lengths of a stream's rows, (N,), and the type of its numbers."""
    index, binary = Path(f"{prefix}.idx"), Path(f"{prefix}.bin")
    for path in (binary, index):
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; {AGAIN}")
    with open(index, "rb") as stream:
        head = stream.read(HEADER.size).ljust(HEADER.size)
        mark, version, code, count = HEADER.unpack(head)
        promised, found = HEADER.size + 12 * count, index.stat().st_size
        if (mark, version) != (MARK, VERSION) or code not in TYPES or promised != found:
            raise InputError(f"{index} is no index of a stream, or not all of one; {AGAIN}")
        sizes = np.fromfile(stream, "<i4", count)  # (N,)
        pointers = np.fromfile(stream, "<i8", count)  # (N,)
    dtype = np.dtype(f"<{TYPES[code]}")
    ends = np.cumsum(sizes, dtype=np.int64) * dtype.itemsize  # (N,)
    apart = pointers != ends - sizes.astype(np.int64) * dtype.itemsize
    if wrong := np.flatnonzero((sizes < 0) | apart).tolist():
        raise InputError(
            f"{index}, line {wrong[0] + 1}: {sizes[wrong[0]]} numbers from byte "
            f"{pointers[wrong[0]]} on do not follow the line before; {AGAIN}"
        )
    promised, found = int(ends[-1]) if count else 0, binary.stat().st_size
    if promised != found:
        raise InputError(f"{binary} has {found} bytes, but its index says {promised}; {AGAIN}")
    return sizes, dtype


def check_ids(
    what: object, values: np.ndarray, sizes: np.ndarray, bounds: tuple[int, int], names: str
) -> None:
    """Refuse numbers without a meaning.

    Args:
        what: the stream, for the message.
        values, sizes: all numbers, row after row, and the lengths of the rows.
        bounds: the least number, and the first above the greatest.
        names: meaning of a number, e.g. ``token of dict.en.txt``.
    """
    low, high = bounds
    signed = low > 0 or values.dtype.kind == "i"
    for begin in range(0, len(values), AT_ONCE):
        part = values[begin : begin + AT_ONCE]
        if int(part.max()) < high and not (signed and int(part.min()) < low):
            continue
        at = begin + int(np.flatnonzero((part < low) | (part >= high))[0])
        row = int(np.searchsorted(np.cumsum(sizes, dtype=np.int64), at, side="right"))
        raise InputError(
            f"{what}, line {row + 1}: id {values[at]} is no {names}, whose ids are {low} to "
            f"{high - 1}; {AGAIN}"
        )


class Rows:
    """Rows of whole numbers.

    Args:
        values: all rows one after another.
        lengths: numbers in each row.
        ends: end of each row among the values, unless the rows follow each other.
    """

    def __init__(
        self, values: np.ndarray, lengths: np.ndarray, ends: np.ndarray | None = None
    ) -> None:
        self.values = values
        self.lengths = np.asarray(lengths, dtype=np.int64)
        self.ends = np.cumsum(self.lengths) if ends is None else ends

    @classmethod
    def read(cls, prefix: Path, *, mapped: bool = False) -> Rows:
        """Read a stream, or map an unchangeable file; `stream_layout` checks the stream."""
        lengths, dtype = stream_layout(prefix)
        path = f"{prefix}.bin"
        if mapped and lengths.any():
            return cls(np.asarray(np.memmap(path, dtype, mode="r")), lengths)
        return cls(np.fromfile(path, dtype), lengths)

    @classmethod
    def of(cls, rows: Iterable[Sequence[int] | np.ndarray]) -> Rows:
        """Make rows of sequences."""
        rows = list(rows)
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        return cls(np.fromiter(chain.from_iterable(rows), np.int64, lengths.sum()), lengths)

    def check(self, what: object, count: int, names: str, least: int = 0) -> None:
        """Refuse numbers below ``least`` or from ``count`` on; see `check_ids`."""
        check_ids(what, self.values, self.lengths, (least, count), names)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> np.ndarray:
        end = self.ends[index]
        return self.values[end - self.lengths[index] : end]

    def __iter__(self) -> Iterator[np.ndarray]:
        begins = (self.ends - self.lengths).tolist()
        return (self.values[begin:end] for begin, end in zip(begins, self.ends.tolist()))

    def parts(self) -> Iterator[tuple[int, Rows]]:
        """Yield groups of successive rows, with the number of the first row.

        All rows must follow each other.
        """
        for first in range(0, len(self), ROWS_AT_ONCE):
            lengths, ends = (x[first : first + ROWS_AT_ONCE] for x in (self.lengths, self.ends))
            yield first, Rows(self.values[ends[0] - lengths[0] : ends[-1]], lengths)

    def inner(self, before: int = 0, after: int = 1) -> Rows:
        """Return the rows without their first and last numbers; the values are shared."""
        return Rows(self.values, self.lengths - before - after, self.ends - after)

    def gather(self, index: np.ndarray) -> Rows:
        """Return rows by number, with repetitions; the values are shared."""
        return type(self)(self.values, self.lengths[index], self.ends[index])

    def any(self, marked: np.ndarray) -> np.ndarray:
        """Return whether each row has a marked value, without gathering rows."""
        found = np.zeros(len(self), dtype=bool)
        found[np.searchsorted(self.ends, np.flatnonzero(marked), side="right")] = True
        return found

    @property
    def lasts(self) -> np.ndarray:
        """The last number of each row; -1 for an empty row."""
        out = np.full(len(self), -1, dtype=np.int64)
        filled = self.lengths > 0
        out[filled] = self.values[self.ends[filled] - 1]
        return out


def refuse(
    what: object,
    wrong: np.ndarray,
    said: str | Callable[[int], str],
    *,
    row: str = "example",
    cure: str = AGAIN,
    first: int = 0,
) -> None:
    """Refuse wrong rows.

    Args:
        what, row: names of the stream and of a row.
        first: number of the first of the N rows.
        wrong: whether each row is wrong, (N,).
        said, cure: the problem of a row (or its function of the row's number from 0), and advice.
    """
    if wrong.any():
        at = int(wrong.argmax())
        reason = said if isinstance(said, str) else said(at)
        raise InputError(f"{what}: {row} {first + at + 1} {reason}; {cure}")


def check_count(what: object, rows: Rows, count: int, cure: str = AGAIN) -> None:
    """Refuse a wrong number of rows."""
    if len(rows) != count:
        raise InputError(f"{what} has {len(rows)} rows instead of {count}; {cure}")


def check_lengths(
    what: object, rows: Rows, lengths: np.ndarray, cure: str = AGAIN, row: str = "example"
) -> None:
    """Refuse rows with wrong lengths; ``row`` is the name of a row."""
    check_count(what, rows, len(lengths), cure)
    refuse(
        what,
        rows.lengths != lengths,
        lambda at: f"has {rows.lengths[at]} entries instead of {lengths[at]}",
        row=row,
        cure=cure,
    )


def check_succession(
    what: object, words: Rows, cure: str = AGAIN, row: str = "example", least: int = 0
) -> None:
    """Refuse rows that do not count words from ``least``, one after another.

    If words count from 1, a row of zeros has no word.
    """
    for first, part in words.parts():
        values = part.values.astype(np.int64)
        steps = np.diff(values, prepend=values[:1])
        wrong = (steps < 0) | (steps > 1)
        filled = part.lengths > 0
        begins, lasts = (part.ends - part.lengths)[filled], part.ends[filled] - 1
        wrong[begins] = values[begins] != np.minimum(values[lasts], least)
        refuse(what, part.any(wrong), "leaves words out", row=row, cure=cure, first=first)
