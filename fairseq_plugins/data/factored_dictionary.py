"""A dictionary of subwords whose ids may also mark a subword's spelling.

Search, scores and models use plain ids. The factors are put into the ids of finished sentences, so
that all code that turns ids into text, fairseq's commands included, restores the spelling.
"""

from typing import Any

from torch import Tensor

from ..syntax.casing import restored
from ..syntax.labels import SPECIAL_ID
from ..syntax.layers import Layer
from .text_dictionary import TOKENS, TextDictionary


class FactoredDictionary(TextDictionary):
    """A fairseq dictionary with marked ids: an id plus the dictionary's size times a label's id.

    Args:
        dictionary: of V subwords, with their joining.
        layer: its labels restore subwords (`syntax.casing`).
    """

    def __init__(self, dictionary: TextDictionary, layer: Layer) -> None:
        vars(self).update(vars(dictionary))
        self.layer, self.size = layer, len(dictionary)

    def marked(self, ids: Tensor, labels: Tensor) -> Tensor:
        """Return ids (...) marked with labels (...); fairseq's own symbols stay plain."""
        plain = (ids < self.nspecial) | (labels <= SPECIAL_ID)
        return ids + self.size * labels.to(ids).masked_fill(plain, 0)

    def plain(self, ids: Tensor) -> Tensor:
        """Return ids without marks, for models."""
        return super().plain(ids) % self.size

    def __getitem__(self, idx: Any) -> str:
        """Return the subword of an id, restored if the id is marked."""
        label, plain = divmod(int(idx), self.size)
        if label <= SPECIAL_ID or idx >= TOKENS:
            return super().__getitem__(idx)
        labels = self.layer.inventory.symbols
        return restored(super().__getitem__(plain), labels[min(label, len(labels) - 1)])
