"""The streams of a split of questions as columns, checked: questions, passages, gold answers.

A passage has one row for all its questions; each question holds the passage's number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..syntax.controls import SHUFFLED, UNCONTROLLED, Controls
from ..syntax.drawn import other_questions
from ..syntax.layers import Layer
from ..syntax.rows import AGAIN, Rows, check_lengths, refuse
from ..syntax.sentence import EncodedSentence
from .folder_names import ANSWERABLE, UNKNOWN
from .text_columns import SentenceColumns

NOWHERE = -1


class SpanGold:
    """Gold answers of questions as spans of wordpieces of their passages.

    Args:
        states: `UNKNOWN`, `UNANSWERABLE` or `ANSWERABLE`, (n,).
        first: first and last wordpiece of the first gold answer with a place, `NOWHERE` without
            any, (n, 2).
    """

    of_words = False

    def __init__(self, states: np.ndarray, first: np.ndarray) -> None:
        self.states, self.first = states, first
        self.present = states != UNKNOWN

    def __len__(self) -> int:
        return len(self.states)

    @cached_property
    def complete(self) -> bool:
        """Whether the answer, or its absence, is known for every question."""
        return bool(self.present.all()) and len(self) > 0

    @classmethod
    def read(cls, path: Path, passages: np.ndarray) -> SpanGold:
        """Read the stream ``path``; ``passages`` are lengths of the questions' passages, (n,)."""
        rows = Rows.read(path)
        if len(rows) != len(passages):
            raise InputError(f"{path} has {len(rows)} rows instead of {len(passages)}; {AGAIN}")
        begins = rows.ends - rows.lengths
        refuse(path, rows.lengths % 2 == 0, "has a row that is no state with pairs of wordpieces")
        states = rows.values[begins].astype(np.int64)  # (n,)
        beyond = (states < 0) | (states > ANSWERABLE)
        refuse(path, beyond, f"has a state beyond 0 to {ANSWERABLE}")
        refuse(path, (states != ANSWERABLE) & (rows.lengths > 1), "has a place of no answer")
        pairs = np.delete(rows.values.astype(np.int64), begins).reshape(-1, 2)  # (A, 2)
        owners = np.repeat(np.arange(len(rows)), rows.lengths // 2)  # (A,)
        wrong = (pairs < 0).any(1) | (pairs[:, 0] > pairs[:, 1]) | (pairs[:, 1] >= passages[owners])
        damaged = np.bincount(owners[wrong], minlength=len(rows)) > 0
        refuse(path, damaged, "has an answer that is not in its passage")
        first = np.full((len(rows), 2), NOWHERE, dtype=np.int64)
        placed = rows.lengths > 1
        first[placed] = rows.values[begins[placed, None] + (1, 2)]
        return cls(states, first)


@dataclass(frozen=True)
class QuestionColumns:
    """Questions and their passages."""

    questions: SentenceColumns  # the n questions
    contexts: SentenceColumns  # the passage of each question, in shared memory
    paragraph: np.ndarray  # its number, (n,)
    # begin and end (exclusive) of each passage's wordpieces in its text, in code points, one after
    # another
    offsets: Rows
    gold: SpanGold | None = None  # answers to the questions; None if unknown
    # the example of each question, (n,), if not its own
    asked: np.ndarray | None = None

    @classmethod
    def read(
        cls,
        folder: Path,
        split: str,
        layers: Sequence[Layer],
        *,
        pieces: int | None = None,
        controls: Controls = UNCONTROLLED,
    ) -> QuestionColumns:
        """Read the matching streams of a split; see `SentenceColumns.read`."""
        how = {"pieces": pieces, "controls": controls}
        questions, passages = (
            SentenceColumns.read(folder, split, number, layers, **how) for number in (0, 1)
        )
        path = folder / f"{split}.paragraph"
        paragraph = Rows.read(path)
        check_lengths(path, paragraph, np.ones(len(questions.tokens), dtype=np.int64))
        numbers = paragraph.values.astype(np.int64)  # (n,)
        count = len(passages.tokens)
        none = (numbers < 0) | (numbers >= count)
        refuse(path, none, f"has a passage that is none of the {count}")
        offsets = _read_offsets(folder / f"{split}.offsets1", passages.tokens.lengths)
        gold = SpanGold.read(folder / f"{split}.answers", passages.tokens.lengths[numbers])
        gold = gold if gold.present.any() else None
        found = cls(questions, passages.gather(numbers), numbers, offsets, gold)
        if controls.questions != SHUFFLED:
            return found
        asked = other_questions(len(numbers), controls.seed, split)
        return replace(found, questions=questions.gather(asked), asked=asked)

    @classmethod
    def of(
        cls,
        questions: Sequence[EncodedSentence],
        passages: Sequence[EncodedSentence],
        paragraph: Sequence[int],
        offsets: Sequence[np.ndarray],
        *,
        names: Sequence[str] = (),
        name_of: Callable[[int], str] = "question {}".format,
        controls: Controls = UNCONTROLLED,
    ) -> QuestionColumns:
        """Make columns of n questions, and passages, each once, from the encoder of raw text.

        Args:
            questions, passages, names, name_of, controls: see `SentenceColumns.of`.
            paragraph: number of each question's passage, (n,).
            offsets: for each passage (S, 2).
        """
        numbers = np.asarray(paragraph, dtype=np.int64)

        def passage_of(number: int) -> str:
            asked = np.flatnonzero(numbers == number)
            return f"the passage of {name_of(int(asked[0])) if len(asked) else number + 1}"

        columns = [
            SentenceColumns.of(texts, names, name_of=called, controls=controls)
            for texts, called in ((questions, name_of), (passages, passage_of))
        ]
        places = Rows.of(np.asarray(rows).reshape(-1) for rows in offsets)
        check_lengths("offsets of raw text", places, 2 * columns[1].tokens.lengths)
        return cls(columns[0], columns[1].gather(numbers), numbers, places)


def _read_offsets(path: Path, lengths: np.ndarray) -> Rows:
    """Read the places of wordpieces; begins rise, ends do not fall."""
    rows = Rows.read(path)
    check_lengths(path, rows, 2 * lengths)
    pairs = rows.values.astype(np.int64).reshape(-1, 2)
    wrong = (pairs[:, 0] < 0) | (pairs[:, 0] >= pairs[:, 1])
    falls = (np.diff(pairs, axis=0) < 0).any(axis=1)
    owners = np.repeat(np.arange(len(rows)), lengths)
    wrong[1:] |= falls & (owners[1:] == owners[:-1])
    damaged = np.bincount(owners[wrong], minlength=len(rows)) > 0
    refuse(path, damaged, "has wordpieces that do not follow one another", row="passage")
    return rows
