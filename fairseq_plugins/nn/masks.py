"""The one mask convention, and a softmax that bears it.

``padding_mask`` (B, S) is True at padding; ``allowed``, broadcastable to (B, H, T, S), is True
where a query may attend to a key. A query that may attend to nothing gets weights of zero, not NaN.
"""

from __future__ import annotations

import torch
from torch import Tensor


def allowed_keys(padding_mask: Tensor) -> Tensor:
    """Open every real token to every query: (B, S) padding to (B, 1, 1, S) allowed."""
    return ~padding_mask[:, None, None, :]  # (B, 1, 1, S)


def masked_softmax(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Softmax over the keys that are allowed.

    Args:
        scores: (..., T, S).
        allowed: True where attention may go, broadcastable to ``scores``; None: everywhere.

    Returns:
        Weights (..., T, S): each row sums to one, or is zero when nothing is allowed.
    """
    if allowed is None:
        return scores.softmax(dim=-1)
    scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1) * allowed
