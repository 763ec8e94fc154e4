"""What workers do with paragraphs: annotate and cut them and their questions, place the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ...corpora.squad import GoldAnswer, Paragraph, Question
from ...data.folder_names import CONTEXTS, EXAMPLES, MISALIGNED
from ...data.text_rows import Rows
from ...text.squad_alignment import (
    ANSWERABLE,
    COUNTED,
    UNKNOWN,
    Limits,
    PlacedQuestion,
    place_question,
)
from ...text.squad_encoder import EncodedParagraph, encode_paragraphs
from ...text.text_encoder import EncodedSentence, TextEncoder
from ..chunks import Chunk, EncodedChunk, json_line, read_rows
from ..unknown import unknown_words
from .examples import check_sizes, count_misaligned, sentence_streams

TRAIN = "train"
SPECIAL_TOKENS = 3  # [CLS] question [SEP] context [SEP]


def row_of(number: int, paragraph: Paragraph) -> dict[str, Any]:
    """Turn the ``number``-th paragraph of a split into a row for a worker."""
    asked = [
        (q.id, q.text, None if q.answers is None else [(a.text, a.start) for a in q.answers])
        for q in paragraph.questions
    ]
    names = ("title", "context", "place")
    row = {name: getattr(paragraph, name) for name in names}
    return row | {"number": number, "qas": asked}


def _paragraph(row: dict[str, Any]) -> Paragraph:
    asked = (Question(name, text, _answers(found)) for name, text, found in row["qas"])
    return Paragraph(row["title"], row["context"], tuple(asked), row["place"])


def _answers(found: list[tuple[str, int]] | None) -> tuple[GoldAnswer, ...] | None:
    return None if found is None else tuple(GoldAnswer(*pair) for pair in found)


def encode_chunk(encoder: TextEncoder, limits: Limits, repair: bool, chunk: Chunk) -> None:
    """Encode the chunk's paragraphs and questions; write them.

    Args:
        encoder: to wordpieces.
        limits: how contexts are cut into windows.
        repair: whether to look elsewhere for answers that do not stand at their start.
        chunk: with a row a paragraph.
    """
    rows = list(read_rows(chunk.rows))
    paragraphs = [_paragraph(row) for row in rows]
    found = _Findings(chunk.split, limits, repair)
    for row, paragraph, encoded in zip(rows, paragraphs, encode_paragraphs(encoder, paragraphs)):
        found.add(row["number"], paragraph, encoded)
    texts = [text for p in paragraphs for text in (p.context, *(q.text for q in p.questions))]
    found.result(texts, encoder.wordpieces.unknown).save(chunk.encoded)


class _Findings:
    """Collects what becomes of a chunk.

    Args:
        split: name of the split; in training, questions whose answers cannot be placed are left
            out.
        limits, repair: see `encode_chunk`.
    """

    def __init__(self, split: str, limits: Limits, repair: bool) -> None:
        self.split, self.limits, self.repair = split, limits, repair
        self.notes = Counter(dict.fromkeys(COUNTED.values(), 0))
        self.questions: list[EncodedSentence] = []
        self.contexts: list[EncodedSentence] = []
        self.offsets: list[list[int]] = []
        self.paragraph: list[list[int]] = []
        self.answers: list[list[int]] = []
        self.lines: dict[str, list[str]] = {EXAMPLES: [], CONTEXTS: [], MISALIGNED: []}
        self.longest = 0

    def add(self, number: int, paragraph: Paragraph, encoded: EncodedParagraph) -> None:
        """Add the ``number``-th paragraph with its questions."""
        check_sizes(paragraph.place, [encoded.context, *encoded.questions])
        self.contexts.append(encoded.context)
        self.offsets.append(encoded.offsets.ravel().tolist())
        text = {"title": paragraph.title, "context": paragraph.context}
        self.lines[CONTEXTS].append(json_line(text))
        for question, sentence in zip(paragraph.questions, encoded.questions):
            placed = place_question(
                question,
                paragraph.context,
                encoded.offsets,
                repair=self.repair,
                limits=self.limits,
                pieces=len(sentence.tokens),
            )
            self._count(question, placed, len(sentence.tokens))
            if placed.unplaced and self.split == TRAIN:
                continue
            self.questions.append(sentence)
            self.paragraph.append([number])
            self.answers.append(placed.row())
            self.lines[EXAMPLES].append(json_line(_described(question, placed)))
            tokens = len(sentence.tokens) + len(encoded.context.tokens) + SPECIAL_TOKENS
            self.longest = max(self.longest, tokens)

    def _count(self, question: Question, placed: PlacedQuestion, pieces: int) -> None:
        for note in placed.notes:
            self.notes[COUNTED[note["reason"]]] += 1
            row = {"split": self.split, "id": question.id, "reason": note["reason"]}
            self.lines[MISALIGNED].append(json_line(row | note))
        self.notes["unplaced_questions"] += placed.unplaced
        self.notes["left_out_questions"] += placed.unplaced and self.split == TRAIN
        self.notes["cut_questions"] += pieces > self.limits.max_query_length

    def result(self, texts: Sequence[str], unknown: int) -> EncodedChunk:
        """Return all of it, which was made of ``texts``; ``unknown`` is a wordpiece's id."""
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
        states = Counter(row[0] for row in self.answers)
        counts = {
            "examples": len(self.answers),
            "labelled": len(self.answers) - states[UNKNOWN],
            "paragraphs": len(self.contexts),
            "answerable": states[ANSWERABLE],
        }
        notes = count_misaligned([*self.questions, *self.contexts], texts)
        notes.update(self.notes)  # counts of nothing stay
        sides = {"tokens0": self.questions, "tokens1": self.contexts}
        lacking = {name: dict(unknown_words(side, unknown)) for name, side in sides.items()}
        return EncodedChunk(streams, counts, dict(notes), self.longest, self.lines, lacking)


def _described(question: Question, placed: PlacedQuestion) -> dict[str, Any]:
    row: dict[str, Any] = {"id": question.id, "texts": [question.text]}
    if placed.answers is not None:
        row["answers"] = [answer.as_json() for answer in placed.answers]
    return row
