"""A chunk of a split: the job of a worker, and its result on disk.

A job may come with a file of rows of JSON; its result is a file of safetensors: integer rows with a
header of JSON. Both appear only when complete, so a killed preparation continues where it stopped.
The binary streams are then made from chunks, without reading text again in the parent process.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..errors import InputError
from ..files import write_bytes, write_text
from ..syntax.layer import Layer
from ..syntax.rows import Rows
from ..syntax.sentence import EncodedSentence

NO_BOUND = 2**31  # of numbers that are checked when their split is opened


@dataclass(frozen=True)
class Chunk:
    """One job: some consecutive lines or examples of a split."""

    split: str
    count: int  # number of lines or examples
    stem: Path  # prefix of its files
    encoded: Path  # the result
    source: Any = None  # source of the input, if not a file of its own

    def file(self, name: str = "rows.jsonl") -> Path:
        """Return one of its files, by default its rows."""
        return Path(f"{self.stem}.{name}")


def json_line(row: Any) -> str:
    return json.dumps(row, ensure_ascii=False)


def write_rows(path: Path, rows: Iterable[Any]) -> None:
    write_text(path, "".join(f"{json_line(row)}\n" for row in rows))


def read_rows(path: Path) -> Iterator[Any]:
    with open(path, encoding="utf-8", newline="\n") as stream:
        yield from map(json.loads, stream)


@dataclass(frozen=True)
class EncodedChunk:
    """A worker's result for one chunk."""

    streams: dict[str, Rows]  # name -> rows
    # counts of the manifest, to add over chunks
    counts: dict[str, int] = field(default_factory=dict)
    # counts of repaired, skipped or unexpected items
    notes: dict[str, int] = field(default_factory=dict)
    # name of a text file -> lines of the chunk
    lines: dict[str, list[str]] = field(default_factory=dict)
    # name of a stream -> entries that its dictionary lacks, with counts
    unknown: dict[str, dict[str, int]] = field(default_factory=dict)
    # name of a stream -> symbols of its numbers, if these are the chunk's own
    symbols: dict[str, list[str]] = field(default_factory=dict)
    # name of a learnt layer -> its values, with numbers of words
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
            bounds: required streams -> number of ids, if without a list of symbols.
            alike: groups of streams whose rows must have equal lengths.
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
    """Return rows of texts as numbers, and the chunk's own list of symbols."""
    table: dict[str, int] = {}
    found = Rows.of([table.setdefault(value, len(table)) for value in row] for row in rows)
    return found, [*table]


def add_layers(
    chunk: EncodedChunk, sentences: Sequence[EncodedSentence], layers: Mapping[str, Layer]
) -> None:
    """Add what sentences carry in layers to a chunk, by the names of its streams.

    Of open layers come which values there are, and how many words have each.
    """
    for name, layer in layers.items():
        rows = [sentence.layers[layer.name] for sentence in sentences]
        if layer.is_open:
            chunk.streams[name], chunk.symbols[name] = numbered(rows)
            before = chunk.tallies.get(layer.name, {})
            chunk.tallies[layer.name] = dict(Counter(before) + Counter(chain.from_iterable(rows)))
        else:
            chunk.streams[name] = Rows.of(rows)


# errors of a chunk in another format
WRONG = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


@contextmanager
def open_chunk(path: Path) -> Iterator[tuple[dict[str, Any], Callable[[str], np.ndarray]]]:
    """Open a finished chunk: yield its header, and a function that reads an array by name."""
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
    """Refuse numbers outside 0 to ``count`` - 1, and wrong sizes."""
    for array in (numbers, sizes):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InputError(f"{name} are no rows of whole numbers")
    if sizes.min(initial=0) < 0 or sizes.sum() != len(numbers):
        raise InputError(f"{name} has {len(numbers)} numbers in rows of {sizes.sum()}")
    low, high = numbers.min(initial=0), numbers.max(initial=0)
    if low < 0 or (len(numbers) and high >= count):
        raise InputError(f"{name} has numbers from {low} to {high}, allowed are 0 to {count - 1}")
