"""Binary streams of a prepared folder, written in fairseq's memory-mapped format.

A stream is one ``.bin``/``.idx`` pair: ``train.en-de.en`` (source tokens), ``train.en-de.de``
(target tokens), ``train.en-de.en.words`` (the word of each source subword, from 1; 0 for none, and
nothing for ``</s>``), ``train.en-de.en.pos`` (one id per source word). All streams of a split hold
the same number of rows.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ..files import new_file, publish
from ..syntax.rows import HEADER, MARK, TYPES, VERSION, Rows

# the first id that is too large, and the code of the number type (`TYPES`), as fairseq chooses
WIDTHS = ((257, 1), (65_500, 8), (2**32 - 1, 9), (2**63, 5))


def stream_prefix(folder: Path, split: str, pair: str, stream: str) -> Path:
    """Return the path of a stream without its extension, e.g. ``data-bin/x/train.en-de.en.pos``."""
    return Path(folder) / f"{split}.{pair}.{stream}"


class StreamWriter:
    """Writes one stream under temporary names; `close` renames both files.

    Args:
        prefix: path without extension.
        id_count: number of ids; decides the integer width on disk.
    """

    def __init__(self, prefix: Path, id_count: int) -> None:
        self.prefix, self.ids = prefix, 0
        self._files = {ext: new_file(f"{prefix}.{ext}") for ext in ("bin", "idx")}
        code = next(code for most, code in WIDTHS if id_count < most)
        self._code, self._dtype = code, np.dtype(f"<{TYPES[code]}")
        self._numbers = self._files["bin"].open("wb")
        self._sizes = [np.empty(0, np.int64)]

    def add(self, rows: Rows) -> None:
        """Append the ids of many lines at once."""
        numbers = [row for row in rows if len(row)] or [rows.values[:0]]
        self._numbers.write(np.concatenate(numbers).astype(self._dtype).tobytes())
        self._sizes.append(rows.lengths)
        self.ids += int(rows.lengths.sum())

    def close(self) -> None:
        """Finish both files and give them their names."""
        self._numbers.close()
        sizes = np.concatenate(self._sizes)
        begins = (np.cumsum(sizes) - sizes) * self._dtype.itemsize
        with self._files["idx"].open("wb") as stream:
            stream.write(HEADER.pack(MARK, VERSION, self._code, len(sizes)))
            stream.write(sizes.astype("<i4").tobytes() + begins.astype("<i8").tobytes())
        for ext, path in self._files.items():
            publish(path, f"{self.prefix}.{ext}")


def write_stream(prefix: Path, rows: Iterable[Sequence[int]], id_count: int) -> None:
    """Write a whole stream."""
    writer = StreamWriter(prefix, id_count)
    writer.add(Rows.of(rows))
    writer.close()
