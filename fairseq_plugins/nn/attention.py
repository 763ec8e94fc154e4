"""Self-attention of an encoder: the only code that makes queries, keys and values.

Vaswani et al. 2017, section 3.2: softmax(Q K' / sqrt(K)) V for each of H heads, side by side, then
one linear map. How queries meet keys is a *mixer*, a value handed in: plain attention here, others
in their own files. Letters: N packed tokens, B batch, T = S length, H heads, K head size, D = H K;
n sentences of length l form a block.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from .context import AttentionContext
from .dropout import check_rate
from .masks import masked_softmax
from .packed_attention import PackedAttention
from .packing import Block, Layout
from .parent_attention import ParentSupervision


class Mixer(nn.Module):
    """How queries meet keys: a subclass says it for one block of sentences in `mix`.

    Args:
        dropout: on the attention weights, in training.

    Raises:
        ValueError: a rate below 0, or not below 1.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = check_rate(dropout)

    @property
    def drop(self) -> float:
        """Rate of dropout now: none outside training."""
        return self.dropout if self.training else 0.0

    def forward(
        self,
        qkv: Tensor,
        heads: int,
        rows: Tensor,
        context: AttentionContext,
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Mix values.

        Args:
            qkv: queries, keys and values side by side, (N, 3 D).
            heads: number of heads H.
            rows: (N, D) hidden states they were made of.
            context: of the batch.
            need_weights: whether to return the weights.

        Returns:
            Mixed values (N, D); weights before dropout (B, H, T, S), zero at padding, or None.
        """
        mixed, weights, extras = [], [], self.extras(rows, context)
        for block in context.layout.blocks:
            query, key, value = (
                block.take(qkv).unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
            )  # (n, H, l, K) each
            own = None if extras is None else block.take(extras)  # (n, l, E)
            found, table = self.mix(
                query, key, value, own, block, context, need_weights=need_weights
            )  # (n, H, l, K), (n, H, l, l)
            mixed.append(block.give(found.transpose(1, 2)).flatten(1))  # (., D)
            weights.append(table)
        return torch.cat(mixed), _joined(weights, context.layout) if need_weights else None

    def extras(self, rows: Tensor, context: AttentionContext) -> Tensor | None:
        """Return what `mix` needs of each token beside its query, key and value, (N, E)."""
        return None

    def mix(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        extras: Tensor | None,
        block: Block,
        context: AttentionContext,
        *,
        need_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """Mix the values of one block.

        Args:
            query: (n, H, l, K), as ``key`` and ``value``.
            key: see ``query``.
            value: see ``query``.
            extras: see the method `extras`, (n, l, E).
            block: which sentences these are.
            context: of the batch.
            need_weights: whether to return the weights.

        Returns:
            (n, H, l, K); weights before dropout (n, H, l, l) or None.
        """
        raise NotImplementedError


class GlobalMixer(Mixer):
    """Plain attention: every token attends to every real token."""

    def forward(
        self,
        qkv: Tensor,
        heads: int,
        rows: Tensor,
        context: AttentionContext,
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Mix values; see `Mixer`."""
        if need_weights or not self.drop or not context.layout.by_length:
            return super().forward(qkv, heads, rows, context, need_weights=need_weights)
        blocks = context.layout.blocks
        plain = [(None,)] * len(blocks)
        return PackedAttention.apply(qkv, None, blocks, plain, heads, self.drop), None

    def mix(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        extras: Tensor | None,
        block: Block,
        context: AttentionContext,
        *,
        need_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """Mix one block by the fused kernel, or openly when weights are asked for."""
        if not need_weights:
            mixed = functional.scaled_dot_product_attention(
                query, key, value, block.allowed, dropout_p=self.drop
            )
            return mixed, None
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5  # (n, H, l, l)
        weights = masked_softmax(scores, block.allowed)  # (n, H, l, l)
        return functional.dropout(weights, self.drop) @ value, weights


class SelfAttention(nn.Module):
    """Queries, keys and values by one linear map, a mixer, and the output map.

    Args:
        hidden: width D.
        heads: H.
        mixer: how values are mixed (default: plain attention without dropout).
        supervision: teaches the last head to find each word's parent, where the batch has trees.

    Raises:
        ValueError: the heads do not divide the width.
    """

    def __init__(
        self,
        hidden: int,
        heads: int,
        mixer: Mixer | None = None,
        supervision: ParentSupervision | None = None,
    ) -> None:
        super().__init__()
        if hidden % heads:
            raise ValueError(f"{heads} attention heads do not divide a hidden size of {hidden}")
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.mixer = GlobalMixer() if mixer is None else mixer
        self.supervision = supervision

    def forward(
        self, rows: Tensor, context: AttentionContext, *, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Args:
            rows: hidden states, (N, D).
            context: of the batch.
            need_weights: whether to return the attention weights.

        Returns:
            New states (N, D); weights (B, H, T, S) or None.
        """
        qkv = self.qkv(rows)  # (N, 3 D)
        if self.supervision is not None and context.heads is not None:
            context.journal.parent_losses.append(self.supervision(qkv, self.heads, context))
        mixed, weights = self.mixer(qkv, self.heads, rows, context, need_weights=need_weights)
        return self.out(mixed), weights


AttentionFactory = Callable[[int], SelfAttention]


def _joined(tables: list[Tensor], layout: Layout) -> Tensor:
    """Set the weights of blocks, in order, into one table of the batch, (B, H, S, S).

    Padding's own rows are zero, as are its columns, wherever it stands in a sentence.
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
