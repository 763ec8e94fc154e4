"""A sentence from the encoders of raw text (`text.word_layers`)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .layer import Layer


@dataclass(frozen=True)
class EncodedSentence:
    """A sentence ready for the model; every word has at least one subword."""

    # S subwords without special tokens: ids of the vocabulary; of parallel text, whose dictionary
    # comes later, as they are spelt
    tokens: list[Any]
    word_of: list[int]  # S word indices, from 0, non-decreasing; -1 where there is no word at all
    words: list[str]  # W words
    # what the words carry: name of a layer -> W ids of labels (labels, where the inventory has not
    # been learnt yet), or numbers of heads from 1, 0 at a root; in a layer of subwords S ids; of
    # the second sentence of a pair also how its words compare with those of the first, see
    # `text.word_similarity`
    layers: dict[str, list[Any]]
    misaligned: int = 0  # number of subwords outside every single word
    # number of words that the annotator split otherwise, or without a subword of their own
    repaired: int = 0
    left_out: bool = False  # whether the sentence was too long, and is empty here
    protected: tuple[str, ...] = ()  # text of each number of `text.protected`

    def ids(self, layer: Layer) -> list[int]:
        """Return the subwords' ids in a layer that is a column."""
        values = self.layers.get(layer.name)
        values = None if values is None else np.array(values, np.int64)
        (found,) = layer.of_row(values, np.array(self.word_of, np.int64))
        return found.tolist()
