"""An encoded chunk on disk: subwords as numbers of the chunk's own list, features as ids.

Workers write these; the binary streams are then made by looking numbers up, without a line of
text passing through the parent process again.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SIDES = ("source", "target")


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
        """Read a chunk that `save` wrote; ValueError, see `load_arrays`."""
        header, arrays = load_arrays(path)
        sides = [
            EncodedSide(header[name], arrays[f"{name}.numbers"], arrays[f"{name}.sizes"])
            for name in SIDES
        ]
        labels = {name: arrays[f"labels.{name}"] for name in header["features"]}
        tree = {name: arrays[f"tree.{name}"] for name in header["tree"]}
        return cls(header["outcomes"], *sides, labels, tree)


def save_arrays(path: Path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write arrays and a JSON ``header`` under a temporary name, then rename the file."""
    packed = np.frombuffer(json.dumps(header).encode(), np.uint8)
    temporary = Path(f"{path}.tmp{os.getpid()}")
    with open(temporary, "wb") as stream:
        np.savez(stream, header=packed, **arrays)
    os.replace(temporary, path)


def load_arrays(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `save_arrays` wrote; no array takes more memory than the file holds of it.

    Returns:
        The header and the arrays by name.

    Raises:
        ValueError: a damaged file, or an array that claims to be larger than what is there.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for part in archive.infolist():
                with archive.open(part) as stream:
                    claimed = _claimed(stream)
                if part.compress_type != zipfile.ZIP_STORED or claimed > part.file_size:
                    raise ValueError(f"{part.filename} claims {claimed:,} bytes")
        with np.load(path) as arrays:
            found = {name: arrays[name] for name in arrays.files}
        return json.loads(found.pop("header").tobytes()), found
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is damaged ({error}): remove it, it is made again") from None


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
