"""The files of one split, written of its encoded chunks: binary streams, text files, counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..data.streams import StreamWriter
from ..files import new_file, publish
from .chunks import EncodedChunk
from .unknown import summary


class SplitWriter:
    """Writes the files of one split under temporary names, and adds up what chunks count.

    Args:
        prefix: what the names of the files begin with.
        sizes: streams, each with the number of its ids.
        texts: endings of text files.
    """

    def __init__(self, prefix: Path, sizes: Mapping[str, int], texts: Iterable[str]) -> None:
        self.streams = {
            name: StreamWriter(Path(f"{prefix}.{name}"), size) for name, size in sizes.items()
        }
        self.texts = {name: TextWriter(Path(f"{prefix}.{name}")) for name in texts}
        self.counts: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.unknown: dict[str, Counter[str]] = {}
        self.longest = 0

    def add(self, chunk: EncodedChunk) -> None:
        """Append a chunk's rows to every file."""
        for name, writer in self.streams.items():
            for row in chunk.streams[name]:
                writer.add(row)
        for name, writer in self.texts.items():
            writer.add("".join(f"{line}\n" for line in chunk.lines[name]))
        self.counts.update(chunk.counts)
        self.notes.update(chunk.notes)
        for name, found in chunk.unknown.items():
            self.unknown.setdefault(name, Counter()).update(found)
        self.longest = max(self.longest, chunk.longest)

    def close(self) -> None:
        """Give all files their names."""
        for writer in (*self.streams.values(), *self.texts.values()):
            writer.close()

    def ids(self, *names: str) -> int:
        """Return how many ids were written into some streams."""
        return sum(self.streams[name].ids for name in names)

    def unknown_of(self, name: str, total: int) -> dict[str, Any]:
        """Describe what the dictionary of a stream of ``total`` ids lacks, for the manifest."""
        return summary(self.unknown.get(name, {}), total)


class TextWriter:
    """Writes a text file under a temporary name; `close` renames it."""

    def __init__(self, path: Path) -> None:
        self.path, self.temporary = path, new_file(path)
        self._stream = open(self.temporary, "w", encoding="utf-8", newline="\n")  # noqa: SIM115

    def add(self, text: str) -> None:
        """Append text."""
        self._stream.write(text)

    def close(self) -> None:
        """Finish the file and give it its name."""
        self._stream.close()
        publish(self.temporary, self.path)
