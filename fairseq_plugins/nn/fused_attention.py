"""Plain attention without gradients on a processor: torch's fused kernel on the packed rows.

The kernel takes 16 keys at a time, and the rest of a sentence one by one, which is slow for short
sentences: 31 tokens take twice as long as 32. Sentences of one length are therefore extended by
rows
of their neighbours, before or after them, to a multiple of 16 keys, and the mask closes these rows,
so
that their weight is exactly zero. Nothing is copied. Only NaN and infinity pass a mask: with them,
sentences are computed without neighbours.
"""

import torch
from torch import Tensor
from torch.nn import functional

from .packing import BatchLayout, SentenceBlock

STEP = 16  # keys that the kernel takes at a time


def attend(qkv: Tensor, layout: BatchLayout, heads: int) -> Tensor:
    """Return softmax(Q K' / sqrt(K)) V of every sentence, without gradients.

    Args:
        qkv: queries, keys and values side by side, (N, 3 D).
        layout: of the batch, whose blocks are sentences of one length each.
        heads: H.

    Returns:
        (N, D).
    """
    qkv = qkv.contiguous()
    out = _attend(qkv, layout, heads, wide=True)
    return out if out.sum().isfinite() else _attend(qkv, layout, heads, wide=False)


def _attend(qkv: Tensor, layout: BatchLayout, heads: int, *, wide: bool) -> Tensor:
    """Mix values; see `attend`. ``wide``: whether to extend sentences by their neighbours."""
    out = qkv.new_empty(len(qkv), qkv.shape[1] // 3)
    longest = max((block.length for block in layout.blocks), default=0)
    bars = qkv.new_zeros(longest + 2 * STEP)  # (16 + longest + 16,), closed at both ends
    bars[:STEP] = bars[-STEP:] = -torch.inf
    for block in layout.blocks:
        before, behind = reach(block, len(qkv)) if wide else (0, 0)
        query = _part(qkv, block, heads, 0)
        key, value = (_part(qkv, block, heads, i, before, behind) for i in (1, 2))
        mask = None
        if before or behind:
            first = STEP - before if before else STEP + longest - block.length
            mask = bars[None, None, None, first : first + before + block.length + behind]
        mixed = functional.scaled_dot_product_attention(query, key, value, mask)  # (n, H, l, K)
        out[block.rows].view(mixed.shape[0], block.length, heads, -1).copy_(mixed.transpose(1, 2))
    return out


def reach(block: SentenceBlock, count: int) -> tuple[int, int]:
    """Return the number of rows before and after its sentences that a block includes."""
    more = -block.length % STEP
    if block.rows.start >= more:
        return more, 0
    return (0, more) if block.rows.stop + more <= count else (0, 0)


def _part(
    qkv: Tensor, block: SentenceBlock, heads: int, which: int, before: int = 0, behind: int = 0
) -> Tensor:
    """View a block's queries, keys or values, (N, 3 D) to (n, H, before + l + behind, K)."""
    length, width = block.length, qkv.shape[1]
    n, size = (block.rows.stop - block.rows.start) // length, width // (3 * heads)
    offset = (block.rows.start - before) * width + which * heads * size
    shape = (n, heads, before + length + behind, size)
    return qkv.as_strided(shape, (length * width, size, width, 1), qkv.storage_offset() + offset)
