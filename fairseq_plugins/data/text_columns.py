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
from ..syntax.layer import WORD, WORD_PAIR
from ..syntax.layers import Layer, asked_with, layers_of
from ..syntax.rows import AGAIN, Rows, check_count, check_lengths, check_succession

PIPELINE = "the pipeline that parsed it is broken"


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

        Raises:
            FileNotFoundError: a stream is missing.
            InputError: streams disagree, numbers stand for nothing, or heads form no trees; names
                split and example.
        """
        layers = [*layers]
        names = ("tokens", "words", *(layer.name for layer in _stored(layers, first)))
        paths = {name: folder / f"{split}.{name}{side}" for name in names}
        rows = {name: Rows.read(path) for name, path in paths.items()}
        if pieces is not None:
            rows["tokens"].check(paths["tokens"], pieces, "wordpiece of the vocabulary")
        found = cls._fitted(rows, _stored(layers, first), paths, AGAIN, first)
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

        Raises:
            InputError: a sentence lacks a layer, or its heads form no trees; ``name_of`` gives the
                example's name, by its number.
        """
        layers = layers_of(names)
        own = _stored(layers, first)
        rows = {layer.name: _raw_rows(layer, sentences, name_of) for layer in own}
        rows["tokens"] = Rows.of(sentence.tokens for sentence in sentences)
        rows["words"] = Rows.of(sentence.word_of for sentence in sentences)
        places = {name: f"{name} of raw text" for name in rows}
        return cls._fitted(rows, own, places, PIPELINE, first).controlled(layers, controls, key)

    @classmethod
    def _fitted(
        cls,
        rows: Mapping[str, Rows],
        own: list[Layer],
        places: Mapping[str, object],
        cure: str,
        first: SentenceColumns | None,
    ) -> SentenceColumns:
        """Check that rows, called by their places, fit each other; heads become indices."""
        tokens, words, found = rows["tokens"], rows["words"], {}
        check_lengths(places["words"], words, tokens.lengths, cure)
        check_succession(places["words"], words, cure)
        if first is not None:
            check_count(places["words"], words, len(first.words), cure)
        for layer in own:
            what, counts = (places[layer.name], rows[layer.name]), words.lasts + 1
            if first is not None and layer.unit == WORD_PAIR:
                counts = counts * first.word_counts
            check_lengths(*what, counts, cure)
            found[layer.name] = layer.checked(*what, cure)
        return cls(tokens, words, found)

    def controlled(self, layers: Iterable[Layer], controls: Controls, key: str) -> SentenceColumns:
        """Return these sentences with other layers; see `Layer.controlled`."""
        held = self.layers
        found = {
            layer.name: layer.controlled(held.get(layer.name), self.words, controls, key)
            for layer in layers
        }
        changed = {name: rows for name, rows in found.items() if rows is not None}
        return replace(self, layers=held | changed)

    def gather(self, index: np.ndarray) -> SentenceColumns:
        """Return the sentences of these numbers, some maybe several times, without copies."""
        layers = {name: rows.gather(index) for name, rows in self.layers.items()}
        return SentenceColumns(self.tokens.gather(index), self.words.gather(index), layers)

    @property
    def word_counts(self) -> np.ndarray:
        """Number of words of each sentence."""
        return self.words.lasts + 1


def _stored(layers: Iterable[Layer], first: SentenceColumns | None) -> list[Layer]:
    """Return those layers that have streams: of pairs of words, beside the second sentences."""
    units = (WORD,) if first is None else (WORD, WORD_PAIR)
    return [layer for layer in layers if layer.unit in units]


def _raw_rows(layer: Layer, sentences: Sequence[Encoded], name_of: Callable[[int], str]) -> Rows:
    """Take a layer of raw text, see `SentenceColumns.of`; InputError names a sentence without."""
    for index, sentence in enumerate(sentences):
        if layer.name not in sentence.layers:
            raise InputError(
                f"{name_of(index)} {layer.lacking}, but the model reads {layer.about}; prepare the "
                f"folder with --layers {','.join(asked_with(layer))} beside what it has, so "
                "that raw text has them as well"
            )
    return Rows.of(sentence.layers[layer.name] for sentence in sentences)
