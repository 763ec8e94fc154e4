"""Encoded chunks of paragraphs and questions -> the files of a split."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from ..data.text_manifest import CONTEXTS, MISALIGNED, TextManifest
from ..syntax.layers import STANDARD
from ..text.squad_alignment import ANSWERABLE, UNKNOWN
from .squad_chunks import EXAMPLES, SquadChunk
from .text_binarize import (
    ANY_NUMBER,
    TextWriter,
    add_unknown,
    open_streams,
    stream_sizes,
    unknown_of,
)
from .text_chunks import EncodedExamples, json_lines

SPECIAL_TOKENS = 3  # [CLS] question [SEP] context [SEP]


class SquadSplitWriter:
    """Writes the files of one split, and its counts into the manifest.

    Args:
        folder: the prepared folder.
        split: name of the split.
        manifest: of the folder.
        misaligned: the folder's list of answers that could not be placed exactly.
        pieces: size of the vocabulary.
    """

    def __init__(
        self,
        folder: Path,
        split: str,
        manifest: TextManifest,
        *,
        misaligned: TextWriter,
        pieces: int,
    ) -> None:
        self.split, self.manifest, self.misaligned = split, manifest, misaligned
        sizes = stream_sizes(manifest, pieces) | dict.fromkeys(("paragraph", "answers"), ANY_NUMBER)
        self.sizes, self.streams = sizes, open_streams(folder / split, sizes)
        self.texts = {name: TextWriter(folder / f"{split}.{name}") for name in (EXAMPLES, CONTEXTS)}
        self.amiss: Counter[str] = Counter()
        self.unknown: dict[str, Counter[str]] = {}
        self.states: Counter[int] = Counter()
        self.longest = self.paragraphs = 0

    def add(self, chunk: SquadChunk) -> None:
        """Append a chunk's rows to every file; its paragraphs count on from those before."""
        found = EncodedExamples.load(chunk.encoded, self.sizes)
        shift = {"paragraph": self.paragraphs}
        for name, writer in self.streams.items():
            for row in found.streams[name]:
                writer.add(row + shift.get(name, 0))
        for name, writer in (*self.texts.items(), (MISALIGNED, self.misaligned)):
            writer.add(json_lines(found.lines[name]))
        self.amiss.update(found.amiss)
        add_unknown(self.unknown, found)
        self.states.update(int(row[0]) for row in found.streams["answers"])
        contexts = found.streams["tokens1"].sizes[found.streams["paragraph"].ids]
        lengths = found.streams["tokens0"].sizes + contexts + SPECIAL_TOKENS
        self.longest = max(self.longest, int(np.max(lengths, initial=0)))
        self.paragraphs += len(found.streams["tokens1"].sizes)

    def close(self) -> None:
        """Give all files their names, and fill in the manifest."""
        for writer in (*self.streams.values(), *self.texts.values()):
            writer.close()
        self.manifest.splits[self.split] = {
            "examples": self.states.total(),
            "labelled": self.states.total() - self.states[UNKNOWN],
            "tokens": sum(self.streams[f"tokens{k}"].ids for k in range(2)),
            "words": sum(self.streams[f"{STANDARD[0]}{k}"].ids for k in range(2)),
            "longest": self.longest,
            "paragraphs": self.paragraphs,
            "answerable": self.states[ANSWERABLE],
            "unknown": unknown_of(self.unknown, self.streams),
        }
        self.manifest.alignment[self.split] = dict(sorted(self.amiss.items()))
