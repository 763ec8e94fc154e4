"""Binary streams of a prepared folder, written in fairseq's memory-mapped format.

A stream is one ``.bin``/``.idx`` pair: ``train.en-de.en`` (source tokens), ``train.en-de.de``
(target tokens), ``train.en-de.en.pos`` (one feature id per source token). All streams of a split
hold the same number of rows, and a feature row is exactly as long as its token row.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from fairseq.data.indexed_dataset import MMapIndexedDatasetBuilder, best_fitting_int_dtype

from ..files import new_file, publish
from ..syntax.rows import Rows


def stream_prefix(folder: Path, split: str, pair: str, stream: str) -> Path:
    """Return the path of a stream without its extension, e.g. ``data-bin/x/train.en-de.en.pos``."""
    return Path(folder) / f"{split}.{pair}.{stream}"


class StreamWriter:
    """Writes one stream under temporary names; `close` renames both files.

    Args:
        prefix: path without extension.
        id_count: size of the id space; it decides the integer width on disk.
    """

    def __init__(self, prefix: Path, id_count: int) -> None:
        self.prefix = prefix
        self.ids = 0
        self._files = {ext: new_file(f"{prefix}.{ext}") for ext in ("bin", "idx")}
        dtype = np.uint8 if id_count <= 256 else best_fitting_int_dtype(id_count)
        self._builder = MMapIndexedDatasetBuilder(str(self._files["bin"]), dtype=dtype)

    def add(self, rows: Rows) -> None:
        """Append the ids of many lines at once."""
        numbers = [row for row in rows if len(row)] or [rows.values[:0]]
        self._builder._data_file.write(
            np.concatenate(numbers).astype(self._builder._dtype).tobytes()
        )
        self._builder._sizes.extend(rows.lengths.tolist())
        self.ids += int(rows.lengths.sum())

    def close(self) -> None:
        """Finish both files and give them their names."""
        self._builder.finalize(str(self._files["idx"]))
        for ext, path in self._files.items():
            publish(path, f"{self.prefix}.{ext}")


def write_stream(prefix: Path, rows: Iterable[Sequence[int]], id_count: int) -> None:
    """Write a whole stream."""
    writer = StreamWriter(prefix, id_count)
    writer.add(Rows.of(rows))
    writer.close()
