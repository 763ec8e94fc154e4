"""What worker processes do to paragraphs with their questions.

The parent writes each chunk of paragraphs as a file of JSON rows; a worker annotates and cuts them,
places the answers and writes one archive, with the rows of every stream and of every text file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...corpora.squad import Answer, Paragraph, Question
from ...data.text_manifest import CONTEXTS, MISALIGNED
from ...files import write_text
from ...text.squad_alignment import COUNTED, Limits, PlacedQuestion, place_question
from ...text.squad_encoder import EncodedParagraph, encode_paragraphs
from ...text.text_encoder import TextEncoder
from ..unknown import unknown_words
from .text_chunks import (
    EncodedExamples,
    Rows,
    check_sizes,
    count_amiss,
    json_lines,
    json_rows,
    sentence_streams,
)

CHUNK_PARAGRAPHS = 16
EXAMPLES = "examples.jsonl"
TRAIN = "train"


@dataclass(frozen=True)
class SquadChunk:
    """One job: some consecutive paragraphs of a split.

    Args:
        split: name of the split.
        count: how many questions they have.
        paragraphs, encoded: files of the paragraphs, and of the result.
    """

    split: str
    count: int
    paragraphs: Path
    encoded: Path

    @classmethod
    def at(cls, work: Path, split: str, number: int, some: Sequence[Paragraph]) -> SquadChunk:
        """Name the files of a split's ``number``-th chunk, and write its paragraphs."""
        stem, count = work / f"{split}.{number:06d}", sum(len(p.questions) for p in some)
        chunk = cls(split, count, Path(f"{stem}.jsonl"), Path(f"{stem}.npz"))
        if not chunk.paragraphs.is_file():
            write_text(chunk.paragraphs, json_lines(map(_row_of, some)))
        return chunk

    def read(self) -> list[Paragraph]:
        """Read the paragraphs."""
        return [
            Paragraph(
                row["title"],
                row["context"],
                tuple(Question(name, text, _answers(found)) for name, text, found in row["qas"]),
                row["place"],
            )
            for row in json_rows(self.paragraphs)
        ]


def _row_of(paragraph: Paragraph) -> dict[str, Any]:
    asked = [
        (q.id, q.text, None if q.answers is None else [(a.text, a.start) for a in q.answers])
        for q in paragraph.questions
    ]
    names = ("title", "context", "place")
    return {name: getattr(paragraph, name) for name in names} | {"qas": asked}


def _answers(found: list[tuple[str, int]] | None) -> tuple[Answer, ...] | None:
    return None if found is None else tuple(Answer(*pair) for pair in found)


class Context:
    """What a process needs beside its jobs; filled by `start_encoding`."""

    encoder: TextEncoder
    limits: Limits
    repair: bool


def start_encoding(encoder: TextEncoder, limits: Limits, repair: bool) -> None:
    """Set what this process encodes with, and how it places answers."""
    Context.encoder, Context.limits, Context.repair = encoder, limits, repair


def encode_chunk(chunk: SquadChunk) -> None:
    """Encode the chunk's paragraphs and questions; write them."""
    if chunk.encoded.is_file():
        return
    paragraphs = chunk.read()
    found = _Findings(chunk.split)
    for number, (paragraph, encoded) in enumerate(
        zip(paragraphs, encode_paragraphs(Context.encoder, paragraphs))
    ):
        found.add(number, paragraph, encoded)
    found.result(_texts(paragraphs)).save(chunk.encoded)


def _texts(paragraphs: Sequence[Paragraph]) -> list[str]:
    return [text for p in paragraphs for text in (p.context, *(q.text for q in p.questions))]


class _Findings:
    """Collects what becomes of a chunk.

    Args:
        split: name of the split; in training, questions whose answers cannot be placed are left
            out.
    """

    def __init__(self, split: str) -> None:
        self.split, self.counts = split, Counter(dict.fromkeys(COUNTED.values(), 0))
        self.questions, self.contexts, self.offsets = [], [], []
        self.paragraph: list[list[int]] = []
        self.answers: list[list[int]] = []
        self.lines: dict[str, list[Any]] = {EXAMPLES: [], CONTEXTS: [], MISALIGNED: []}

    def add(self, number: int, paragraph: Paragraph, encoded: EncodedParagraph) -> None:
        """Add the ``number``-th paragraph with its questions."""
        check_sizes(paragraph.place, [encoded.context, *encoded.questions])
        self.contexts.append(encoded.context)
        self.offsets.append(encoded.offsets.ravel().tolist())
        self.lines[CONTEXTS].append({"title": paragraph.title, "context": paragraph.context})
        for question, sentence in zip(paragraph.questions, encoded.questions):
            placed = place_question(
                question,
                paragraph.context,
                encoded.offsets,
                repair=Context.repair,
                limits=Context.limits,
                pieces=len(sentence.tokens),
            )
            self._count(question, placed, len(sentence.tokens))
            if placed.unplaced and self.split == TRAIN:
                continue
            self.questions.append(sentence)
            self.paragraph.append([number])
            self.answers.append(placed.row())
            self.lines[EXAMPLES].append(_described(question, placed))

    def _count(self, question: Question, placed: PlacedQuestion, pieces: int) -> None:
        for note in placed.notes:
            self.counts[COUNTED[note["reason"]]] += 1
            row = {"split": self.split, "id": question.id, "reason": note["reason"]}
            self.lines[MISALIGNED].append(row | note)
        self.counts["unplaced_questions"] += placed.unplaced
        self.counts["left_out_questions"] += placed.unplaced and self.split == TRAIN
        self.counts["cut_questions"] += pieces > Context.limits.max_query_length

    def result(self, texts: Sequence[str]) -> EncodedExamples:
        """Return all of it, which was made of ``texts``."""
        contexts = sentence_streams(1, self.contexts)
        asked = {f"{name[:-1]}0": Rows.of([]) for name in contexts}  # all may be left out
        if self.questions:
            asked = sentence_streams(0, self.questions)
        streams = {
            **asked,
            **contexts,
            "offsets1": Rows.of(self.offsets),
            "paragraph": Rows.of(self.paragraph),
            "answers": Rows.of(self.answers),
        }
        amiss = count_amiss([*self.questions, *self.contexts], texts)
        amiss.update(self.counts)  # counts of nothing stay
        sides = {"tokens0": self.questions, "tokens1": self.contexts}
        unknown = {
            name: unknown_words(side, Context.encoder.wordpieces.unknown)
            for name, side in sides.items()
        }
        return EncodedExamples(streams, dict(amiss), self.lines, unknown)


def _described(question: Question, placed: PlacedQuestion) -> dict[str, Any]:
    row: dict[str, Any] = {"id": question.id, "texts": [question.text]}
    if placed.answers is not None:
        row["answers"] = [answer.as_json() for answer in placed.answers]
    return row
