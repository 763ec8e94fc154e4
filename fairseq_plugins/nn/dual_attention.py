"""Difference attention beside a layer's own: large where queries and keys are far apart.

Wang et al. 2022, "DABERT", section 2.1. A layer's own attention (affinity, eq. 1) stays unchanged;
from the same queries, keys and values the difference attention computes, head by head,

    D = softmax(beta / sqrt(K)) V,   beta_ij = |Q_i - K_j| + M_ij                  (eq. 2 to 4)

and `nn.fusion` fuses both before the output map. The printed |.| is a plain sum of differences,
which the softmax cannot distinguish from -sum_k K_jk: every query then attends alike (``signed``).
The intended distance is ``l1``, the sum of absolute differences; ``l2`` and ``squared`` are further
ones. M closes padding, or with the scope ``cross`` the query's own sentence as well.

Two controls (`CONTROLS`) with as many parameters can replace it: ``second-affinity``, a further
softmax of eq. 1 over the same queries and keys, and ``no-difference``, D = 0.

Letters: N packed tokens, n sentences of l tokens in a block, H heads of size K, D = H K.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .attention import Mixer
from .context import AttentionContext
from .fusion import AdaptiveFusion
from .masks import masked_softmax
from .packing import SentenceBlock
from .tree_masks import CrossRule

SIGNED = "signed"
DIFFERENCES = ("l1", "l2", "squared", SIGNED)
POWERS = {"l1": 1.0, "l2": 2.0}
SCOPES = ("all", "cross")
NONE, SECOND_AFFINITY, NO_DIFFERENCE = CONTROLS = ("none", "second-affinity", "no-difference")
BUFFER = 2**27  # numbers in an accelerator's buffer for the gradient of distances


def distances(query: Tensor, key: Tensor, difference: str) -> Tensor:
    """Return the distances of queries (n, H, T, K) and keys (n, H, S, K) by one of `DIFFERENCES`.

    Returns:
        (n, H, T, S), in single precision at least, under autocast as well. No tensor with T, S and
        K axes is kept.
    """
    wide = torch.promote_types(query.dtype, torch.float32)
    query, key = query.to(wide), key.to(wide)
    with torch.autocast(query.device.type, enabled=False):
        if difference == SIGNED:
            return query.sum(-1)[..., :, None] - key.sum(-1)[..., None, :]
        if difference == "squared":
            lengths = query.square().sum(-1)[..., :, None] + key.square().sum(-1)[..., None, :]
            return lengths - 2 * query @ key.mT
        how = {"p": POWERS[difference], "compute_mode": "donot_use_mm_for_euclid_dist"}
        key = key.contiguous()
        return torch.cat([torch.cdist(part, key, **how) for part in _portions(query, key)], -2)


def _portions(query: Tensor, key: Tensor) -> tuple[Tensor, ...]:
    """Split queries, because an accelerator's gradient needs a (T, S, K) buffer."""
    if query.device.type == "cpu":  # needs no buffer
        return (query.contiguous(),)
    row = query.shape[0] * query.shape[1] * key.shape[2] * key.shape[3]
    return tuple(part.contiguous() for part in query.split(max(1, BUFFER // max(row, 1)), -2))


class DifferenceMixer(Mixer):
    """Attention to keys that differ from the query (eq. 2 to 4).

    Args:
        difference: one of `DIFFERENCES`.
        scope: one of `SCOPES`.
        dropout: on the attention weights, in training.
        control: one of `CONTROLS`.
    """

    def __init__(
        self,
        difference: str = "l1",
        scope: str = "all",
        dropout: float = 0.0,
        control: str = NONE,
    ) -> None:
        super().__init__(dropout)
        self.difference, self.control = difference, control
        self.rule = CrossRule() if scope == "cross" else None

    @property
    def reads_positions(self) -> bool:
        """Whether its scores are products, which know relative positions, and no distances."""
        return self.control == SECOND_AFFINITY

    def packs(self, context: AttentionContext) -> bool:
        """Return False: its scores are no products."""
        return False

    def mix(
        self,
        qkv: Tensor,
        extras: Tensor | None,
        block: SentenceBlock,
        context: AttentionContext,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        query, key, value = qkv
        if self.control == NO_DIFFERENCE:
            shown = value.new_zeros(*value.shape[:3], value.shape[2])  # (n, H, l, l)
            return torch.zeros_like(value), shown if context.need_weights else None
        allowed = block.allowed  # (n, 1, 1, l)
        if self.rule is not None:
            crossing = context.allowed(self.rule, block)[:, None]  # (n, 1, l, l)
            allowed = crossing if allowed is None else crossing & allowed
        near = context.near(block, self.reach)
        if near is not None:
            allowed = near[:, None] if allowed is None else near[:, None] & allowed
        alike = self.difference == SIGNED and self.control == NONE and near is None
        if alike and self.rule is None and not context.need_weights:
            # All queries attend alike: one row, with one draw of dropout, serves them all, O(S D).
            query = query[:, :, :1]
        if self.control == SECOND_AFFINITY:
            scores = self.scores(query, key, block, context, bias)  # (n, H, T, S)
        else:
            scores = distances(query, key, self.difference) * query.shape[-1] ** -0.5
        weights = masked_softmax(scores, allowed).to(value.dtype)
        mixed = self.dropout(weights) @ value  # (n, H, T, K)
        return mixed.expand_as(value), weights


class DualAttention(nn.Module):
    """The second part of a layer with dual attention.

    Args:
        difference: the difference attention.
        fusion: fuses both.
        layer: number of the layer, key of stored weights and gates.
    """

    def __init__(self, difference: DifferenceMixer, fusion: AdaptiveFusion, layer: int = 0) -> None:
        super().__init__()
        self.difference = difference
        self.fusion = fusion
        self.layer = layer

    def forward(
        self,
        affinity: Tensor | None,
        qkv: Tensor,
        heads: int,
        rows: Tensor,
        context: AttentionContext,
        biases: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """Fuse values mixed by the layer's own attention (N, D) with the difference attention.

        ``affinity`` is None if unused; for the rest see `Mixer.forward`. Weights and gates are
        stored. The result, (N, D), still has to pass the output map.
        """
        found, weights = self.difference(qkv, heads, rows, context, biases)
        if weights is not None:
            context.outputs.differences[self.layer] = weights
        fused, gates = self.fusion(affinity, found, context)
        if gates is not None:
            context.outputs.fusions[self.layer] = gates.detach()
        return fused
