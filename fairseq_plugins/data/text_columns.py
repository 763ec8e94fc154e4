"""The streams of a prepared text folder as columns: tokens, words, features, heads, word
similarities, gold labels.

Rows of numbers lie one after another in one array, so that a split is read at once and checked
without loops. The same columns come from raw text at inference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..messages import quoted
from ..syntax.labels import FEATURES, PAD_ID
from ..text_reading import read_text
from .text_rows import AGAIN, Rows, check_lengths, check_succession, parents_of

CLASSES, SCORE, WORD_LABELS = "classes", "score", "word_labels"
NO_CLASS = -1
PIPELINE = "the pipeline that parsed it is broken"
STORED_FEATURES = ("pos", "case")  # one id a word; "subword" follows from the words


class Encoded(Protocol):
    """What `text.text_encoder` makes of a sentence."""

    tokens: Sequence[int]
    word_of: Sequence[int]
    features: dict[str, Sequence[int]]
    heads: Sequence[int] | None
    similarity: Sequence[int] | None


@dataclass(frozen=True)
class SentenceColumns:
    """The first (or the second) sentence of every example.

    Args:
        tokens: wordpiece ids without specials.
        words: word of each wordpiece.
        features: feature -> one id a word.
        heads: index from 0 of each word's head, a root's own for a root; None where not wanted.
        similarity: for each word of a second sentence one number for every word of the first, from
            0 to 255 for 1; None for first sentences, and where not wanted.
    """

    tokens: Rows
    words: Rows
    features: dict[str, Rows]
    heads: Rows | None = None
    similarity: Rows | None = None

    @classmethod
    def read(
        cls,
        folder: Path,
        split: str,
        number: int,
        features: Iterable[str],
        *,
        heads: bool = False,
        pieces: int | None = None,
    ) -> SentenceColumns:
        """Read the streams of a split, and check that they fit.

        Args:
            folder: prepared folder.
            split: name of the split.
            number: 0 for the first sentences, 1 for the second.
            features: those of `STORED_FEATURES` that are wanted.
            heads: whether the words' heads are wanted.
            pieces: how many wordpieces the vocabulary has, where there is one to check with.

        Raises:
            FileNotFoundError: a stream is missing.
            ValueError: streams disagree, numbers stand for nothing, or heads form no trees; names
                split and example.
        """
        wanted = ("tokens", "words", *features, *(["heads"] if heads else []))
        read = {name: Rows.read(folder / f"{split}.{name}{number}") for name in wanted}
        tokens, words = read.pop("tokens"), read.pop("words")
        if pieces is not None:
            tokens.check(f"{folder}/{split}.tokens{number}", pieces, "wordpiece of the vocabulary")
        check_lengths(f"{folder}/{split}.words{number}", words, tokens.lengths)
        check_succession(f"{folder}/{split}.words{number}", words)
        for name, rows in read.items():
            check_lengths(f"{folder}/{split}.{name}{number}", rows, words.lasts + 1)
            if name in FEATURES:
                bounds = (len(FEATURES[name]), f"value of feature {name!r}", PAD_ID + 1)
                rows.check(f"{folder}/{split}.{name}{number}", *bounds)
        stored = read.pop("heads", None)
        if stored is not None:
            stored = parents_of(f"{folder}/{split}.heads{number}", stored)
        return cls(tokens, words, read, stored)

    @classmethod
    def of(
        cls,
        sentences: Sequence[Encoded],
        features: Iterable[str],
        *,
        heads: bool = False,
        name_of: Callable[[int], str] = "example {}".format,
    ) -> SentenceColumns:
        """Take sentences as the encoder of raw text made them.

        Args:
            sentences: one an example.
            features: those of `STORED_FEATURES` that are wanted.
            heads: whether the words' heads are wanted.
            name_of: names an example in messages, by its number.

        Raises:
            ValueError: heads are wanted, but a sentence was not parsed, or its heads form no trees.
        """
        words = Rows.of(sentence.word_of for sentence in sentences)
        return cls(
            Rows.of(sentence.tokens for sentence in sentences),
            words,
            {name: Rows.of(sentence.features[name] for sentence in sentences) for name in features},
            _raw_parents(sentences, words, name_of) if heads else None,
        )

    def gather(self, index: np.ndarray) -> SentenceColumns:
        """Return the sentences of these numbers, some maybe several times, without copies.

        Similarities are none of theirs.
        """
        return SentenceColumns(
            self.tokens.gather(index),
            self.words.gather(index),
            {name: rows.gather(index) for name, rows in self.features.items()},
            None if self.heads is None else self.heads.gather(index),
        )

    @property
    def word_counts(self) -> np.ndarray:
        """Number of words of each sentence."""
        return self.words.lasts + 1

    def comparing(self, similarity: Rows, first: SentenceColumns, what: str) -> SentenceColumns:
        """Return these second sentences with the similarity of their words to those of the first.

        Args:
            similarity: a number for every pair of words; see `SentenceColumns`.
            first: the first sentences.
            what: names the numbers in messages.

        Raises:
            ValueError: there are more or fewer numbers than pairs of words, or others than there
                may be; names the example.
        """
        check_lengths(what, similarity, self.word_counts * first.word_counts)
        similarity.check(what, 256, "similarity")  # a byte each
        return replace(self, similarity=similarity)


def _raw_parents(sentences: Sequence[Encoded], words: Rows, name_of: Callable[[int], str]) -> Rows:
    """Return the heads of raw text as `parents_of` does."""
    for index, sentence in enumerate(sentences):
        if sentence.heads is None:
            raise ValueError(
                f"{name_of(index)} was not parsed, but the model reads heads; prepare the folder "
                "with --annotations pos,heads, so that raw text is parsed as well"
            )
    heads = Rows.of(sentence.heads for sentence in sentences)
    check_lengths("heads of raw text", heads, words.lasts + 1, PIPELINE)
    return parents_of("heads of raw text", heads, PIPELINE)


def raw_similarity(second: Sequence[Encoded], name_of: Callable[[int], str]) -> Rows:
    """Take the word similarities of raw text from the second sentences.

    Raises:
        ValueError: words were not compared.
    """
    for index, sentence in enumerate(second):
        if sentence.similarity is None:
            raise ValueError(
                f"the words of {name_of(index)} were not compared, but the model reads their "
                "similarity; prepare the folder with --annotations similarity beside what it has, "
                "so that the words of raw text are compared as well"
            )
    return Rows.of(sentence.similarity for sentence in second)


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
        rows.check(path, labels, "label of labels.txt")
        if kind == WORD_LABELS:
            return cls(kind, rows)
        if rows.lengths.max(initial=0) > 1:
            raise ValueError(f"{path}.bin holds several labels of one example; {AGAIN}")
        return cls(kind, rows.lasts)


def _read_scores(path: Path) -> np.ndarray:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; {AGAIN}")
    scores = []
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), 1):
        try:
            scores.append(float(line) if line.strip() else np.nan)
        except ValueError:
            raise ValueError(f"{path}:{number}: {quoted(line)} is no number") from None
    return np.array(scores)


def read_ids(folder: Path, split: str) -> list[str]:
    """Return the examples' own names, in order.

    Raises:
        FileNotFoundError: the file is missing.
        ValueError: a line is none of an example; names file and line.
    """
    path = folder / f"{split}.examples.jsonl"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; {AGAIN}")
    found = []
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), 1):
        try:
            found.append(str(json.loads(line)["id"]))
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ValueError(f"{path}:{number}: no example; {AGAIN}") from None
    return found
