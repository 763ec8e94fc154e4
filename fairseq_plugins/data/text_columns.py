"""The streams of a prepared text folder as columns: tokens, words, layers, gold labels.

Rows of numbers lie one after another in one array, so that a split is read at once and checked
without loops. The same columns come from raw text at inference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import InputError
from ..syntax.controls import UNCONTROLLED, Controls
from ..syntax.layer import WORD, WORD_OF, WORD_PAIR
from ..syntax.layers import Layer, asked_with, layer_of, layers_of
from ..syntax.rows import AGAIN, Rows, check_count, check_lengths, check_succession

PIPELINE = "the pipeline that parsed it is broken"
PARTS = {"tokens": "tokens", "words": WORD_OF}  # stream -> where raw text has it


class Encoded(Protocol):
    """What `text.text_encoder` makes of a sentence."""

    @property
    def tokens(self) -> Sequence[int]:
        """The ids of its wordpieces."""

    @property
    def word_of(self) -> Sequence[int]:
        """The word of each of them."""

    @property
    def layers(self) -> Mapping[str, Sequence[Any]]:
        """What its words carry, by the layer's name."""


@dataclass(frozen=True)
class SentenceColumns:
    """The first (or the second) sentence of every example."""

    tokens: Rows  # wordpiece ids without specials
    words: Rows  # word of each wordpiece
    # what the words carry, by the layer's name: one id a word; of trees the index from 0 of each
    # word's head, a root's own for a root; of second sentences and layers of pairs of words, for
    # each word one number for every word of the first sentence; under a control
    # (`syntax.drawn`) those of its subwords as well, of layers that follow from these
    layers: dict[str, Rows] = field(default_factory=dict)

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
        """Read the streams of a split, and check that they fit.

        Args:
            folder, split: of the streams.
            side: 0 for the first sentences, 1 for the second.
            layers: those that are wanted, see `inventories.bound_layers`.
            first: the first sentences, of second ones whose words are compared with theirs.
            pieces: how many wordpieces the vocabulary has, where there is one to check with.
            controls: what is given in the place of layers.
        """
        layers = [*layers]

        def take(name: str) -> tuple[object, Rows]:
            path = folder / f"{split}.{name}{side}"
            return path, Rows.read(path)

        found = cls._fitted(take, layers, first, AGAIN)
        if pieces is not None:
            path = folder / f"{split}.tokens{side}"
            found.tokens.check(path, pieces, "wordpiece of the vocabulary")
        return found.controlled(layers, controls, f"{split} {side}")

    @classmethod
    def of(
        cls,
        sentences: Sequence[Encoded],
        names: Iterable[str],
        *,
        first: SentenceColumns | None = None,
        name_of: Callable[[int], str] = "example {}".format,
        controls: Controls = UNCONTROLLED,
        key: str = "",
    ) -> SentenceColumns:
        """Take sentences, one an example, as the encoder of raw text made them; see `read`.

        What is drawn by ``controls`` belongs to the ``key`` of these sentences.
        """
        layers = layers_of(names)

        def take(name: str) -> tuple[object, Rows]:
            if name in PARTS:
                rows = [getattr(sentence, PARTS[name]) for sentence in sentences]
            else:
                _check_known(sentences, name, name_of)
                rows = [sentence.layers[name] for sentence in sentences]
            return f"{name} of raw text", Rows.of(rows)

        return cls._fitted(take, layers, first, PIPELINE).controlled(layers, controls, key)

    @classmethod
    def _fitted(
        cls,
        take: Callable[[str], tuple[object, Rows]],
        layers: Iterable[Layer],
        first: SentenceColumns | None,
        cure: str,
    ) -> SentenceColumns:
        """Check that streams fit each other, which ``take`` gives with their places by name."""
        tokens, (place, words), found = take("tokens")[1], take("words"), {}
        check_lengths(place, words, tokens.lengths, cure)
        check_succession(place, words, cure)
        counts = {WORD: words.lasts + 1}
        if first is not None:
            check_count(place, words, len(first.words), cure)
            counts[WORD_PAIR] = counts[WORD] * first.word_counts
        for layer in layers:
            if layer.unit in counts:
                what = take(layer.name)
                check_lengths(*what, counts[layer.unit], cure)
                found[layer.name] = layer.checked(*what, cure)
        return cls(tokens, words, found)

    def controlled(self, layers: Iterable[Layer], controls: Controls, key: str) -> SentenceColumns:
        """Return these sentences with other layers; see `Layer.controlled`."""
        held, found = {**self.layers, WORD_OF: self.words}, {}
        for layer in layers:
            found |= layer.controlled(held, True, controls, key)
        return replace(self, layers=self.layers | found)

    def gather(self, index: np.ndarray) -> SentenceColumns:
        """Return the sentences of these numbers, some maybe several times, without copies."""
        layers = {name: rows.gather(index) for name, rows in self.layers.items()}
        return SentenceColumns(self.tokens.gather(index), self.words.gather(index), layers)

    @property
    def word_counts(self) -> np.ndarray:
        """Number of words of each sentence."""
        return self.words.lasts + 1


def _check_known(sentences: Sequence[Encoded], name: str, name_of: Callable[[int], str]) -> None:
    """Refuse sentences of raw text without a layer; InputError names the first."""
    for index, sentence in enumerate(sentences):
        if name not in sentence.layers:
            layer = layer_of(name)
            raise InputError(
                f"{name_of(index)} {layer.lacking}, but the model reads {layer.about}; prepare the "
                f"folder with --layers {','.join(asked_with(layer))} beside what it has, so "
                "that raw text has them as well"
            )
