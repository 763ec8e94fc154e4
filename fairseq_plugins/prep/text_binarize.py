"""Encoded chunks of examples -> the files of a split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data.streams import StreamWriter
from ..data.text_manifest import TextManifest
from ..files import new_file, publish
from ..syntax.layers import STANDARD, layers_of
from .encoded import NO_BOUND
from .text_chunks import MOST_WORDS, EncodedExamples, TextChunk
from .text_scan import TextScan
from .unknown import summary

ANY_NUMBER = NO_BOUND  # ids without a bound of their own are stored in 32 bits


class SplitWriter:
    """Writes the files of one split, and its counts into the manifest.

    Args:
        folder: the prepared folder.
        split: name of the split.
        manifest: of the folder.
        scan: what the split's file holds.
        pieces: size of the vocabulary.
    """

    def __init__(
        self, folder: Path, split: str, manifest: TextManifest, *, scan: TextScan, pieces: int
    ) -> None:
        self.prefix, self.split, self.manifest, self.scan = folder / split, split, manifest, scan
        self.amiss: Counter[str] = Counter(scan.dropped)
        self.unknown: dict[str, Counter[str]] = {}
        self.longest = 0
        sizes = stream_sizes(manifest, pieces)
        self.scores = manifest.target == "score" and scan.labelled > 0
        if scan.labelled and not self.scores:
            sizes["label"] = len(manifest.labels)
        self.sizes = sizes
        self.streams = open_streams(self.prefix, sizes)
        names = ["examples.jsonl", *(["score.txt"] if self.scores else [])]
        self.texts = {name: TextWriter(Path(f"{self.prefix}.{name}")) for name in names}

    def add(self, chunk: TextChunk) -> None:
        """Append a chunk's rows to every file."""
        encoded = EncodedExamples.load(chunk.encoded, self.sizes)
        for name, writer in self.streams.items():
            for row in encoded.streams[name]:
                writer.add(row)
        count = self.manifest.sentences
        lengths = sum(encoded.streams[f"tokens{k}"].sizes for k in range(count))
        self.longest = max(self.longest, int(lengths.max()) + 1 + count)
        self.amiss.update(encoded.amiss)
        add_unknown(self.unknown, encoded)
        self.texts["examples.jsonl"].add(chunk.examples.read_text(encoding="utf-8"))
        if self.scores:
            rows = (str(float(gold[0])) if gold else "" for gold in chunk.read_gold())
            self.texts["score.txt"].add("".join(f"{row}\n" for row in rows))

    def close(self) -> None:
        """Give all files their names, and fill in the manifest."""
        for writer in (*self.streams.values(), *self.texts.values()):
            writer.close()
        pairs = range(self.manifest.sentences)
        self.manifest.splits[self.split] = {
            "examples": self.scan.examples,
            "labelled": self.scan.labelled,
            "tokens": sum(self.streams[f"tokens{k}"].ids for k in pairs),
            "words": sum(self.streams[f"{STANDARD[0]}{k}"].ids for k in pairs),
            "longest": self.longest,
            "unknown": unknown_of(self.unknown, self.streams),
        }
        self.manifest.alignment[self.split] = dict(sorted(self.amiss.items()))


def add_unknown(counts: dict[str, Counter[str]], encoded: EncodedExamples) -> None:
    """Add what a chunk's streams have of unknown words."""
    for name, found in encoded.unknown.items():
        counts.setdefault(name, Counter()).update(found)


def unknown_of(
    counts: Mapping[str, Counter[str]], streams: Mapping[str, StreamWriter]
) -> dict[str, dict[str, Any]]:
    """Describe the unknown words of each stream for the manifest."""
    return {name: summary(found, streams[name].ids) for name, found in sorted(counts.items())}


def stream_sizes(manifest: TextManifest, pieces: int) -> dict[str, int]:
    """Return the streams of a folder, each with the number of its ids.

    Args:
        manifest: of the folder.
        pieces: size of the vocabulary.
    """
    widths = {"tokens": pieces, "words": MOST_WORDS, "offsets": ANY_NUMBER}
    widths |= {layer.name: layer.id_count(MOST_WORDS) for layer in layers_of(manifest.layers)}
    return {name: widths[name[:-1]] for name in manifest.streams()}


def open_streams(prefix: Path, sizes: Mapping[str, int]) -> dict[str, StreamWriter]:
    """Begin the streams of a split."""
    return {name: StreamWriter(Path(f"{prefix}.{name}"), size) for name, size in sizes.items()}


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
