"""The mask convention of all attention, and softmaxes with masks.

``padding_mask`` (B, S) is True at padding; ``allowed``, broadcastable to (B, H, T, S), is True
where a query may attend to a key. A query without allowed keys gets weights of zero, not NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

ALIGNED = 16  # numbers; fused kernels copy masks whose rows begin elsewhere


def allowed_keys(padding_mask: Tensor) -> Tensor:
    """Allow every real token for every query: (B, S) padding to (B, 1, 1, S) allowed."""
    return ~padding_mask[:, None, None, :]  # (B, 1, 1, S)


@dataclass(frozen=True)
class AdditiveMask:
    """A mask to add to scores; T may be 1 if it is the same for all queries."""

    # (n, T, S): 0 at allowed keys, -inf elsewhere; rows of queries without allowed keys are 0,
    # because kernels would return NaN
    added: Tensor
    # queries without allowed keys, (n, T), whose values become zero; None if there are none
    blind: Tensor | None = None

    @classmethod
    def of(cls, allowed: Tensor, dtype: torch.dtype = torch.float32) -> AdditiveMask:
        """Return the mask of ``allowed`` (n, T, S) for scores of ``dtype``; no GPU waits."""
        on_host, length = allowed.device.type == "cpu", allowed.shape[-1]
        wide = allowed if on_host else functional.pad(allowed, (0, -length % ALIGNED))
        added = torch.where(wide, 0.0, -torch.inf).to(dtype)[..., :length]
        blind = added.amax(-1) < 0  # (n, T); far faster than `any` of truth values
        if on_host and not torch.compiler.is_exporting() and not blind.any():
            return cls(added)
        return cls(added.masked_fill_(blind[..., None], 0.0), blind)

    def softmax(self, scores: Tensor) -> Tensor:
        """Return `masked_softmax` for scores of every head (n, H, T, S)."""
        return self.closed(torch.softmax(scores + self.added[:, None].to(scores.dtype), -1))

    def closed(self, values: Tensor) -> Tensor:
        """Return values of queries (n, ., T, .), zero for queries without allowed keys."""
        if self.blind is None:
            return values
        return values.masked_fill(self.blind[:, None, :, None], 0.0)


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Softmax of scores (..., T, S) over the allowed keys; None allows all.

    Returns:
        Weights (..., T, S): each row sums to one, or is zero without allowed keys.
    """
    if allowed is None:
        return scores.softmax(dim=-1)
    scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1) * allowed
