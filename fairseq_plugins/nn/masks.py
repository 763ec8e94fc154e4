"""The one mask convention, and softmaxes that bear it.

``padding_mask`` (B, S) is True at padding; ``allowed``, broadcastable to (B, H, T, S), is True
where a query may attend to a key. A query that may attend to nothing gets weights of zero, not NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


def allowed_keys(padding_mask: Tensor) -> Tensor:
    """Open every real token to every query: (B, S) padding to (B, 1, 1, S) allowed."""
    return ~padding_mask[:, None, None, :]  # (B, 1, 1, S)


@dataclass(frozen=True)
class AdditiveMask:
    """Who may see whom on a processor, as kernels written by hand take it.

    Args:
        added: to scores, (n, T, S): 0 where attention may go, -inf elsewhere.
        blind: queries that may attend to nothing, (n, T); None where every one sees something.
    """

    added: Tensor
    blind: Tensor | None = None

    @classmethod
    def of(cls, allowed: Tensor) -> AdditiveMask:
        """Make it of ``allowed`` (n, T, S)."""
        added = torch.where(allowed, 0.0, -torch.inf)
        blind = added.amax(-1) < 0  # (n, T); far faster than `any` of truth values
        return cls(added, blind if blind.any() else None)

    def softmax(self, scores: Tensor) -> Tensor:
        """Do as `masked_softmax`, for scores of every head (n, H, T, S)."""
        weights = torch.softmax(scores + self.added[:, None].to(scores.dtype), -1)
        if self.blind is not None:  # whose weights are no numbers
            weights = weights.masked_fill(self.blind[:, None, :, None], 0.0)
        return weights


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Softmax of scores (..., T, S) over the keys that are allowed; None allows all.

    Returns:
        Weights (..., T, S): each row sums to one, or is zero when nothing is allowed.
    """
    if allowed is None:
        return scores.softmax(dim=-1)
    scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1) * allowed
