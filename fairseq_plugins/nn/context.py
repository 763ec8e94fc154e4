"""Inputs of attention layers from a batch, and the layers' further outputs.

Letters: N packed tokens, B batch, S length, W words; n sentences of length l form a block.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from .masks import AdditiveMask
from .packing import BatchLayout, SentenceBlock
from .tree_masks import Rule


class LayerOutputs:
    """Further outputs of the layers for a batch.

    Attributes:
        gates: layer number -> share of each of its C local attentions, (N, C), without gradient.
        parent_losses: one number per supervised layer, with gradient.
        differences: layer number -> weights of its difference attention, (B, H, T, S), if
            requested.
        fusions: layer number -> fusion gate and filter gate of its dual attention, (N, 2), without
            gradient.
        weights: of each layer's attention before dropout, (B, H, T, S), zero at padding, if
            requested.
    """

    def __init__(self) -> None:
        self.gates: dict[int, Tensor] = {}
        self.parent_losses: list[Tensor] = []
        self.differences: dict[int, Tensor] = {}
        self.fusions: dict[int, Tensor] = {}
        self.weights: list[Tensor] = []


@dataclass
class AttentionContext:
    """Inputs of every attention layer from a batch.

    Attributes:
        outputs: further outputs of the layers.
    """

    layout: BatchLayout  # places of the packed rows in the padded batch, and its blocks
    segments: Tensor | None = None  # (B, S), 0 for the first sentence and 1 for the second
    # (B, S), number of each token's word in its row, -1 at special tokens; see `nn.tree_masks`
    words: Tensor | None = None
    heads: Tensor | None = None  # (B, W), head of each word; roots and unused numbers are their own
    similarity: Tensor | None = None  # (B, W, W), similarity of words, from 0 to 1
    punctuation: Tensor | None = None  # (B, S), True at subwords that are punctuation signs
    need_weights: bool = False  # whether layers store their attention weights
    relative: Any = None  # the encoder's part of relative positions, see `nn.relative_positions`

    def __post_init__(self) -> None:
        self.outputs, self._made = LayerOutputs(), {}  # factories of fields would break graphs

    def apart(self) -> "AttentionContext":
        """Return the same inputs and shared values with further outputs of their own."""
        other = copy(self)
        other.outputs = LayerOutputs()
        return other

    def once(self, name: Any, block: SentenceBlock, make: Callable[[], Any]) -> Any:
        """Return a value shared by all layers, made for a block on first use."""
        key = (name, block.rows.start)
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def words_of(self, block: SentenceBlock) -> Tensor:
        """Return the word of each token of a block, (n, l); -1 at special tokens and padding.

        Raises:
            ValueError: the batch has no words.
        """
        if self.words is None:
            raise ValueError("this encoder must know the tokens' words, but the batch has none")
        # Padding is laid out as 0, and belongs to no word.
        return self.once("words", block, lambda: block.take(self.layout.pack(self.words + 1)) - 1)

    def heads_of(self, block: SentenceBlock) -> Tensor:
        """Return the head of each word of a block, (n, W).

        Raises:
            ValueError: the batch has no heads.
        """
        if self.heads is None:
            raise ValueError("this encoder reads parse trees, but the batch has no heads")
        return self.heads[block.sentences]

    def punctuation_of(self, block: SentenceBlock) -> Tensor:
        """Return the tokens of a block that are punctuation signs, (n, l).

        Raises:
            ValueError: the signs are unknown.
        """
        if self.punctuation is None:
            raise ValueError("this encoder must know which subwords are punctuation signs")
        return self.once(
            "punctuation", block, lambda: block.take(self.layout.pack(self.punctuation))
        )

    def similarity_of(self, block: SentenceBlock) -> Tensor:
        """Return the similarity of the words of a block's tokens, (n, l, l); 1 with special tokens.

        Raises:
            ValueError: the batch has no similarities.
        """
        tables = self.similarity
        if tables is None:
            raise ValueError("this encoder reads the similarity of words, but the batch has none")
        return self.once("similarity", block, lambda: self._spread(tables, block))

    def _spread(self, tables: Tensor, block: SentenceBlock) -> Tensor:
        words = self.words_of(block)  # (n, l)
        known = words.clamp(min=0)
        sentence = torch.arange(len(words), device=words.device)[:, None, None]  # (n, 1, 1)
        table = tables[block.sentences]  # (n, W, W)
        found = table[sentence, known[:, :, None], known[:, None, :]]  # (n, l, l)
        special = words < 0  # (n, l)
        return found.masked_fill(special[:, :, None] | special[:, None, :], 1.0)

    def allowed(self, rule: Rule, block: SentenceBlock) -> Tensor:
        """Return the allowed keys of a rule in a block, (n, l, l), regardless of padding."""

        def make() -> Tensor:
            segments = self.segments
            if segments is not None:
                segments = block.take(self.layout.pack(segments))  # (n, l)
            heads = self.heads_of(block) if rule.needs_heads else None
            signs = self.punctuation_of(block) if rule.needs_punctuation else None
            return rule(self.words_of(block), segments, heads, signs)

        return self.once(rule, block, make)

    def additive_mask(
        self,
        rule: Rule | None,
        block: SentenceBlock,
        dtype: torch.dtype = torch.float32,
        reach: int | None = None,
    ) -> AdditiveMask | None:
        """Return the mask to add to scores of ``dtype`` in a block, with padding closed.

        Args:
            rule: allowed keys; None for all.
            block: of sentences.
            dtype: of the scores.
            reach: how far a token sees to each side, whatever the rule; None for any distance.

        Returns:
            None if nothing is closed.
        """
        keys: Any = block.allowed  # (n, 1, 1, l)
        near = self.near(block, reach)  # (1, l, l)

        def make() -> AdditiveMask:
            own = None if rule is None else self.allowed(rule, block)
            parts = [own, None if keys is None else keys[:, 0], near]
            found = [part for part in parts if part is not None]
            return AdditiveMask.of(reduce(torch.logical_and, found), dtype)  # (n or 1, l or 1, l)

        if rule is None and keys is None and near is None:
            return None
        return self.once(("additive_mask", rule, dtype, reach), block, make)

    def near(self, block: SentenceBlock, reach: int | None) -> Tensor | None:
        """Return the keys at most ``reach`` from a query, (1, l, l); None if all are."""
        if reach is None or (not self.layout.keeps_padding and block.length <= reach + 1):
            return None
        place = torch.arange(block.length, device=self.layout.padding_mask.device)
        return ((place[:, None] - place).abs() <= reach)[None]
