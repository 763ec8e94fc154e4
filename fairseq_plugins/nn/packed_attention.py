"""Plain attention with dropout on a processor: one node of the autograd graph a layer.

    P = softmax(Q K' / sqrt(K)),  P~ = dropout(P),  O = P~ V        for each sentence and head

torch has no fused kernel for dropout on a processor. Here every block of sentences of one length is
computed straight from the packed rows, with the gradients by hand (G is the loss's by O):

    dV = P~' G,  dS = P~ * (G V') - P * sum(G * O),  dQ = dS K / sqrt(K),  dK = dS' Q / sqrt(K)

where the sum over a head's K numbers replaces softmax's own sum over the keys (Dao et al. 2022,
"FlashAttention", appendix B.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .dropout import factors
from .packing import Block


class PackedAttention(torch.autograd.Function):
    """``PackedAttention.apply(qkv (N, 3 D), blocks, heads, drop)`` returns mixed values (N, D)."""

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, blocks: Sequence[Block], heads: int, drop: float) -> Tensor:
        qkv, width = qkv.contiguous(), qkv.shape[1] // 3
        scale, nothing = (width // heads) ** -0.5, qkv.new_empty(())
        counts = [heads * block.length * (block.rows.stop - block.rows.start) for block in blocks]
        masks = factors(qkv, sum(counts), drop).split(counts) if drop else [None] * len(blocks)
        out, saved = qkv.new_empty(len(qkv), width), []
        for block, mask in zip(blocks, masks):
            parts = _by_head(qkv, block, heads, 3).flatten(1, 2)  # (3, n H, T, K)
            query, key, value = parts.unbind()
            scores = torch.baddbmm(nothing, query, key.mT, beta=0, alpha=scale)  # (n H, T, T)
            weights = scores.softmax(-1)
            used = weights if mask is None else weights * mask.view_as(weights)
            place = _by_head(out, block, heads, 1)[0]
            place.copy_(torch.bmm(used, value).view_as(place))
            saved += [parts, weights, used]
        ctx.save_for_backward(out, *saved)
        ctx.blocks, ctx.heads = blocks, heads
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        out, *saved = ctx.saved_tensors
        heads, size = ctx.heads, out.shape[1] // ctx.heads
        gradient, scale = gradient.contiguous(), size**-0.5
        sums = (gradient * out).unflatten(1, (heads, size)).sum(-1)  # (N, H)
        found = gradient.new_empty(len(out), 3 * out.shape[1])
        for block, parts, weights, used in zip(ctx.blocks, saved[::3], saved[1::3], saved[2::3]):
            query, key, value = parts.unbind()  # (n H, T, K) each
            given = _by_head(gradient, block, heads, 1)[0].flatten(0, 1)  # (n H, T, K)
            total = _by_head(sums, block, heads, 1)[0].flatten(0, 1)  # (n H, T, 1)
            scores = torch.bmm(given, value.mT).mul_(used).addcmul_(weights, total, value=-1)
            places = _by_head(found, block, heads, 3)
            shape = places.shape[1:]
            torch.mul(torch.bmm(scores, key).view(shape), scale, out=places[0])
            torch.mul(torch.bmm(scores.mT, query).view(shape), scale, out=places[1])
            places[2].copy_(torch.bmm(used.mT, given).view(shape))
        return found, None, None, None


def _by_head(rows: Tensor, block: Block, heads: int, parts: int) -> Tensor:
    """View a block's rows by part, sentence and head: (N, parts D) to (parts, n, H, T, K)."""
    start, length, width = block.rows.start, block.length, rows.shape[1]
    n, size = (block.rows.stop - start) // length, width // (parts * heads)
    strides = (heads * size, length * width, size, width, 1)
    offset = rows.storage_offset() + start * width
    return rows.as_strided((parts, n, heads, length, size), strides, offset)
