"""Plain attention of answers on a processor: torch's fused kernel, straight from the packed rows.

The kernel takes 16 keys at a time, and what is left over of a sentence one by one, which is dear
for short sentences: of 31 tokens it needs twice the time that 32 take. Sentences of one length are
therefore shown with as many rows of their neighbours as round their keys up, before or behind
them, and these are closed by the mask, so that they weigh exactly nothing. Nothing is copied. Only
what is no number weighs in spite of a mask: where it appears, sentences are computed apart.
"""

import torch
from torch import Tensor
from torch.nn import functional

from .packing import BatchLayout, SentenceBlock

STEP = 16  # keys that the kernel takes at a time


def attend(qkv: Tensor, layout: BatchLayout, heads: int) -> Tensor:
    """Return softmax(Q K' / sqrt(K)) V of every sentence; gradients do not pass.

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
    """Mix values; see `attend`. ``wide``: whether sentences are shown with their neighbours."""
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
    """Return how many rows before or behind its sentences a block sees, of ``count`` rows."""
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
