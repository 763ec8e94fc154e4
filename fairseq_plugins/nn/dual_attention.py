"""Difference attention beside a layer's own: where queries and keys are far apart, not close.

Wang et al. 2022, "DABERT", section 2.1. A layer's own attention (affinity, eq. 1) stays as it is;
of the same queries, keys and values the difference attention makes, head by head,

    D = softmax(beta / sqrt(K)) V,   beta_ij = |Q_i - K_j| + M_ij                  (eq. 2 to 4)

and `nn.fusion` joins both before the output map. The printed |.| is a plain sum of differences,
which the softmax cannot tell from -sum_k K_jk: every query then attends alike (``signed``). The
distance meant is ``l1``, the sum of absolute differences; ``l2`` and ``squared`` are further ones.
M closes padding, or with the scope ``cross`` the query's own sentence as well.

Letters: N packed tokens, n sentences of l tokens in a block, H heads of size K, D = H K.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .attention import Mixer
from .checks import check_choice
from .context import AttentionContext
from .fusion import AdaptiveFusion
from .masks import masked_softmax
from .packing import Block
from .tree_masks import CrossRule

SIGNED = "signed"
DIFFERENCES = ("l1", "l2", "squared", SIGNED)
SCOPES = ("all", "cross")
BUFFER = 2**27  # numbers that an accelerator may hold at once while it derives distances


def distances(query: Tensor, key: Tensor, difference: str) -> Tensor:
    """Return how far apart queries and keys are.

    Args:
        query: (n, H, T, K).
        key: (n, H, S, K).
        difference: one of `DIFFERENCES`.

    Returns:
        (n, H, T, S), in single precision at least, under autocast as well. No tensor with T, S and
        K axes is kept.
    """
    wide = torch.promote_types(query.dtype, torch.float32)
    with torch.autocast(query.device.type, enabled=False):
        return _distances(query.to(wide), key.to(wide), difference)


def _distances(query: Tensor, key: Tensor, difference: str) -> Tensor:
    if difference == SIGNED:
        return query.sum(-1)[..., :, None] - key.sum(-1)[..., None, :]
    if difference == "squared":
        lengths = query.square().sum(-1)[..., :, None] + key.square().sum(-1)[..., None, :]
        return lengths - 2 * query @ key.mT
    power = 1.0 if difference == "l1" else 2.0
    return torch.cat([_minkowski(part, key, power) for part in _portions(query, key)], -2)


def _minkowski(query: Tensor, key: Tensor, power: float) -> Tensor:
    exact = "donot_use_mm_for_euclid_dist"
    return torch.cdist(query, key.contiguous(), p=power, compute_mode=exact)


def _portions(query: Tensor, key: Tensor) -> tuple[Tensor, ...]:
    """Split queries: an accelerator derives with a (T, S, K) buffer, which so stays small."""
    if query.device.type == "cpu":  # derives without one
        return (query.contiguous(),)
    row = query.shape[0] * query.shape[1] * key.shape[2] * key.shape[3]
    return tuple(part.contiguous() for part in query.split(max(1, BUFFER // max(row, 1)), -2))


class DifferenceMixer(Mixer):
    """Attention to what differs from the query (eq. 2 to 4).

    Args:
        difference: one of `DIFFERENCES`.
        scope: one of `SCOPES`.
        dropout: on the attention weights, in training.

    Raises:
        ValueError: another difference or scope.
    """

    def __init__(self, difference: str = "l1", scope: str = "all", dropout: float = 0.0) -> None:
        super().__init__(dropout)
        check_choice("difference", difference, DIFFERENCES)
        check_choice("scope of differences", scope, SCOPES)
        self.difference = difference
        self.rule = CrossRule() if scope == "cross" else None

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
        """Mix one block; see `Mixer`."""
        allowed = block.allowed  # (n, 1, 1, l)
        if self.rule is not None:
            crossing = context.allowed(self.rule, block)[:, None]  # (n, 1, l, l)
            allowed = crossing if allowed is None else crossing & allowed
        if self.difference == SIGNED and self.rule is None and not need_weights:
            # All queries attend alike: one row, with one draw of dropout, serves them all, O(S D).
            query = query[:, :, :1]
        scores = distances(query, key, self.difference) * query.shape[-1] ** -0.5  # (n, H, T, S)
        weights = masked_softmax(scores, allowed).to(value.dtype)
        mixed = self.dropout(weights) @ value  # (n, H, T, K)
        return mixed.expand_as(value), weights


class DualAttention(nn.Module):
    """What a layer with dual attention does beside its own attention.

    Args:
        difference: the difference attention.
        fusion: joins both.
        layer: number of the layer, under which weights and gates are told.
    """

    def __init__(self, difference: DifferenceMixer, fusion: AdaptiveFusion, layer: int = 0) -> None:
        super().__init__()
        self.difference = difference
        self.fusion = fusion
        self.layer = layer

    @property
    def reads_affinity(self) -> bool:
        """Whether the layer's own attention has a part in the result."""
        return self.fusion.reads_affinity

    def forward(
        self,
        affinity: Tensor | None,
        qkv: Tensor,
        heads: int,
        rows: Tensor,
        context: AttentionContext,
        *,
        need_weights: bool = False,
    ) -> Tensor:
        """Join the layer's own attention with the difference attention.

        Args:
            affinity: values mixed by the layer's own attention, (N, D); None where not read.
            qkv: queries, keys and values side by side, (N, 3 D).
            heads: H.
            rows: hidden states they were made of, (N, D).
            context: of the batch.
            need_weights: whether to tell the weights of the difference attention.

        Returns:
            (N, D), before the output map.
        """
        found, weights = self.difference(qkv, heads, rows, context, need_weights=need_weights)
        if weights is not None:
            context.outputs.differences[self.layer] = weights
        fused, gates = self.fusion(affinity, found, context)
        if gates is not None:
            context.outputs.fusions[self.layer] = gates.detach()
        return fused
