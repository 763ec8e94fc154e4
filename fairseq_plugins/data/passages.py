"""Questions with their original passages, beside a model's rows.

A row is ``[CLS] question [SEP] window of the passage [SEP]``, so wordpiece w of the passage stands
at (special tokens before the window) + (wordpieces of the question) + w - (begin of the window).
All code that finds answers in logits, or shows their places, uses these numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..errors import InputError
from ..pretrained.families import RowFormat
from ..syntax.rows import AGAIN, Rows
from ..text_reading import numbered_lines
from .folder_names import CONTEXTS, EXAMPLES

Found = TypeVar("Found")


@dataclass(frozen=True)
class AskedPassage:
    """A question and a passage, maybe with its answer."""

    id: str  # the question's name
    question: str  # its text
    context: str  # the passage's text
    # begin and end (exclusive) of each wordpiece of the passage in ``context``, in code points,
    # (Sc, 2)
    offsets: np.ndarray
    # for each row of the model, (K, 5): wordpieces of the question, begin and end of the window in
    # wordpieces of the passage, first and last + 1 wordpiece of the passage that this window covers
    # best (`text_windows.knowing_windows`)
    windows: np.ndarray
    # texts of the gold answers, none for an unanswerable question; None if unknown
    answers: tuple[str, ...] | None = None
    row: RowFormat = RowFormat()  # layout of a question and a window in a row

    @property
    def shifts(self) -> np.ndarray:
        """Offset from a wordpiece of the passage to its position in each row, (K, 1)."""
        return self.row.begin(1, self.windows[:, :1]) - self.windows[:, 1:2]

    @property
    def ranges(self) -> np.ndarray:
        """First and last + 1 position of possible answers in each row, (K, 2)."""
        return self.windows[:, 1:3] + self.shifts

    @property
    def starts(self) -> np.ndarray:
        """First and last + 1 position in each row where answers may begin, (K, 2).

        An answer begins only where no other window covers better.
        """
        return self.windows[:, 3:5] + self.shifts


@dataclass(frozen=True)
class Texts:
    """The texts of a split's questions and of their passages."""

    # of the n questions; see `AskedPassage`
    ids: Sequence[str]
    questions: Sequence[str]
    answers: Sequence[tuple[str, ...] | None]
    contexts: Sequence[str]  # texts of the passages, each once
    paragraph: np.ndarray  # number of each question's passage, (n,)
    offsets: Rows  # begin and end of each passage's wordpieces, one after another

    def asking(self, examples: np.ndarray | None) -> Texts:
        """Return the texts with the questions of other examples, (n,), if given."""
        if examples is None:
            return self
        return replace(self, questions=[self.questions[i] for i in examples])

    def passage(self, index: int, windows: np.ndarray, row: RowFormat) -> AskedPassage:
        """Return a question with its passage, read in ``windows``, each in a ``row``."""
        paragraph = int(self.paragraph[index])
        return AskedPassage(
            self.ids[index],
            self.questions[index],
            self.contexts[paragraph],
            self.offsets[paragraph].astype(np.int64).reshape(-1, 2),
            windows,
            self.answers[index],
            row,
        )

    @classmethod
    def read(cls, folder: Path, split: str, paragraph: np.ndarray, offsets: Rows) -> Texts:
        """Read the texts of a split."""
        questions = read_texts(folder / f"{split}.{EXAMPLES}", _question, len(paragraph))
        ids, asked, answers = zip(*questions) if questions else ((), (), ())
        path = folder / f"{split}.{CONTEXTS}"
        contexts = read_texts(path, lambda row: str(row["context"]), len(offsets))
        lengths = np.array([len(text) for text in contexts], dtype=np.int64)
        outside = np.flatnonzero(offsets.lasts > lengths)  # ends rise
        if len(outside):
            raise InputError(
                f"{path}:{outside[0] + 1}: the context has {lengths[outside[0]]} characters, but "
                f"{split}.offsets1 reaches to {offsets.lasts[outside[0]]}; {AGAIN}"
            )
        return cls(ids, asked, answers, contexts, paragraph, offsets)


def _question(row: Any) -> tuple[str, str, tuple[str, ...] | None]:
    answers = row.get("answers")
    if answers is not None:
        answers = tuple(str(answer["text"]) for answer in answers)
    return str(row["id"]), str(row["texts"][0]), answers


def read_texts(path: Path, take: Callable[[Any], Found], count: int | None = None) -> list[Found]:
    """Return ``take`` of each line of a file of JSON lines; check the number of lines."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; {AGAIN}")
    found = []
    for number, line in numbered_lines(path):
        try:
            found.append(take(json.loads(line)))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"{path}:{number}: damaged line ({reason}); {AGAIN}") from None
    if count not in (None, len(found)):
        raise InputError(f"{path} has {len(found)} lines instead of {count}; {AGAIN}")
    return found


def read_ids(folder: Path, split: str) -> list[str]:
    """Return the examples' own names, in order; see `read_texts`."""
    return read_texts(folder / f"{split}.{EXAMPLES}", lambda row: str(row["id"]))
