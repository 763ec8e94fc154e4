"""An encoded chunk on disk: subwords as numbers of the chunk's own list, features as ids.

Workers write these; the binary streams are then made by looking numbers up, without a line of
text passing through the parent process again.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from ..files import replacing
from ..syntax.layers import FEATURES

SIDES = ("source", "target")
NO_BOUND = 2**31  # of numbers that are checked when their split is opened


@dataclass(frozen=True)
class EncodedSide:
    """One language of a chunk.

    Args:
        symbols: V distinct subwords.
        numbers: (N,) for every subword of every line, its place in ``symbols``.
        sizes: (L,) subwords in each line; they sum to N.
    """

    symbols: list[str]
    numbers: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, lines: Sequence[Sequence[str]]) -> EncodedSide:
        """Number the subwords of L lines."""
        table: dict[str, int] = {}
        numbers = [table.setdefault(piece, len(table)) for line in lines for piece in line]
        sizes = [len(line) for line in lines]
        return cls(list(table), np.array(numbers, np.int32), np.array(sizes, np.int32))

    def counts(self) -> Counter[str]:
        """Occurrences of each subword."""
        found = np.bincount(self.numbers, minlength=len(self.symbols)).tolist()
        return Counter(dict(zip(self.symbols, found)))

    def rows(self, ids: Sequence[int], end: int) -> list[np.ndarray]:
        """Return L rows of ids, each closed by ``end``.

        Args:
            ids: (V,) the id of each symbol.
            end: id of ``</s>``.
        """
        return closed_rows(np.array(ids, np.int64)[self.numbers], self.sizes, end)


@dataclass(frozen=True)
class EncodedChunk:
    """What a worker found in one chunk.

    Args:
        outcomes: how many lines were repaired or skipped.
        source, target: the two languages; both have L lines.
        labels: per feature (N,) ids, one a source subword.
        tree: per column of `syntax.subword_tree` (N,) numbers; empty where nothing was parsed.
    """

    outcomes: dict[str, int]
    source: EncodedSide
    target: EncodedSide
    labels: dict[str, np.ndarray]
    tree: dict[str, np.ndarray] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the chunk under a temporary name, then rename it."""
        header = {
            "outcomes": self.outcomes,
            "features": list(self.labels),
            "tree": list(self.tree),
        }
        arrays: dict[str, Any] = {}
        for name in SIDES:
            side = getattr(self, name)
            header[name] = side.symbols
            arrays |= {f"{name}.numbers": side.numbers, f"{name}.sizes": side.sizes}
        arrays |= {f"labels.{name}": ids for name, ids in self.labels.items()}
        arrays |= {f"tree.{name}": numbers for name, numbers in self.tree.items()}
        save_arrays(path, header, arrays)

    @classmethod
    def load(cls, path: Path) -> EncodedChunk:
        """Read a chunk that `save` wrote.

        Raises:
            ValueError: it is damaged, or holds numbers that stand for nothing.
        """
        with open_arrays(path) as (header, archive):
            sides = [
                EncodedSide(header[name], archive[f"{name}.numbers"], archive[f"{name}.sizes"])
                for name in SIDES
            ]
            for name, side in zip(SIDES, sides):
                check_rows(name, side.numbers, side.sizes, len(side.symbols))
            labels = {name: archive[f"labels.{name}"] for name in header["features"]}
            for name, ids in labels.items():
                check_rows(name, ids, sides[0].sizes, len(FEATURES[name].inventory))
            tree = {name: archive[f"tree.{name}"] for name in header["tree"]}
            for name, numbers in tree.items():
                check_rows(name, numbers, sides[0].sizes, NO_BOUND)
            if len(sides[0].sizes) != len(sides[1].sizes):
                raise ValueError(f"its sides have {[len(side.sizes) for side in sides]} lines")
            return cls(header["outcomes"], *sides, labels, tree)


def save_arrays(path: Path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write arrays and a JSON ``header``; the file appears when it is complete."""
    packed = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with replacing(path) as stream:
        np.savez(stream, header=packed, **arrays)


@contextmanager
def open_arrays(path: Path) -> Iterator[tuple[dict[str, Any], Any]]:
    """Open a file of `save_arrays`: its header, and its arrays by name.

    Raises:
        ValueError: the file is damaged, an array claims to be larger than what is there, or what
            is done with it says so.
    """
    try:
        _check_claims(path)
        with np.load(path) as archive:
            yield json.loads(archive["header"].tobytes()), archive
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, BadZipFile) as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(
            f"{path} is no chunk of this preparation, or damaged ({reason}): remove it (of a shard "
            "the whole shard) and run the same command again"
        ) from None


def check_rows(name: str, numbers: np.ndarray, sizes: np.ndarray, count: int) -> None:
    """Refuse numbers below 0 or from ``count`` on, and sizes that are not theirs.

    Raises:
        ValueError: names the rows.
    """
    for array in (numbers, sizes):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"{name} are no rows of whole numbers")
    if sizes.min(initial=0) < 0 or sizes.sum() != len(numbers):
        raise ValueError(f"{name} has {len(numbers)} numbers in rows of {sizes.sum()}")
    low, high = numbers.min(initial=0), numbers.max(initial=0)
    if low < 0 or (len(numbers) and high >= count):
        raise ValueError(f"{name} has numbers from {low} to {high}, allowed are 0 to {count - 1}")


def _check_claims(path: Path) -> None:
    """Refuse an archive with an array that claims to be larger than what the file holds of it."""
    with ZipFile(path) as archive:
        for part in archive.infolist():
            with archive.open(part) as stream:
                claimed = _claimed(stream)
            if part.compress_type != ZIP_STORED or claimed > part.file_size:
                raise ValueError(f"{part.filename} claims {claimed:,} bytes")


def _claimed(stream: Any) -> int:
    """Return how many bytes an array has by its own words, which stand before it."""
    version = np.lib.format.read_magic(stream)
    one = version == (1, 0)
    read = np.lib.format.read_array_header_1_0 if one else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return math.prod(shape) * dtype.itemsize


def closed_rows(ids: np.ndarray, sizes: np.ndarray, end: int) -> list[np.ndarray]:
    """Cut (N,) ids into L rows and put ``end`` after each."""
    closed = np.insert(ids.astype(np.int64), np.cumsum(sizes), end)
    edges = [0, *np.cumsum(sizes + 1).tolist()]
    return [closed[begin:stop] for begin, stop in zip(edges, edges[1:])]
