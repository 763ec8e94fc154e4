"""The streams of a prepared text folder as columns: tokens, words, features and gold labels.

Rows of numbers lie one after another in one array, so that a split is read at once and checked
without loops. The same columns come from raw text at inference.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from fairseq.data.indexed_dataset import MMapIndexedDataset

from .streams import stream_exists

CLASSES, SCORE, WORD_LABELS = "classes", "score", "word_labels"
NO_CLASS = -1
STORED_FEATURES = ("pos", "case")  # one id a word; "subword" follows from the words


class Rows:
    """Rows of whole numbers.

    Args:
        values: all rows one after another.
        lengths: numbers in each row.
    """

    def __init__(self, values: np.ndarray, lengths: np.ndarray) -> None:
        self.values = values
        self.lengths = np.asarray(lengths, dtype=np.int64)
        self.ends = np.cumsum(self.lengths)

    @classmethod
    def read(cls, prefix: Path) -> Rows:
        """Read a stream; FileNotFoundError names the missing file."""
        if not stream_exists(prefix):
            raise FileNotFoundError(
                f"{prefix}.bin or {prefix}.idx is missing; prepare the folder again"
            )
        index = MMapIndexedDataset.Index(f"{prefix}.idx")
        lengths, dtype = np.array(index.sizes), index.dtype
        values = np.fromfile(f"{prefix}.bin", dtype=dtype)
        if len(values) != lengths.sum():
            raise ValueError(f"{prefix}.bin does not fit {prefix}.idx; prepare the folder again")
        return cls(values, lengths)

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> Rows:
        """Take rows as they are."""
        arrays = [np.asarray(row, dtype=np.int64) for row in rows]
        values = np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
        return cls(values, np.array([len(row) for row in arrays], dtype=np.int64))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lengths)

    def __getitem__(self, index: int) -> np.ndarray:
        """Return a row."""
        end = self.ends[index]
        return self.values[end - self.lengths[index] : end]

    @property
    def lasts(self) -> np.ndarray:
        """The last number of each row; -1 in an empty one."""
        out = np.full(len(self), -1, dtype=np.int64)
        filled = self.lengths > 0
        out[filled] = self.values[self.ends[filled] - 1]
        return out


class Encoded(Protocol):
    """What `prep.text_encoder` makes of a sentence."""

    tokens: Sequence[int]
    word_of: Sequence[int]
    features: dict[str, Sequence[int]]


@dataclass(frozen=True)
class SentenceColumns:
    """The first (or the second) sentence of every example.

    Args:
        tokens: wordpiece ids without specials.
        words: word of each wordpiece.
        features: feature -> one id a word.
    """

    tokens: Rows
    words: Rows
    features: dict[str, Rows]

    @classmethod
    def read(
        cls, folder: Path, split: str, number: int, features: Iterable[str]
    ) -> SentenceColumns:
        """Read the streams of a split, and check that they fit.

        Args:
            folder: prepared folder.
            split: name of the split.
            number: 0 for the first sentences, 1 for the second.
            features: those of `STORED_FEATURES` that are wanted.

        Raises:
            FileNotFoundError: a stream is missing.
            ValueError: streams disagree; names split and example.
        """
        wanted = ("tokens", "words", *features)
        read = {name: Rows.read(folder / f"{split}.{name}{number}") for name in wanted}
        tokens, words = read.pop("tokens"), read.pop("words")
        _check(f"{folder}/{split}.words{number}", words, tokens.lengths)
        _check_succession(f"{folder}/{split}.words{number}", words)
        for name, rows in read.items():
            _check(f"{folder}/{split}.{name}{number}", rows, words.lasts + 1)
        return cls(tokens, words, read)

    @classmethod
    def of(cls, sentences: Sequence[Encoded], features: Iterable[str]) -> SentenceColumns:
        """Take sentences as the encoder of raw text made them."""
        return cls(
            Rows.of(sentence.tokens for sentence in sentences),
            Rows.of(sentence.word_of for sentence in sentences),
            {name: Rows.of(sentence.features[name] for sentence in sentences) for name in features},
        )

    @property
    def word_counts(self) -> np.ndarray:
        """Number of words of each sentence."""
        return self.words.lasts + 1


def _check(what: str, rows: Rows, lengths: np.ndarray) -> None:
    if len(rows) != len(lengths):
        raise ValueError(f"{what} has {len(rows)} rows instead of {len(lengths)}; prepare again")
    wrong = np.flatnonzero(rows.lengths != lengths)
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(
            f"{what}: example {at + 1} has {rows.lengths[at]} entries instead of {lengths[at]}; "
            "prepare the folder again"
        )


def _check_succession(what: str, words: Rows) -> None:
    """Refuse rows that do not count words from 0, one after another."""
    values = words.values.astype(np.int64)
    steps = np.diff(values, prepend=0)
    begins = (words.ends - words.lengths)[words.lengths > 0]
    steps[begins] = -values[begins]  # 0, or wrong
    wrong = np.flatnonzero((steps < 0) | (steps > 1))
    if len(wrong):
        at = int(np.searchsorted(words.ends, wrong[0], side="right"))
        raise ValueError(f"{what}: example {at + 1} leaves words out; prepare the folder again")


class Gold:
    """Gold labels of a split; some or all may be missing.

    Args:
        kind: `CLASSES`, `SCORE` or `WORD_LABELS`.
        values: class ids (`NO_CLASS` where missing), scores (NaN where missing), or rows of word
            labels (empty where missing).
    """

    def __init__(self, kind: str, values: Any) -> None:
        self.kind = kind
        self.values = values
        missing = {
            CLASSES: lambda: values == NO_CLASS,
            SCORE: lambda: np.isnan(values),
            WORD_LABELS: lambda: values.lengths == 0,
        }[kind]()
        self.present = ~missing

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(self.values)

    def __getitem__(self, index: int) -> Any:
        """Return an example's class id, score or list of word labels; None where missing."""
        if not self.present[index]:
            return None
        value = self.values[index]
        return value.tolist() if self.kind == WORD_LABELS else value.item()

    @cached_property
    def complete(self) -> bool:
        """Whether every example has its label."""
        return bool(self.present.all()) and len(self) > 0

    @classmethod
    def read(cls, folder: Path, split: str, kind: str, *, labels: int = 0) -> Gold:
        """Read the gold labels of a split.

        Args:
            folder: prepared folder.
            split: name of the split.
            kind: what they are.
            labels: how many labels there are.

        Raises:
            FileNotFoundError: a file is missing.
            ValueError: a row is none; names file and line.
        """
        if kind == SCORE:
            return cls(kind, _read_scores(folder / f"{split}.score.txt"))
        path = folder / f"{split}.label"
        rows = Rows.read(path)
        if len(rows.values) and not 0 <= rows.values.min() <= rows.values.max() < labels:
            raise ValueError(f"{path}.bin holds other labels than labels.txt; prepare again")
        if kind == WORD_LABELS:
            return cls(kind, rows)
        if rows.lengths.max(initial=0) > 1:
            raise ValueError(f"{path}.bin holds several labels of one example; prepare again")
        return cls(kind, rows.lasts)


def _read_scores(path: Path) -> np.ndarray:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; prepare the folder again")
    scores = []
    text = path.read_text(encoding="utf-8").removesuffix("\n")
    for number, line in enumerate(text.split("\n"), 1):
        try:
            scores.append(float(line) if line.strip() else np.nan)
        except ValueError:
            raise ValueError(f"{path}:{number}: {line!r} is no number") from None
    return np.array(scores)


def read_ids(folder: Path, split: str) -> list[str]:
    """Return the examples' own names, in order.

    Raises:
        FileNotFoundError: the file is missing.
    """
    path = folder / f"{split}.examples.jsonl"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; prepare the folder again")
    with open(path, encoding="utf-8") as lines:
        return [str(json.loads(line)["id"]) for line in lines]
