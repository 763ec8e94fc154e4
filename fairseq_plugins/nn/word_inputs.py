"""Words of models from scratch: one table with features joined to its rows, and their matcher.

  x = e + f   or   x = [e ; f] A + b     (features as in `infusion`)
  x = [x ; c]                            (c: from the word's characters)

Words without a given vector start at N(0, 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .factors import clear_padding
from .matching import Pair
from .packing import BatchLayout

INIT_STD = 1.0


class WordInputs(nn.Module):
    """A table of words, joined with their features and characters.

    Args:
        size: number of words V.
        width: of their embeddings E.
        padding: id of the padding token.
        features: joins features to words, see `infusion.FeatureInfusion`; None for none.
        characters: reads their characters, see `characters.CharacterReader`; None for none.

    Attributes:
        width: output width D.
    """

    def __init__(
        self,
        size: int,
        width: int,
        padding: int,
        features: nn.Module | None = None,
        characters: Any = None,
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(size, width, padding_idx=padding)
        nn.init.normal_(self.table.weight, std=INIT_STD)
        clear_padding(self.table)
        self.features = features
        self.characters = characters
        self.width = width + (0 if characters is None else characters.outputs)

    def forward(
        self, tokens: Tensor, factors: Tensor | None, known: np.ndarray | None = None
    ) -> Tensor:
        """Embed words (n,) with their feature ids (n, F) as (n, D).

        ``known`` are the distinct tokens on the host, see `CharacterReader.forward`.

        Raises:
            ValueError: features are missing.
        """
        words = self.table(tokens)  # (n, E)
        if self.features is not None:
            if factors is None:
                raise ValueError("this model reads features, but the batch has no src_factors")
            words = self.features(words, factors)
        if self.characters is None:
            return words
        return torch.cat([words, self.characters(tokens, known)], dim=1)


class WordMatcher(nn.Module):
    """From tokens to one vector per pair: words, and their matcher.

    Args:
        words: embeds the words of both sentences.
        matcher: maps them and the `Pair` to vectors (B, ``outputs``).
    """

    def __init__(self, words: WordInputs, matcher: nn.Module) -> None:
        super().__init__()
        self.words, self.matcher, self.outputs = words, matcher, matcher.outputs

    @property
    def table(self) -> nn.Embedding:
        """The word embeddings."""
        return self.words.table

    @property
    def features(self) -> nn.Module | None:
        """The module that joins features."""
        return self.words.features

    def forward(
        self, tokens: Tensor, segments: Tensor | None, layout: BatchLayout, factors: Tensor | None
    ) -> Tensor:
        """Match pairs: tokens (B, S) with segments and feature ids (B, S, F) to vectors (B, D)."""
        pair = Pair.of(layout, segments)
        factors = None if factors is None else layout.pack(factors)[pair.rows]
        words = self.words(layout.pack(tokens)[pair.rows], factors, layout.known.get("distinct"))
        return self.matcher(words, pair)
