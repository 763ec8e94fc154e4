"""The files of one split, written from its chunks: streams, texts, counts, unknown entries."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..data.streams import StreamWriter
from ..files import replacing
from ..syntax.sentence import EncodedSentence
from .chunks import EncodedChunk

logger = logging.getLogger(__name__)

NAMED = 10  # of the most frequent
LONGEST = 40  # shown characters of an entry
MUCH = 0.001  # of a stream: more deserves a warning


class SplitWriter:
    """Writes the files of one split under temporary names, and adds the counts of chunks.

    Args:
        sizes: streams, each with the number of its ids.
    """

    def __init__(self, prefix: Path, sizes: Mapping[str, int], texts: Iterable[str]) -> None:
        self.streams = {
            name: StreamWriter(Path(f"{prefix}.{name}"), size) for name, size in sizes.items()
        }
        self._open = ExitStack()
        self.texts = {
            name: self._open.enter_context(replacing(f"{prefix}.{name}", "w")) for name in texts
        }
        self.counts: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.unknown: dict[str, Counter[str]] = {}

    def add(self, chunk: EncodedChunk) -> None:
        """Append a chunk's rows to every file."""
        for name, writer in self.streams.items():
            writer.add(chunk.streams[name])
        for name, stream in self.texts.items():
            stream.writelines(f"{line}\n" for line in chunk.lines[name])
        self.counts.update(chunk.counts)
        self.notes.update(chunk.notes)
        for name, found in chunk.unknown.items():
            self.unknown.setdefault(name, Counter()).update(found)

    def close(self) -> None:
        """Give all files their final names."""
        for writer in self.streams.values():
            writer.close()
        self._open.close()

    def ids(self, *names: str) -> int:
        """Return the number of ids written into some streams."""
        return sum(self.streams[name].ids for name in names)

    def unknown_of(self, name: str, total: int) -> dict[str, Any]:
        """Return the manifest's entry for unknown entries of a stream with ``total`` ids."""
        unknown = self.unknown.get(name, {})
        commonest: Counter[str] = Counter()
        for text, number in sorted(unknown.items(), key=lambda item: (-item[1], item[0]))[:NAMED]:
            commonest[text if len(text) <= LONGEST else f"{text[:LONGEST]}…"] += number
        return {"count": sum(unknown.values()), "of": total, "commonest": dict(commonest)}


def unknown_words(sentences: Iterable[EncodedSentence], unknown: int) -> Counter[str]:
    """Count the words of wordpieces with the id ``unknown``."""
    return Counter(
        sentence.words[word]
        for sentence in sentences
        for token, word in zip(sentence.tokens, sentence.word_of)
        if token == unknown
    )


def report_unknown(
    split: str, streams: Mapping[str, Mapping[str, Any]], symbol: str, remedy: str
) -> None:
    """Log unknown entries, as fairseq-preprocess does; warn, with a remedy, if there are many."""
    for stream, found in streams.items():
        share = found["count"] / max(found["of"], 1)
        named = ", ".join(f"{text!r} {number}" for text, number in found["commonest"].items())
        logger.log(
            logging.WARNING if share > MUCH else logging.INFO,
            "%s: %d of %d tokens of %s (%.2f %%) replaced by %s%s%s",
            *(split, found["count"], found["of"], stream, 100 * share, symbol),
            f"; most often {named}" if named else "",
            f": {remedy}" if share > MUCH else "",
        )
