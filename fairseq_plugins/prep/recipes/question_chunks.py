"""Work on paragraphs: annotate and split them and their questions, place the answers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from ...corpora.squad import GoldAnswer, Paragraph, Question
from ...data.folder_names import CONTEXTS, EXAMPLES, MISALIGNED
from ...syntax.rows import Rows
from ...syntax.sentence import EncodedSentence
from ...text.squad_alignment import COUNTED, Limits, PlacedQuestion, place_question
from ...text.squad_encoder import EncodedParagraph, encode_paragraphs
from ...text.text_encoder import TextEncoder
from ..chunks import Chunk, EncodedChunk, json_line, read_rows
from .examples import check_sizes, count_misaligned, encoded_chunk

TRAIN = "train"


def row_of(number: int, paragraph: Paragraph) -> dict[str, Any]:
    """Turn the ``number``-th paragraph of a split into a row for a worker."""
    return asdict(paragraph) | {"number": number}


def _paragraph(row: dict[str, Any]) -> Paragraph:
    asked = []
    for one in row["questions"]:
        answers = one["answers"]
        answers = None if answers is None else tuple(GoldAnswer(**answer) for answer in answers)
        asked.append(Question(one["id"], one["text"], answers))
    return Paragraph(row["title"], row["context"], tuple(asked), row["place"])


def encode_chunk(encoder: TextEncoder, limits: Limits, repair: bool, chunk: Chunk) -> None:
    """Encode the chunk's paragraphs (one per row) and questions; write the result.

    With ``repair``, answers that are not at their start are searched elsewhere.
    """
    rows = list(read_rows(chunk.file()))
    paragraphs = [_paragraph(row) for row in rows]
    found = _Findings(chunk.split, limits, repair)
    for row, paragraph, encoded in zip(rows, paragraphs, encode_paragraphs(encoder, paragraphs)):
        found.add(row["number"], paragraph, encoded)
    texts = [text for p in paragraphs for text in (p.context, *(q.text for q in p.questions))]
    found.result(texts, encoder).save(chunk.encoded)


class _Findings:
    """Collects the results of a chunk; see `encode_chunk`.

    In training, questions without placed answers are left out.
    """

    def __init__(self, split: str, limits: Limits, repair: bool) -> None:
        self.split, self.limits, self.repair = split, limits, repair
        self.notes = Counter(dict.fromkeys(COUNTED.values(), 0))
        self.questions: list[EncodedSentence] = []
        self.contexts: list[EncodedSentence] = []
        self.rows: dict[str, list[list[int]]] = {"offsets1": [], "paragraph": [], "answers": []}
        self.lines: dict[str, list[str]] = {EXAMPLES: [], CONTEXTS: [], MISALIGNED: []}

    def add(self, number: int, paragraph: Paragraph, encoded: EncodedParagraph) -> None:
        """Add the ``number``-th paragraph with its questions."""
        check_sizes(paragraph.place, [encoded.context, *encoded.questions])
        self.contexts.append(encoded.context)
        self.rows["offsets1"].append(encoded.offsets.ravel().tolist())
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
            self.rows["paragraph"].append([number])
            self.rows["answers"].append(placed.row())
            self.lines[EXAMPLES].append(json_line(_described(question, placed)))

    def _count(self, question: Question, placed: PlacedQuestion, pieces: int) -> None:
        for note in placed.notes:
            self.notes[COUNTED[note["reason"]]] += 1
            row = {"split": self.split, "id": question.id, "reason": note["reason"]}
            self.lines[MISALIGNED].append(json_line(row | note))
        self.notes["unplaced_questions"] += placed.unplaced
        self.notes["left_out_questions"] += placed.unplaced and self.split == TRAIN
        self.notes["cut_questions"] += pieces > self.limits.max_query_length

    def result(self, texts: Sequence[str], encoder: TextEncoder) -> EncodedChunk:
        """Return all results, encoded from ``texts``."""
        found = encoded_chunk(encoder, (self.questions, self.contexts))
        found.streams.update({name: Rows.of(rows) for name, rows in self.rows.items()})
        notes = count_misaligned([*self.questions, *self.contexts], texts)
        notes.update(self.notes)  # counts of zero stay
        return replace(found, notes=dict(notes), lines=self.lines)


def _described(question: Question, placed: PlacedQuestion) -> dict[str, Any]:
    row: dict[str, Any] = {"id": question.id, "texts": [question.text]}
    if placed.answers is not None:
        row["answers"] = [answer.as_json() for answer in placed.answers]
    return row
