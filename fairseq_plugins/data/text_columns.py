"""Sentences as columns: tokens, the word of each token, and the words' layers.

Rows of numbers lie one after another in one array, so that a split is read at once and checked
without loops. At inference, raw text gives the same columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..syntax.controls import UNCONTROLLED, Controls
from ..syntax.layer import SUBWORD, WORD, WORD_OF, WORD_PAIR
from ..syntax.layers import Layer, asked_with, layer_of, layers_of
from ..syntax.rows import AGAIN, Rows, check_count, check_lengths, check_succession
from ..syntax.sentence import EncodedSentence

PIPELINE = "the pipeline that parsed it is broken"
TOKENS, WORDS = "tokens", "words"  # streams outside layers
Take = Callable[[str], tuple[object, Rows]]  # name of a stream -> its place, for messages; its rows


@dataclass(frozen=True)
class SentenceColumns:
    """Sentences of a split: the first (or the second) of every example, or a side of every pair."""

    tokens: Rows  # ids without special tokens
    words: Rows  # word of each token
    # by layer, for each word (or token) an id; for trees the index from 0 of each word's head, a
    # root's own; for second sentences and layers of pairs of words, for each word one number per
    # word of the first sentence; under a control (`syntax.drawn`) also layers of its subwords that
    # derive from these
    layers: dict[str, Rows] = field(default_factory=dict)
    first_word: int = 0  # number of the first word; smaller numbers mean no word

    @classmethod
    def read(
        cls,
        folder: Path,
        split: str,
        side: int,
        layers: Iterable[Layer],
        *,
        first: SentenceColumns | None = None,
        pieces: int | None = None,
        controls: Controls = UNCONTROLLED,
    ) -> SentenceColumns:
        """Read the streams of a split and check them against each other.

        Args:
            folder, split: of the streams.
            side: 0 for the first sentences, 1 for the second.
            layers: wanted layers, see `inventories.bound_layers`.
            first: the first sentences, for second sentences with compared words.
            pieces: size of the vocabulary, if known.
            controls: replacements of layers.
        """
        layers = [*layers]

        def take(name: str) -> tuple[object, Rows]:
            path = folder / f"{split}.{name}{side}"
            return path, Rows.read(path)

        found = cls.fitted(take, layers, first=first)
        if pieces is not None:
            path = folder / f"{split}.tokens{side}"
            found.tokens.check(path, pieces, "wordpiece of the vocabulary")
        return found.controlled(layers, controls, f"{split} {side}")

    @classmethod
    def of(
        cls,
        sentences: Sequence[EncodedSentence],
        names: Iterable[str],
        *,
        first: SentenceColumns | None = None,
        name_of: Callable[[int], str] = "example {}".format,
        controls: Controls = UNCONTROLLED,
        key: str = "",
        first_word: int = 0,
    ) -> SentenceColumns:
        """Make columns of sentences, one per example, from the encoder of raw text; see `read`.

        Draws of ``controls`` depend on the ``key`` of these sentences.
        """
        layers = layers_of(names)

        def take(name: str) -> tuple[object, Rows]:
            if name == TOKENS:
                rows = [sentence.tokens for sentence in sentences]
            elif name == WORDS:
                rows = [[word + first_word for word in one.word_of] for one in sentences]
            else:
                _check_known(sentences, name, name_of)
                rows = [sentence.layers[name] for sentence in sentences]
            return f"{name} of raw text", Rows.of(rows)

        how = {"first": first, "cure": PIPELINE, "first_word": first_word}
        return cls.fitted(take, layers, **how).controlled(layers, controls, key)

    @classmethod
    def fitted(
        cls,
        take: Take,
        layers: Iterable[Layer],
        *,
        first: SentenceColumns | None = None,
        cure: str = AGAIN,
        row: str = "example",
        first_word: int = 0,
    ) -> SentenceColumns:
        """Make columns of streams from ``take``, checked against each other.

        Args:
            take: reads a stream.
            layers, first: see `read`.
            cure, row: advice about a wrong row, and the name of a row.
            first_word: the number of a sentence's first word.
        """
        how, found = {"cure": cure, "row": row}, {}
        tokens, (place, words) = take(TOKENS)[1], take(WORDS)
        check_lengths(place, words, tokens.lengths, **how)
        check_succession(place, words, least=first_word, **how)
        made = cls(tokens, words, found, first_word)
        counts = {WORD: made.word_counts, SUBWORD: tokens.lengths}
        if first is not None:
            check_count(place, words, len(first.words), cure)
            counts[WORD_PAIR] = counts[WORD] * first.word_counts
        for layer in layers:
            if layer.unit in counts and layer.sides(1):
                what = take(layer.name)
                check_lengths(*what, counts[layer.unit], **how)
                found[layer.name] = layer.checked(*what, **how)
        return made

    def controlled(self, layers: Iterable[Layer], controls: Controls, key: str) -> SentenceColumns:
        """Return these sentences with other layers; see `Layer.controlled`."""
        held, found = {**self.layers, WORD_OF: self.words}, {}
        for layer in layers:
            found |= layer.controlled(held, controls, key)
        return replace(self, layers=self.layers | found)

    def gather(self, index: np.ndarray) -> SentenceColumns:
        """Return sentences by number, with repetitions, without copies."""
        layers = {name: rows.gather(index) for name, rows in self.layers.items()}
        tokens, words = self.tokens.gather(index), self.words.gather(index)
        return replace(self, tokens=tokens, words=words, layers=layers)

    def of_row(
        self, layers: Iterable[Layer], index: int, length: int | None = None
    ) -> list[np.ndarray]:
        """Return the columns of layers for the first ``length`` tokens of a sentence."""
        words, found = self.words[index].astype(np.int64), []
        words -= self.first_word
        for layer in layers:
            rows = self.layers.get(layer.name)
            found += layer.of_row(None if rows is None else rows[index], words, length)
        return found

    @property
    def word_counts(self) -> np.ndarray:
        """Number of words of each sentence."""
        return np.maximum(self.words.lasts + 1 - self.first_word, 0)


def _check_known(
    sentences: Sequence[EncodedSentence], name: str, name_of: Callable[[int], str]
) -> None:
    """Refuse sentences of raw text that lack a layer."""
    for index, sentence in enumerate(sentences):
        if name not in sentence.layers:
            layer = layer_of(name)
            raise InputError(
                f"{name_of(index)} {layer.lacking}, but the model reads {layer.about}; prepare the "
                f"folder with --layers {','.join(asked_with(layer))} beside what it has, so "
                "that raw text has them as well"
            )
