"""Attention of one side's tokens to the other side's, each with its own packed rows.

Vaswani et al. 2017, section 3.2.3: queries of one side, keys and values of the other, otherwise as
`attention`.
"""

from torch import Tensor, nn
from torch.nn import functional

from .attention import check_heads
from .dropout import Dropout
from .masks import allowed_keys, masked_softmax
from .packing import BatchLayout


class CrossAttention(nn.Module):
    """Queries of some tokens, keys and values of others of the same sentence, and the output map.

    Args:
        hidden: width D.
        heads: H.
        dropout: on the attention weights, in training.

    Raises:
        ValueError: the heads do not divide the width, or a rate below 0, or not below 1.
    """

    def __init__(self, hidden: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        check_heads(hidden, heads)
        self.heads = heads
        self.query = nn.Linear(hidden, hidden)
        self.key_value = nn.Linear(hidden, 2 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        queries: Tensor,
        query_layout: BatchLayout,
        memory: Tensor,
        memory_layout: BatchLayout,
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from states (N, D), laid out as (B, T), to a memory (M, D), laid out as (B, S).

        Returns:
            New states (N, D); weights before dropout (B, H, T, S), zero at padding, or None if not
            requested.
        """
        query = query_layout.pad(self.query(queries)).unflatten(-1, (self.heads, -1))
        query = query.transpose(1, 2)  # (B, H, T, K)
        memory = memory_layout.pad(self.key_value(memory)).unflatten(-1, (2, self.heads, -1))
        key, value = memory.permute(2, 0, 3, 1, 4)  # (B, H, S, K) each
        allowed = None if memory_layout.full else allowed_keys(memory_layout.padding_mask)
        drop = self.dropout.p if self.training else 0.0
        weights = None
        if need_weights or (drop and query.device.type == "cpu"):
            scores = query * query.shape[-1] ** -0.5 @ key.mT  # (B, H, T, S)
            weights = masked_softmax(scores, allowed)  # (B, H, T, S)
            mixed = self.dropout(weights) @ value  # (B, H, T, K)
        else:
            mixed = functional.scaled_dot_product_attention(
                query, key, value, allowed, dropout_p=drop
            )
        mixed = query_layout.pack(mixed.transpose(1, 2).flatten(2))  # (N, D)
        if weights is not None and need_weights and not query_layout.full:
            weights = weights.masked_fill(query_layout.padding_mask[:, None, :, None], 0.0)
        return self.out(mixed), weights if need_weights else None
