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

from .dropout import kept
from .packing import Block


class PackedAttention(torch.autograd.Function):
    """``PackedAttention.apply(qkv (N, 3 D), blocks, heads, drop)`` returns mixed values (N, D)."""

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, blocks: Sequence[Block], heads: int, drop: float) -> Tensor:
        size = qkv.shape[1] // (3 * heads)
        out = qkv.new_empty(len(qkv), heads * size)
        counts = [heads * block.length * (block.rows.stop - block.rows.start) for block in blocks]
        masks = kept(sum(counts), drop).split(counts) if drop else [None] * len(blocks)
        saved = []
        for block, mask in zip(blocks, masks):
            query, key, value = (_flat(part) for part in _heads(qkv, block, heads, 3))
            weights = _scores(query, key, size**-0.5).softmax(-1)  # (n H, T, T)
            used = weights if mask is None else weights * mask.view(weights.shape)
            (place,) = _heads(out, block, heads, 1)  # (n, H, T, K)
            torch.mul(torch.bmm(used, value).view(place.shape), 1 / (1 - drop), out=place)
            saved += [weights, used]
        ctx.save_for_backward(qkv, out, *saved)
        ctx.options = blocks, heads, drop
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        qkv, out, *saved = ctx.saved_tensors
        blocks, heads, drop = ctx.options
        size = out.shape[1] // heads
        sums = (gradient * out).unflatten(1, (heads, size)).sum(-1)  # (N, H)
        gradient = gradient * (1 / (1 - drop))
        found = torch.empty_like(qkv)
        for block, weights, used in zip(blocks, saved[::2], saved[1::2]):
            query, key, value = (_flat(part) for part in _heads(qkv, block, heads, 3))
            (given,), (total,) = (_heads(x, block, heads, 1) for x in (gradient, sums))
            given, total = _flat(given), _flat(total)  # (n H, T, K), (n H, T, 1)
            places = _heads(found, block, heads, 3)
            scores = torch.bmm(given, value.transpose(1, 2)).mul_(used)
            scores.addcmul_(weights, total, value=-1)  # (n H, T, T)
            shape = places[0].shape
            torch.mul(torch.bmm(scores, key).view(shape), size**-0.5, out=places[0])
            queries = torch.bmm(scores.transpose(1, 2), query).view(shape)
            torch.mul(queries, size**-0.5, out=places[1])
            places[2].copy_(torch.bmm(used.transpose(1, 2), given).view(shape))
        return found, None, None, None


def _heads(rows: Tensor, block: Block, heads: int, parts: int) -> Tensor:
    """View a block's rows by sentence and head: (N, parts D) to (parts, n, H, T, K)."""
    here = block.take(rows).unflatten(-1, (parts, heads, -1))  # (n, T, parts, H, K)
    return here.permute(2, 0, 3, 1, 4)


def _flat(part: Tensor) -> Tensor:
    """Join sentences and heads, (n, H, T, K) to (n H, T, K); one sentence needs no copy."""
    return part[0] if len(part) == 1 else part.reshape(-1, *part.shape[2:])


def _scores(query: Tensor, key: Tensor, scale: float) -> Tensor:
    nothing = query.new_empty(()).expand(len(query), query.shape[1], key.shape[1])
    return torch.baddbmm(nothing, query, key.transpose(1, 2), beta=0, alpha=scale)
