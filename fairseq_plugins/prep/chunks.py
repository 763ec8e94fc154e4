"""A chunk of a split: the job of a worker, and what the worker leaves on disk.

A job may come with a file of rows of JSON; what a worker makes of it is a file of safetensors,
integer rows with a header of JSON. Both appear under their names only when complete, so that a
preparation that was killed goes on where it was. The binary streams are then made of the chunks
without a line of text being read again in the parent process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..errors import InputError
from ..files import write_bytes, write_text
from ..syntax.rows import Rows

NO_BOUND = 2**31  # of numbers that are checked when their split is opened


@dataclass(frozen=True)
class Chunk:
    """One job: some consecutive lines or examples of a split."""

    split: str  # name of the split
    count: int  # how many they are
    stem: Path  # what the names of its files begin with
    encoded: Path  # what is made of it in the end
    source: Any = None  # where it is read from, if that is no file of its own

    def file(self, name: str = "rows.jsonl") -> Path:
        """Return one of its files, that of its rows if no other is named."""
        return Path(f"{self.stem}.{name}")


def json_line(row: Any) -> str:
    """Write a row of a text file of examples."""
    return json.dumps(row, ensure_ascii=False)


def write_rows(path: Path, rows: Iterable[Any]) -> None:
    """Write rows as JSON, one a line."""
    write_text(path, "".join(f"{json_line(row)}\n" for row in rows))


def read_rows(path: Path) -> Iterator[Any]:
    """Read a file of JSON rows."""
    with open(path, encoding="utf-8", newline="\n") as stream:
        yield from map(json.loads, stream)


@dataclass(frozen=True)
class EncodedChunk:
    """What a worker made of one chunk."""

    streams: dict[str, Rows]  # name -> rows
    # what the manifest says of a split, to be added up
    counts: dict[str, int] = field(default_factory=dict)
    # the same of what was repaired, passed over or met otherwise than expected
    notes: dict[str, int] = field(default_factory=dict)
    # name of a text file -> lines that the chunk adds to it
    lines: dict[str, list[str]] = field(default_factory=dict)
    # name of a stream -> what its dictionary lacks, and how often each occurs
    unknown: dict[str, dict[str, int]] = field(default_factory=dict)
    # name of a stream -> what its numbers stand for, if that is the chunk's own list
    symbols: dict[str, list[str]] = field(default_factory=dict)
    # name of a layer that is learnt -> its values, and how many words have each
    tallies: dict[str, dict[str, int]] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the chunk under a temporary name, then rename it."""
        header = {name: value for name, value in vars(self).items() if name != "streams"}
        arrays = {f"{name}.ids": rows.values.astype("i4") for name, rows in self.streams.items()}
        arrays |= {f"{name}.sizes": rows.lengths for name, rows in self.streams.items()}
        packed = json.dumps(header | {"streams": [*self.streams]}).encode()
        arrays["header"] = np.frombuffer(packed, np.uint8)  # metadata have at most 100 MB
        write_bytes(path, save(arrays))

    @classmethod
    def load(cls, path: Path, bounds: Mapping[str, int], *alike: Sequence[str]) -> EncodedChunk:
        """Read a chunk that `save` wrote.

        Args:
            path: of the chunk.
            bounds: streams that it must have, each with the number of its ids, unless it has a
                list of symbols.
            alike: groups of streams whose rows must be as long as each other's.

        Raises:
            InputError: it is damaged, or holds numbers that stand for nothing.
        """
        with open_chunk(path) as (header, array):
            names = header.pop("streams")
            streams = {name: (array(f"{name}.ids"), array(f"{name}.sizes")) for name in names}
            own = {name: len(symbols) for name, symbols in header["symbols"].items()}
            for name, bound in {**bounds, **own}.items():
                check_rows(name, *streams[name], bound)
            for group in alike:
                sizes = [streams[name][1] for name in group]
                if not all(np.array_equal(sizes[0], other) for other in sizes):
                    raise InputError(f"{', '.join(group)} have rows of unequal length")
            return cls({name: Rows(*arrays) for name, arrays in streams.items()}, **header)


def numbered(rows: Iterable[Sequence[str]]) -> tuple[Rows, list[str]]:
    """Return rows of texts as numbers, and what these stand for, a list of a chunk's own."""
    table: dict[str, int] = {}
    found = Rows.of([table.setdefault(value, len(table)) for value in row] for row in rows)
    return found, [*table]


# what another form of a chunk than ours comes to
WRONG = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


@contextmanager
def open_chunk(path: Path) -> Iterator[tuple[dict[str, Any], Callable[[str], np.ndarray]]]:
    """Open a chunk that is made: its header, and what reads an array by name."""
    try:
        with safe_open(path, "np") as archive:
            yield json.loads(archive.get_tensor("header").tobytes()), archive.get_tensor
    except (SafetensorError, *WRONG) as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise InputError(
            f"{path} is no chunk of this preparation, or damaged ({reason}): remove it (of a shard "
            "the whole shard) and run the same command again"
        ) from None


def check_rows(name: str, numbers: np.ndarray, sizes: np.ndarray, count: int) -> None:
    """Refuse numbers below 0 or from ``count`` on, and other sizes; InputError names the rows."""
    for array in (numbers, sizes):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InputError(f"{name} are no rows of whole numbers")
    if sizes.min(initial=0) < 0 or sizes.sum() != len(numbers):
        raise InputError(f"{name} has {len(numbers)} numbers in rows of {sizes.sum()}")
    low, high = numbers.min(initial=0), numbers.max(initial=0)
    if low < 0 or (len(numbers) and high >= count):
        raise InputError(f"{name} has numbers from {low} to {high}, allowed are 0 to {count - 1}")
