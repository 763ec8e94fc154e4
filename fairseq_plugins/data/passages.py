"""Questions with their passages as they were written, beside the rows that a model reads of them.

A row is ``[CLS] question [SEP] window of the passage [SEP]``, so the wordpiece w of the passage
stands at 1 + (wordpieces of the question) + 1 + w - (begin of the window). Everything that looks
for answers in logits, or shows where they are, counts with these numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .text_rows import AGAIN, Rows

QUESTIONS, CONTEXTS = "examples.jsonl", "contexts.jsonl"


@dataclass(frozen=True)
class Passage:
    """A question and the passage that may answer it.

    Args:
        id: name of the question.
        question: its text.
        context: the passage's text.
        offsets: begin and end (exclusive) of each wordpiece of the passage in ``context``, in code
            points, (Sc, 2).
        windows: one row for each row of the model, (K, 5): wordpieces of the question, begin and
            end of the window in wordpieces of the passage, first and last + 1 wordpiece of the
            passage of which this window knows most (`text_windows.knowing_windows`).
        answers: texts of the gold answers, none for a question that cannot be answered; None if
            that is not known.
    """

    id: str
    question: str
    context: str
    offsets: np.ndarray
    windows: np.ndarray
    answers: tuple[str, ...] | None = None

    @property
    def shifts(self) -> np.ndarray:
        """What to add to a wordpiece of the passage for its position in each row, (K, 1)."""
        return self.windows[:, :1] + 2 - self.windows[:, 1:2]

    @property
    def ranges(self) -> np.ndarray:
        """First and last + 1 position in each row that answers may cover, (K, 2)."""
        return self.windows[:, 1:3] + self.shifts

    @property
    def starts(self) -> np.ndarray:
        """First and last + 1 position in each row that answers may begin at, (K, 2): where no
        other window knows more.
        """
        return self.windows[:, 3:5] + self.shifts


@dataclass(frozen=True)
class Texts:
    """The texts of a split's questions and of their passages.

    Args:
        ids: names of the n questions.
        questions: their texts.
        answers: gold answers; see `Passage`.
        contexts: texts of the passages, each once.
        paragraph: number of each question's passage, (n,).
        offsets: of each passage, begin and end of its wordpieces one after another.
    """

    ids: Sequence[str]
    questions: Sequence[str]
    answers: Sequence[tuple[str, ...] | None]
    contexts: Sequence[str]
    paragraph: np.ndarray
    offsets: Rows

    def passage(self, index: int, windows: np.ndarray) -> Passage:
        """Return a question with its passage, read in ``windows``."""
        paragraph = int(self.paragraph[index])
        return Passage(
            self.ids[index],
            self.questions[index],
            self.contexts[paragraph],
            self.offsets[paragraph].astype(np.int64).reshape(-1, 2),
            windows,
            self.answers[index],
        )

    @classmethod
    def read(cls, folder: Path, split: str, paragraph: np.ndarray, offsets: Rows) -> Texts:
        """Read the texts of a split.

        Raises:
            FileNotFoundError: a file is missing.
            ValueError: a line is damaged, there are more or fewer than questions or passages, or
                wordpieces lie outside their passage; names file and line.
        """
        path = folder / f"{split}.{QUESTIONS}"
        questions = list(_read_lines(path, len(paragraph), _question))
        ids, asked, answers = zip(*questions) if questions else ((), (), ())
        path = folder / f"{split}.{CONTEXTS}"
        contexts = list(_read_lines(path, len(offsets), _context))
        lengths = np.array([len(text) for text in contexts], dtype=np.int64)
        outside = np.flatnonzero(offsets.lasts > lengths)  # ends rise
        if len(outside):
            raise ValueError(
                f"{path}:{outside[0] + 1}: the context has {lengths[outside[0]]} characters, but "
                f"{split}.offsets1 reaches to {offsets.lasts[outside[0]]}; {AGAIN}"
            )
        return cls(ids, asked, answers, contexts, paragraph, offsets)


def _question(row: Any) -> tuple[str, str, tuple[str, ...] | None]:
    answers = row.get("answers")
    if answers is not None:
        answers = tuple(str(answer["text"]) for answer in answers)
    return str(row["id"]), str(row["texts"][0]), answers


def _context(row: Any) -> str:
    return str(row["context"])


def _read_lines(path: Path, count: int, take: Any) -> Iterator[Any]:
    """Yield what ``take`` makes of each of ``count`` lines."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; {AGAIN}")
    number = 0
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield take(json.loads(line))
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                reason = f"{type(error).__name__}: {error}"
                raise ValueError(f"{path}:{number}: damaged line ({reason}); {AGAIN}") from None
    if number != count:
        raise ValueError(f"{path} has {number} lines instead of {count}; {AGAIN}")
