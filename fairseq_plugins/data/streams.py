"""Binary streams of a prepared folder, in fairseq's memory-mapped format.

A stream is one ``.bin``/``.idx`` pair: ``train.en-de.en`` (source tokens), ``train.en-de.de``
(target tokens), ``train.en-de.en.pos`` (one feature id per source token). All streams of a split
hold the same number of rows, and a feature row is exactly as long as its token row.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from fairseq.data.indexed_dataset import (
    MMapIndexedDataset,
    MMapIndexedDatasetBuilder,
    best_fitting_int_dtype,
)


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
        self._files = {ext: Path(f"{prefix}.{ext}.tmp{os.getpid()}") for ext in ("bin", "idx")}
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
            os.replace(path, f"{self.prefix}.{ext}")


def write_stream(prefix: Path, rows: Iterable[Sequence[int]], id_count: int) -> tuple[int, int]:
    """Write a whole stream; return the number of rows and of ids."""
    writer = StreamWriter(prefix, id_count)
    for row in rows:
        writer.add(row)
    writer.close()
    return writer.lines, writer.ids


def read_stream(prefix: Path) -> MMapIndexedDataset:
    """Open a stream; FileNotFoundError names the missing file."""
    for ext in ("bin", "idx"):
        if not Path(f"{prefix}.{ext}").is_file():
            raise FileNotFoundError(f"{prefix}.{ext} is missing; prepare the folder again")
    return MMapIndexedDataset(str(prefix))
