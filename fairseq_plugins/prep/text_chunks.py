"""What worker processes do to examples, and what an encoded chunk is on disk.

The parent writes each chunk of examples as JSON-lines files (the examples as they stay in the
prepared folder, their gold labels, and their parses if they are given); a worker turns them into
one archive of integer rows. Files appear under their names only when complete, so that a killed
preparation goes on where it was.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..corpora.conllu_parses import Parses
from ..corpora.examples import Example
from ..files import write_text
from ..syntax.annotation import Annotation
from ..text.raw_text import overlong_words
from ..text.text_encoder import EncodedSentence, TextEncoder
from .encoded import check_rows, open_arrays, save_arrays
from .text_scan import labels_of
from .unknown import unknown_words

CHUNK_EXAMPLES = 1000
MOST_WORDS = 65_000  # word numbers are stored in 16 bits


@dataclass(frozen=True)
class TextChunk:
    """One job: some consecutive examples of a split.

    Args:
        split: name of the split.
        count: how many examples.
        examples, gold, parses, encoded: files of the examples, of their labels, of parses that
            were given, and of the result.
    """

    split: str
    count: int
    examples: Path
    gold: Path
    parses: Path
    encoded: Path

    @classmethod
    def at(cls, work: Path, split: str, number: int, count: int) -> TextChunk:
        """Name the files of a split's ``number``-th chunk."""
        stem = work / f"{split}.{number:06d}"
        names = ("examples.jsonl", "gold.jsonl", "parses.jsonl", "npz")
        return cls(split, count, *(Path(f"{stem}.{name}") for name in names))

    def write(self, found: Sequence[tuple[Example, Parses | None]]) -> None:
        """Write examples, labels and given parses, unless an earlier run has."""
        examples = [example for example, _ in found]
        contents = {self.examples: map(_described, examples), self.gold: map(labels_of, examples)}
        if found[0][1] is not None:
            contents[self.parses] = ([_noted(note) for note in parses or ()] for _, parses in found)
        for path, rows in contents.items():
            if not path.is_file():
                write_text(path, json_lines(rows))

    def read(self) -> list[Example]:
        """Read the examples without their labels."""
        return [
            Example(row["id"], tuple(row["texts"]), tuple(row["words"]) if "words" in row else None)
            for row in json_rows(self.examples)
        ]

    def read_parses(self) -> list[Parses] | None:
        """Read the given parses, one annotation a text of each example; None without."""
        if not self.parses.is_file():
            return None
        rows = json_rows(self.parses)
        return [tuple(Annotation(*note) for note in row) for row in rows]

    def read_gold(self) -> list[list[str]]:
        """Read the labels: none, one, or one a word."""
        return list(json_rows(self.gold))


def _described(example: Example) -> dict[str, Any]:
    row: dict[str, Any] = {"id": example.id, "texts": example.texts}
    return row if example.words is None else row | {"words": example.words}


def _noted(note: Annotation) -> tuple[list[str], dict[str, list[Any]]]:
    return note.words, note.layers


def json_lines(rows: Iterable[Any]) -> str:
    """Write rows as JSON, one a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def json_rows(path: Path) -> Iterator[Any]:
    """Read a file of JSON rows."""
    with open(path, encoding="utf-8", newline="\n") as stream:
        yield from map(json.loads, stream)


@dataclass(frozen=True)
class Rows:
    """Rows of integers of unequal length.

    Args:
        ids: all of them, one row after the other.
        sizes: length of each row.
    """

    ids: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Rows:
        """Put rows together."""
        sizes = np.array([len(row) for row in rows], np.int64)
        return cls(np.fromiter(chain.from_iterable(rows), np.int32), sizes)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield the rows."""
        return iter(np.split(self.ids, np.cumsum(self.sizes))[:-1])


@dataclass(frozen=True)
class EncodedExamples:
    """What a worker made of one chunk.

    Args:
        streams: name -> rows, one an example.
        amiss: counts of words and wordpieces that met otherwise than expected.
        lines: name of a file of JSON rows -> what the chunk adds to it.
        unknown: name of a stream of wordpieces -> unknown words and how often each occurs.
    """

    streams: dict[str, Rows]
    amiss: dict[str, int]
    lines: dict[str, list[Any]] = field(default_factory=dict)
    unknown: dict[str, dict[str, int]] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the chunk under a temporary name, then rename it."""
        arrays = {f"{name}.ids": rows.ids for name, rows in self.streams.items()}
        arrays |= {f"{name}.sizes": rows.sizes for name, rows in self.streams.items()}
        header = {name: getattr(self, name) for name in ("amiss", "lines", "unknown")}
        header["streams"] = list(self.streams)
        save_arrays(path, header, arrays)

    @classmethod
    def load(cls, path: Path, counts: Mapping[str, int]) -> EncodedExamples:
        """Read a chunk that `save` wrote.

        Args:
            path: of the chunk.
            counts: streams that it must have, each with the number of its ids.

        Raises:
            ValueError: it is damaged, or holds numbers that stand for nothing.
        """
        with open_arrays(path) as (header, archive):
            streams = {
                name: Rows(archive[f"{name}.ids"], archive[f"{name}.sizes"])
                for name in header["streams"]
            }
            for name, count in counts.items():
                check_rows(name, streams[name].ids, streams[name].sizes, count)
            return cls(streams, header["amiss"], header["lines"], header.get("unknown", {}))


class Context:
    """What a process needs beside its jobs; filled by `start_encoding`."""

    encoder: TextEncoder
    label_ids: dict[str, int]


def start_encoding(encoder: TextEncoder, labels: Iterable[str]) -> None:
    """Set the encoder and the labels in id order (none for scores) of this process."""
    Context.encoder = encoder
    Context.label_ids = {label: i for i, label in enumerate(labels)}


def encode_chunk(chunk: TextChunk) -> None:
    """Encode the chunk's examples; write them."""
    if chunk.encoded.is_file():
        return
    examples = chunk.read()
    encoded = Context.encoder.encode(examples, chunk.read_parses())
    for example, sentences in zip(examples, encoded):
        check_sizes(f"{chunk.split}: example {example.id}", sentences)
    streams: dict[str, Rows] = {}
    unknown: dict[str, dict[str, int]] = {}
    for k in range(len(encoded[0])):
        side = [sentences[k] for sentences in encoded]
        streams |= sentence_streams(k, side)
        unknown[f"tokens{k}"] = unknown_words(side, Context.encoder.wordpieces.unknown)
    if Context.label_ids:
        ids = Context.label_ids
        streams["label"] = Rows.of([[ids[label] for label in row] for row in chunk.read_gold()])
    amiss = count_amiss(chain.from_iterable(encoded), texts_of(examples))
    EncodedExamples(streams, dict(amiss), unknown=unknown).save(chunk.encoded)


def check_sizes(name: str, sentences: Iterable[EncodedSentence]) -> None:
    """Refuse more words than can be stored.

    Raises:
        ValueError: names the example.
    """
    for sentence in sentences:
        if len(sentence.words) > MOST_WORDS:
            raise ValueError(
                f"{name} has a sentence of {len(sentence.words)} words; {MOST_WORDS} can be stored"
            )


def texts_of(examples: Iterable[Example]) -> Iterator[str]:
    """Yield the texts and given words of examples."""
    for example in examples:
        yield from (*example.texts, *(example.words or ()))


def count_amiss(sentences: Iterable[EncodedSentence], texts: Iterable[str]) -> Counter[str]:
    """Count the words and wordpieces that met otherwise than expected, and overlong words."""
    amiss: Counter[str] = Counter(misaligned_wordpieces=0, repaired_words=0)
    amiss["overlong_words"] = sum(map(overlong_words, texts))
    for sentence in sentences:
        amiss["misaligned_wordpieces"] += sentence.misaligned
        amiss["repaired_words"] += sentence.repaired
    return amiss


def sentence_streams(k: int, sentences: Sequence[EncodedSentence]) -> dict[str, Rows]:
    """Collect the streams of the examples' ``k``-th sentences."""
    found = {
        f"tokens{k}": Rows.of([sentence.tokens for sentence in sentences]),
        f"words{k}": Rows.of([sentence.word_of for sentence in sentences]),
    }
    for name in sentences[0].layers:
        found[f"{name}{k}"] = Rows.of([sentence.layers[name] for sentence in sentences])
    return found
