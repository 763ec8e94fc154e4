"""Rows of whole numbers, and checks of what stands in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from ..syntax.tree import first_bad_sentence
from .streams import AGAIN, check_ids, stream_layout


class Rows:
    """Rows of whole numbers.

    Args:
        values: all rows one after another.
        lengths: numbers in each row.
        ends: where each row ends among the values, if they are not all rows one after another.
    """

    def __init__(
        self, values: np.ndarray, lengths: np.ndarray, ends: np.ndarray | None = None
    ) -> None:
        self.values = values
        self.lengths = np.asarray(lengths, dtype=np.int64)
        self.ends = np.cumsum(self.lengths) if ends is None else ends

    @classmethod
    def read(cls, prefix: Path) -> Rows:
        """Read a stream; see `streams.stream_layout` for what is refused."""
        lengths, dtype = stream_layout(prefix)
        return cls(np.fromfile(f"{prefix}.bin", dtype=dtype), lengths)

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> Rows:
        """Take rows as they are."""
        rows = list(rows)
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        return cls(np.fromiter(chain.from_iterable(rows), np.int64, lengths.sum()), lengths)

    def check(self, what: object, count: int, names: str, least: int = 0) -> None:
        """Refuse numbers below ``least`` or from ``count`` on; see `streams.check_ids`."""
        check_ids(what, self.values, self.lengths, (least, count), names)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lengths)

    def __getitem__(self, index: int) -> np.ndarray:
        """Return a row."""
        end = self.ends[index]
        return self.values[end - self.lengths[index] : end]

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield the rows."""
        begins = (self.ends - self.lengths).tolist()
        return (self.values[begin:end] for begin, end in zip(begins, self.ends.tolist()))

    def gather(self, index: np.ndarray) -> Rows:
        """Return the rows of these numbers, some maybe several times; their values are shared."""
        return Rows(self.values, self.lengths[index], self.ends[index])

    @property
    def lasts(self) -> np.ndarray:
        """The last number of each row; -1 in an empty one."""
        out = np.full(len(self), -1, dtype=np.int64)
        filled = self.lengths > 0
        out[filled] = self.values[self.ends[filled] - 1]
        return out


def check_lengths(what: str, rows: Rows, lengths: np.ndarray, cure: str = AGAIN) -> None:
    """Refuse rows of other lengths than those given."""
    if len(rows) != len(lengths):
        raise ValueError(f"{what} has {len(rows)} rows instead of {len(lengths)}; prepare again")
    wrong = np.flatnonzero(rows.lengths != lengths)
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(
            f"{what}: example {at + 1} has {rows.lengths[at]} entries instead of {lengths[at]}; "
            f"{cure}"
        )


def check_succession(what: str, words: Rows) -> None:
    """Refuse rows that do not count words from 0, one after another."""
    values = words.values.astype(np.int64)
    steps = np.diff(values, prepend=0)
    begins = (words.ends - words.lengths)[words.lengths > 0]
    steps[begins] = np.where(values[begins] == 0, 0, -1)
    wrong = np.flatnonzero((steps < 0) | (steps > 1))
    if len(wrong):
        at = int(np.searchsorted(words.ends, wrong[0], side="right"))
        raise ValueError(f"{what}: example {at + 1} leaves words out; {AGAIN}")


def parents_of(what: str, heads: Rows, cure: str = AGAIN) -> Rows:
    """Return heads that count from 1 as indices from 0, a root's its own, if they form trees."""
    if bad := first_bad_sentence(heads.values, heads.lengths):
        at, error = bad
        raise ValueError(f"{what}: example {at + 1}: {error}; {cure}")
    values = heads.values.astype(np.int32) - 1  # (N,)
    roots = np.flatnonzero(values < 0)
    begins = np.repeat(heads.ends - heads.lengths, heads.lengths)  # (N,)
    values[roots] = roots - begins[roots]
    return Rows(values, heads.lengths)
