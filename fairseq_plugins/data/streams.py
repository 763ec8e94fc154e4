"""Binary streams of a prepared folder, in fairseq's memory-mapped format.

A stream is one ``.bin``/``.idx`` pair: ``train.en-de.en`` (source tokens), ``train.en-de.de``
(target tokens), ``train.en-de.en.pos`` (one feature id per source token). All streams of a split
hold the same number of rows, and a feature row is exactly as long as its token row.

The ``.bin`` file holds all rows one after another; the ``.idx`` file says how long they are and
where they begin. fairseq believes the second, so that it is checked against the first here: before
fairseq opens a stream, and before any of its numbers counts something.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from fairseq.data.indexed_dataset import (
    MMapIndexedDataset,
    MMapIndexedDatasetBuilder,
    best_fitting_int_dtype,
)

from ..files import new_file, publish

AGAIN = "prepare the folder again"
AT_ONCE = 1 << 22  # numbers looked at together
HEADER = struct.Struct("<9sQBQ")  # mark, version, number type, rows
MARK, VERSION = b"MMIDIDX\x00\x00", 1
TYPES = {1: "u1", 2: "i1", 3: "i2", 4: "i4", 5: "i8", 8: "u2", 9: "u4"}  # of whole numbers


def stream_prefix(folder: Path, split: str, pair: str, stream: str) -> Path:
    """Return the path of a stream without its extension, e.g. ``data-bin/x/train.en-de.en.pos``."""
    return Path(folder) / f"{split}.{pair}.{stream}"


def stream_exists(prefix: Path) -> bool:
    """Whether both files of the stream are there."""
    return all(Path(f"{prefix}.{ext}").is_file() for ext in ("bin", "idx"))


class StreamWriter:
    """Writes one stream under temporary names; `close` renames both files.

    Args:
        prefix: path without extension.
        id_count: size of the id space; it decides the integer width on disk.
    """

    def __init__(self, prefix: Path, id_count: int) -> None:
        self.prefix = prefix
        self.lines = self.ids = 0
        self._files = {ext: new_file(f"{prefix}.{ext}") for ext in ("bin", "idx")}
        dtype = np.uint8 if id_count <= 256 else best_fitting_int_dtype(id_count)
        self._builder = MMapIndexedDatasetBuilder(str(self._files["bin"]), dtype=dtype)

    def add(self, row: Sequence[int]) -> None:
        """Append one line's ids."""
        self._builder.add_item(torch.as_tensor(row, dtype=torch.int64))
        self.lines, self.ids = self.lines + 1, self.ids + len(row)

    def close(self) -> None:
        """Finish both files and give them their names."""
        self._builder.finalize(str(self._files["idx"]))
        for ext, path in self._files.items():
            publish(path, f"{self.prefix}.{ext}")


def write_stream(prefix: Path, rows: Iterable[Sequence[int]], id_count: int) -> tuple[int, int]:
    """Write a whole stream; return the number of rows and of ids."""
    writer = StreamWriter(prefix, id_count)
    for row in rows:
        writer.add(row)
    writer.close()
    return writer.lines, writer.ids


def read_stream(prefix: Path) -> MMapIndexedDataset:
    """Open a stream; see `stream_layout` for what is refused."""
    stream_layout(prefix)
    return MMapIndexedDataset(str(prefix))


def stream_layout(prefix: Path) -> tuple[np.ndarray, np.dtype]:
    """Return the lengths of a stream's rows, (N,), and the type of its numbers.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: an index that is none, or that describes other rows than those of the ``.bin``
            file, one after another.
    """
    index, binary = Path(f"{prefix}.idx"), Path(f"{prefix}.bin")
    for path in (binary, index):
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; {AGAIN}")
    with open(index, "rb") as stream:
        head = stream.read(HEADER.size).ljust(HEADER.size)
        mark, version, code, count = HEADER.unpack(head)
        promised, found = HEADER.size + 12 * count, index.stat().st_size
        if (mark, version) != (MARK, VERSION) or code not in TYPES or promised != found:
            raise ValueError(f"{index} is no index of a stream, or not all of one; {AGAIN}")
        sizes = np.fromfile(stream, "<i4", count)  # (N,)
        pointers = np.fromfile(stream, "<i8", count)  # (N,)
    dtype = np.dtype(f"<{TYPES[code]}")
    ends = np.cumsum(sizes, dtype=np.int64) * dtype.itemsize  # (N,)
    apart = pointers != ends - sizes.astype(np.int64) * dtype.itemsize
    if wrong := np.flatnonzero((sizes < 0) | apart).tolist():
        raise ValueError(
            f"{index}, line {wrong[0] + 1}: {sizes[wrong[0]]} numbers from byte "
            f"{pointers[wrong[0]]} on do not follow the line before; {AGAIN}"
        )
    promised, found = int(ends[-1]) if count else 0, binary.stat().st_size
    if promised != found:
        raise ValueError(f"{binary} has {found} bytes, but its index says {promised}; {AGAIN}")
    return sizes, dtype


def stream_values(prefix: Path, dtype: np.dtype) -> np.ndarray:
    """Return all numbers of a stream one after another, mapped from the disk."""
    path = Path(f"{prefix}.bin")
    return np.memmap(path, dtype=dtype, mode="r") if path.stat().st_size else np.empty(0, dtype)


def check_ids(
    what: object, values: np.ndarray, sizes: np.ndarray, bounds: tuple[int, int], names: str
) -> None:
    """Refuse numbers that stand for nothing.

    Args:
        what: the stream, for the message.
        values: all of them, row after row.
        sizes: lengths of the rows.
        bounds: the least of them, and the first beyond the greatest.
        names: what they stand for, e.g. ``token of dict.en.txt``.

    Raises:
        ValueError: names the first line with such a number.
    """
    low, high = bounds
    signed = low > 0 or values.dtype.kind == "i"
    for begin in range(0, len(values), AT_ONCE):
        part = values[begin : begin + AT_ONCE]
        if int(part.max()) < high and not (signed and int(part.min()) < low):
            continue
        at = begin + int(np.flatnonzero((part < low) | (part >= high))[0])
        row = int(np.searchsorted(np.cumsum(sizes, dtype=np.int64), at, side="right"))
        raise ValueError(
            f"{what}, line {row + 1}: id {values[at]} is no {names}, whose ids are {low} to "
            f"{high - 1}; {AGAIN}"
        )
