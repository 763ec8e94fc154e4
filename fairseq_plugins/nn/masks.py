"""The one mask convention, and softmaxes that bear it.

``padding_mask`` (B, S) is True at padding; ``allowed``, broadcastable to (B, H, T, S), is True
where a query may attend to a key. A query that may attend to nothing gets weights of zero, not NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

ALIGNED = 16  # numbers; fused kernels copy masks whose rows begin elsewhere


def allowed_keys(padding_mask: Tensor) -> Tensor:
    """Open every real token to every query: (B, S) padding to (B, 1, 1, S) allowed."""
    return ~padding_mask[:, None, None, :]  # (B, 1, 1, S)


@dataclass(frozen=True)
class AdditiveMask:
    """Who may see whom, as kernels take it; T may be 1 where all queries may see the same."""

    # to scores, (n, T, S): 0 where attention may go, -inf elsewhere; rows of queries that may
    # attend to nothing are all 0, since kernels would make no numbers of them
    added: Tensor
    # these queries, (n, T), whose values are to be zero; None where it is known that every one sees
    # something
    blind: Tensor | None = None

    @classmethod
    def of(cls, allowed: Tensor, dtype: torch.dtype = torch.float32) -> AdditiveMask:
        """Make it of ``allowed`` (n, T, S) for scores of ``dtype``, without waiting for a GPU."""
        waits, length = allowed.device.type == "cpu", allowed.shape[-1]
        wide = allowed if waits else functional.pad(allowed, (0, -length % ALIGNED))
        added = torch.where(wide, 0.0, -torch.inf).to(dtype)[..., :length]
        blind = added.amax(-1) < 0  # (n, T); far faster than `any` of truth values
        if waits and not blind.any():
            return cls(added)
        return cls(added.masked_fill_(blind[..., None], 0.0), blind)

    def softmax(self, scores: Tensor) -> Tensor:
        """Do as `masked_softmax`, for scores of every head (n, H, T, S)."""
        return self.closed(torch.softmax(scores + self.added[:, None].to(scores.dtype), -1))

    def closed(self, values: Tensor) -> Tensor:
        """Return values of queries (n, ., T, .), zero where a query may attend to nothing."""
        if self.blind is None:
            return values
        return values.masked_fill(self.blind[:, None, :, None], 0.0)


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Softmax of scores (..., T, S) over the keys that are allowed; None allows all.

    Returns:
        Weights (..., T, S): each row sums to one, or is zero when nothing is allowed.
    """
    if allowed is None:
        return scores.softmax(dim=-1)
    scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1) * allowed
