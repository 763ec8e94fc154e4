"""Attention within a window, for long sentences: blocks of queries with the keys around them.

A sentence of l tokens, each of which sees r tokens to each side, is cut into blocks of w = 2 r
queries. Each block sees w + 2 r = 2 w keys, so that time and memory grow with l w, not with l^2.
"""

import torch
from torch import Tensor
from torch.nn import functional

WORTH = 8  # sentences longer than this many reaches are cut


def is_long(length: int, reach: int | None) -> bool:
    """Return whether cutting is worth it."""
    return 0 < WORTH * (reach or 0) < length


def banded(qkv: Tensor, reach: int, drop: float, allowed: Tensor | None = None) -> Tensor:
    """Mix values of keys at most ``reach`` tokens away.

    Args:
        qkv: queries, keys and values, (3, n, H, l, K).
        reach: r.
        drop: rate of dropout.
        allowed: keys that are no padding, (n, 1, 1, l); None if all are real.

    Returns:
        (n, H, l, K); the values of padding have no meaning.
    """
    length, width = qkv.shape[3], 2 * reach
    count = -(-length // width)
    lacking = count * width - length
    query = functional.pad(qkv[0], (0, 0, 0, lacking)).unflatten(2, (count, width))
    around = functional.pad(qkv[1:], (0, 0, reach, reach + lacking))
    key, value = around.unfold(3, 2 * width, width).mT  # (n, H, blocks, 2 w, K) each
    place = torch.arange(2 * width, device=qkv.device)
    near = (place[:width, None] + reach - place).abs() <= reach  # (w, 2 w)
    real = qkv.new_ones(1, length, dtype=torch.bool) if allowed is None else allowed[:, 0, 0]
    real = functional.pad(real, (reach, reach + lacking)).unfold(1, 2 * width, width)
    seen = near & real[:, None, :, None]  # (n or 1, 1, blocks, w, 2 w)
    seen = seen | ~seen.any(-1, keepdim=True)  # queries of padding
    seen = seen if allowed is None else seen.expand(-1, qkv.shape[2], -1, -1, -1)
    # kernels take four axes: here sentences with heads, blocks, tokens, and numbers
    parts = [part.flatten(0, 1) for part in (query, key, value, seen)]
    mixed = functional.scaled_dot_product_attention(*parts, dropout_p=drop)
    return mixed.unflatten(0, (-1, qkv.shape[2])).flatten(2, 3)[:, :, :length]
