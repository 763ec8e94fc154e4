"""Self-attention of an encoder: the only code that makes queries, keys and values.

Vaswani et al. 2017, section 3.2: softmax(Q K' / sqrt(K)) V for each of H heads, side by side, then
one linear map. How queries meet keys is a *mixer*, a value handed in: plain attention here, others
in their own files. Letters: N packed tokens, B batch, T = S length, H heads, K head size, D = H K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional

from .masks import allowed_keys, masked_softmax
from .packing import Layout


@dataclass(frozen=True)
class AttentionContext:
    """What a batch tells every attention layer.

    Args:
        layout: where the packed rows stand in the padded batch.
        segments: (B, S), 0 for the first sentence and 1 for the second.
        allowed: True where attention may go, broadcastable to (B, H, T, S); None: everywhere.
    """

    layout: Layout
    segments: Tensor | None = None
    allowed: Tensor | None = None

    @classmethod
    def of(cls, layout: Layout, segments: Tensor | None = None) -> AttentionContext:
        """Make the context of a batch in which only padding is closed."""
        return cls(layout, segments, None if layout.full else allowed_keys(layout.padding_mask))


class GlobalMixer(nn.Module):
    """Plain attention: every token attends to every real token.

    Args:
        dropout: on the attention weights, in training.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        rows: Tensor,
        context: AttentionContext,
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Mix values.

        Args:
            query: (B, H, T, K); ``key`` and ``value`` are (B, H, S, K).
            key: see ``query``.
            value: see ``query``.
            rows: (N, D) hidden states that queries were made of; plain attention needs none.
            context: of the batch.
            need_weights: whether to return the weights (slower: the fused kernel keeps none).

        Returns:
            Mixed values (B, H, T, K); weights before dropout (B, H, T, S) or None.
        """
        drop = self.dropout if self.training else 0.0
        if not need_weights:
            mixed = functional.scaled_dot_product_attention(
                query, key, value, context.allowed, dropout_p=drop
            )
            return mixed, None
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5  # (B, H, T, S)
        weights = masked_softmax(scores, context.allowed)  # (B, H, T, S)
        return functional.dropout(weights, drop) @ value, weights


class SelfAttention(nn.Module):
    """Queries, keys and values by one linear map, a mixer, and the output map.

    Args:
        hidden: width D.
        heads: H.
        mixer: how values are mixed (default: plain attention without dropout).

    Raises:
        ValueError: the heads do not divide the width.
    """

    def __init__(self, hidden: int, heads: int, mixer: nn.Module | None = None) -> None:
        super().__init__()
        if hidden % heads:
            raise ValueError(f"{heads} attention heads do not divide a hidden size of {hidden}")
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.mixer = GlobalMixer() if mixer is None else mixer

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
        projected = context.layout.pad(self.qkv(rows))  # (B, S, 3 D)
        query, key, value = projected.unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed, weights = self.mixer(query, key, value, rows, context, need_weights=need_weights)
        joined = mixed.transpose(1, 2).flatten(2)  # (B, T, D)
        return self.out(context.layout.pack(joined)), weights


AttentionFactory = Callable[[int], SelfAttention]
