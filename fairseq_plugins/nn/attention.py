"""Self-attention of an encoder: the only code that makes its queries, keys and values.

Vaswani et al. 2017, section 3.2: softmax(Q K' / sqrt(K)) V for each of H heads, side by side, then
one linear map. A *mixer*, a value, combines queries and keys: plain attention here, other mixers
in their own files. Letters: N packed tokens, B batch, T = S length, H heads, K head size, D = H K;
n sentences of length l form a block.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .banded_attention import banded, is_long
from .context import AttentionContext
from .dropout import Dropout
from .fused_attention import attend
from .masks import AdditiveMask, masked_softmax
from .mixed_attention import fused, openly
from .packed_attention import PackedAttention
from .packing import BatchLayout, SentenceBlock
from .parent_attention import ParentSupervision

Biases = Sequence[Tensor] | None  # of the scores of each block


class Mixer(nn.Module):
    """The combination of queries and keys; subclasses define `mix` for one block of sentences.

    Args:
        dropout: on the attention weights, in training.
        similar: whether scores are multiplied by the similarity of the tokens' words (Xia et al.
            2021, "UER-BERT").

    Raises:
        ValueError: a rate below 0, or not below 1.
    """

    # whether dropout applies to each of several softmaxes, not to their sum
    separate = True
    # whether every token sees its whole sentence: torch then has a kernel with gradients
    plain = False
    # how far a token sees to each side, whatever else closes keys; None for any distance
    reach: int | None = None

    def __init__(self, dropout: float = 0.0, similar: bool = False) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.similar = similar

    @property
    def drop(self) -> float:
        """Current rate of dropout: 0 outside training."""
        return self.dropout.p if self.training else 0.0

    def forward(
        self,
        qkv: Tensor,
        heads: int,
        rows: Tensor,
        context: AttentionContext,
        biases: Biases = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Mix values.

        Args:
            qkv: queries, keys and values side by side, (N, 3 D).
            heads: number of heads H.
            rows: (N, D) hidden states behind them.
            context: of the batch.
            biases: of the scores of each block, (n or 1, H, l, l); see `nn.relative_positions`.

        Returns:
            Mixed values (N, D); if requested, weights before dropout (B, H, T, S), zero at padding.
        """
        blocks, extras = context.layout.blocks, self.extras(rows, context)
        answers = not (self.drop or torch.is_grad_enabled())
        plain = self.plain and biases is None
        far = plain and any(self.cuts(block, context) for block in blocks)
        if self.packs(context) and not far and (answers or self.drop or not plain):
            masks = [self.additive_masks(block, context, qkv.dtype) for block in blocks]
            if answers:
                return attend(qkv, context.layout, heads, masks, extras, biases), None
            how = (heads, self.drop, self.separate)
            return PackedAttention.apply(qkv, extras, blocks, masks, *how, *(biases or ())), None
        mixed, weights = [], []
        for block, bias in zip(blocks, biases or [None] * len(blocks)):
            parts = block.take(qkv).unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
            own = None if extras is None else block.take(extras)  # (n, l, E)
            found, table = self.mix(parts, own, block, context, bias)  # (n, H, l, K), (n, H, l, l)
            mixed.append(block.give(found.transpose(1, 2)).flatten(1))  # (., D)
            weights.append(table)
        shown = _joined(weights, context.layout) if context.need_weights else None
        return torch.cat(mixed), shown

    def packs(self, context: AttentionContext) -> bool:
        """Return whether packed rows are mixed: on a processor, plain scores, no weights."""
        return context.layout.by_length and not context.need_weights and not self.similar

    def cuts(self, block: SentenceBlock, context: AttentionContext) -> bool:
        """Return whether sentences are cut under a window; graphs do not depend on lengths."""
        return not context.layout.keeps_padding and is_long(block.length, self.reach)

    def additive_masks(
        self, block: SentenceBlock, context: AttentionContext, dtype: torch.dtype
    ) -> tuple[AdditiveMask | None, ...]:
        """Return the mask of each softmax for scores of ``dtype``; None if all keys are open."""
        return (context.additive_mask(None, block, dtype, self.reach),)

    def scores(
        self,
        query: Tensor,
        key: Tensor,
        block: SentenceBlock,
        context: AttentionContext,
        bias: Tensor | None,
    ) -> Tensor:
        """Return Q K' / sqrt(K) of one block, times similarity if requested, plus its bias.

        The result is (n, H, l, l).
        """
        found = query @ key.mT * query.shape[-1] ** -0.5
        if self.similar:
            found = found * context.similarity_of(block)[:, None].to(found)
        return found if bias is None else found + bias

    def extras(self, rows: Tensor, context: AttentionContext) -> Tensor | None:
        """Return further inputs of `mix` for each token, (N, E)."""
        return None

    def mix(
        self,
        qkv: Tensor,
        extras: Tensor | None,
        block: SentenceBlock,
        context: AttentionContext,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Mix the values of one block.

        Args:
            qkv: queries, keys and values, (3, n, H, l, K).
            extras: see the method `extras`, (n, l, E).
            block: of the batch.
            context: of the batch.
            bias: of the scores, (n or 1, H, l, l).

        Returns:
            (n, H, l, K); weights before dropout (n, H, l, l), or None if not requested.
        """
        raise NotImplementedError


class GlobalMixer(Mixer):
    """Plain attention: every token attends to every real token."""

    plain = True

    def mix(
        self,
        qkv: Tensor,
        extras: Tensor | None,
        block: SentenceBlock,
        context: AttentionContext,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Mix one block by the fused kernel, or with explicit weights if requested."""
        query, key, value = qkv
        shows = context.need_weights or self.similar
        if bias is not None or self.reach is not None:
            if not shows and bias is None and self.cuts(block, context):
                return banded(qkv, self.reach or 0, self.drop, block.allowed), None
            masks = self.additive_masks(block, context, query.dtype)
            if not shows:
                return fused(qkv, masks, None, self.drop, bias), None
            scores = self.scores(query, key, block, context, bias)
            how = {"dropout": self.dropout, "separate": True}
            return openly(scores, value, masks, None, **how)
        if not shows:
            mixed = functional.scaled_dot_product_attention(
                query, key, value, block.allowed, dropout_p=self.drop
            )
            return mixed, None
        weights = masked_softmax(self.scores(query, key, block, context, None), block.allowed)
        return self.dropout(weights) @ value, weights


class SelfAttention(nn.Module):
    """Queries, keys and values by one linear map, a mixer, and the output map.

    Args:
        hidden: width D.
        heads: H.
        mixer: mixes values (default: plain attention without dropout).
        supervision: teaches the last head to find each word's parent, if the batch has trees.
        dual: fuses the mixed values with another attention over the same queries, keys and values,
            before the output map; see `nn.dual_attention`.
        biases: whether the maps have biases.

    Attributes:
        positions: the layer's part of relative positions, see `nn.relative_positions.place`.

    Raises:
        ValueError: the heads do not divide the width.
    """

    def __init__(
        self,
        hidden: int,
        heads: int,
        mixer: Mixer | None = None,
        supervision: ParentSupervision | None = None,
        dual: Any = None,
        *,
        biases: bool = True,
    ) -> None:
        super().__init__()
        check_heads(hidden, heads)
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden, bias=biases)
        self.out = nn.Linear(hidden, hidden, bias=biases)
        self.positions: Any = None
        self.mixer = GlobalMixer() if mixer is None else mixer
        self.supervision = supervision
        self.dual = dual

    def forward(self, rows: Tensor, context: AttentionContext) -> Tensor:
        """Return new states (N, D) from states (N, D); store the attention weights if requested."""
        qkv = self.qkv(rows)  # (N, 3 D)
        placed, biases = qkv, None
        if self.positions is not None:
            placed, biases = self.positions(qkv, self.qkv, self.heads, context)
        inputs = (placed, self.heads, rows, context, biases)
        if self.supervision is not None and context.heads is not None:
            context.outputs.parent_losses.append(
                self.supervision(placed, self.heads, context, biases)
            )
        reads_affinity = self.dual is None or self.dual.fusion.reads_affinity
        mixed = None
        if reads_affinity or context.need_weights:
            mixed, weights = self.mixer(*inputs)
            context.outputs.weights += [] if weights is None else [weights]
        if self.dual is not None:
            mixed = mixed if reads_affinity else None
            if not self.dual.difference.reads_positions:
                inputs = (qkv, self.heads, rows, context)
            mixed = self.dual(mixed, *inputs)
        return self.out(mixed)

    def limit(self, reach: int | None) -> None:
        """Let tokens see at most ``reach`` tokens to each side, in all of its attentions."""
        self.mixer.reach = reach
        if self.dual is not None:
            self.dual.difference.reach = reach


def check_heads(hidden: int, heads: int) -> None:
    """Refuse heads that do not divide the width."""
    if hidden % heads:
        raise ValueError(f"{heads} attention heads do not divide a hidden size of {hidden}")


def _joined(tables: list[Tensor], layout: BatchLayout) -> Tensor:
    """Join the weights of blocks, in order, to one table of the batch, (B, H, S, S).

    Rows and columns of padding are zero, wherever padding stands in a sentence.
    """
    batch, length = layout.shape
    whole = tables[0].new_zeros(batch, tables[0].shape[1], length, length)
    real = ~layout.padding_mask  # (B, S)
    pairs = real[:, None, :, None] & real[:, None, None, :]  # (B, 1, S, S)
    for block, table in zip(layout.blocks, tables):
        if block.layout is None:
            whole[block.sentences].masked_scatter_(pairs[block.sentences], table)
        else:
            whole = table * pairs
    return whole
