"""Attention without gradients on a processor: torch's fused kernel on the packed rows.

    O = sum over c of g_c softmax(Q K' / sqrt(K) + B + M_c) V

for each sentence and head. The masks M_c close places (`nn.masks`), and the gates g_c of a token
are given; without gates there is one softmax. B is a bias (`nn.relative_positions`), or absent.

The kernel takes 16 keys at a time, and the rest of a sentence one by one, which is slow for short
sentences: 31 tokens take twice as long as 32. Sentences of one length are therefore extended to a
multiple of 16 keys by rows of their neighbours, before or after them, or by zeros. The mask closes
these rows, so that their weight is exactly zero. Only NaN and infinity pass a mask: with them,
sentences are computed without neighbours.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from .masks import AdditiveMask
from .packing import BatchLayout, SentenceBlock

STEP = 16  # keys that the kernel takes at a time
Masks = Sequence[AdditiveMask | None]  # of the softmaxes of a block; None: all is open


def attend(
    qkv: Tensor,
    layout: BatchLayout,
    heads: int,
    masks: Sequence[Masks] | None = None,
    gates: Tensor | None = None,
    biases: Sequence[Tensor] | None = None,
) -> Tensor:
    """Mix the values of every sentence; gradients do not pass.

    Args:
        qkv: queries, keys and values side by side, (N, 3 D).
        layout: of the batch, whose blocks are sentences of one length each.
        heads: H.
        masks: of each block (default: one softmax over all of a sentence).
        gates: share of each softmax for each token, (N, C); None: there is one alone.
        biases: of the scores of each block, (n or 1, H, l, l).

    Returns:
        (N, D).
    """
    qkv, blocks = qkv.contiguous(), layout.blocks
    masks = [(None,)] * len(blocks) if masks is None else masks
    inputs = (qkv, blocks, heads, masks, gates, biases or [None] * len(blocks))
    wide = layout.shape[0] > 1  # a sentence alone gains nothing
    out = _attend(*inputs, wide=wide)
    if wide and not out.sum().isfinite():
        out = _attend(*inputs, wide=False)
    return out


def _attend(
    qkv: Tensor,
    blocks: Sequence[SentenceBlock],
    heads: int,
    masks: Sequence[Masks],
    gates: Tensor | None,
    biases: Sequence[Tensor | None],
    *,
    wide: bool,
) -> Tensor:
    """Mix values; see `attend`. ``wide``: whether to extend sentences by their neighbours."""
    out = qkv.new_empty(len(qkv), qkv.shape[1] // 3)
    reaches = [reach(block) if wide else (0, 0) for block in blocks]
    if any(block.rows.stop + more > len(qkv) for block, (_, more) in zip(blocks, reaches)):
        qkv = functional.pad(qkv, (0, 0, 0, STEP))
    for block, own, bias, (before, behind) in zip(blocks, masks, biases, reaches):
        query = _part(qkv, block, heads, 0)
        key, value = (_part(qkv, block, heads, i, before, behind) for i in (1, 2))
        shares = [None] if gates is None else block.take(gates)[:, None, :, None].unbind(-1)
        mixed: Any = None
        for mask, share in zip(own, shares):
            added = _widened(mask, bias, qkv, block.length, before, behind)
            found = functional.scaled_dot_product_attention(query, key, value, added)
            found = found if mask is None else mask.closed(found)  # (n, H, l, K)
            found = found if share is None else found.mul_(share)
            mixed = found if mixed is None else mixed.add_(found)
        place = out[block.rows].view(mixed.shape[0], block.length, heads, -1)
        place.copy_(mixed.transpose(1, 2))
    return out


def _widened(
    mask: AdditiveMask | None,
    bias: Tensor | None,
    qkv: Tensor,
    length: int,
    before: int,
    behind: int,
) -> Tensor | None:
    """Return what is added to scores, closed around a sentence.

    The result is (n or 1, H or 1, l or 1, before + l + behind); None for nothing.
    """
    added = bias
    if mask is not None:
        added = mask.added[:, None] if added is None else added + mask.added[:, None]
    if not (before or behind):
        return added
    added = qkv.new_zeros(1, 1, 1, length) if added is None else added
    return functional.pad(added, (before, behind), value=-torch.inf)


def reach(block: SentenceBlock) -> tuple[int, int]:
    """Return the number of rows before and after its sentences that a block includes."""
    more = -block.length % STEP
    return (more, 0) if block.rows.start >= more else (0, more)


def _part(
    qkv: Tensor, block: SentenceBlock, heads: int, which: int, before: int = 0, behind: int = 0
) -> Tensor:
    """View a block's queries, keys or values, (N, 3 D) to (n, H, before + l + behind, K)."""
    length, width = block.length, qkv.shape[1]
    n, size = (block.rows.stop - block.rows.start) // length, width // (3 * heads)
    offset = (block.rows.start - before) * width + which * heads * size
    shape = (n, heads, before + length + behind, size)
    return qkv.as_strided(shape, (length * width, size, width, 1), qkv.storage_offset() + offset)
