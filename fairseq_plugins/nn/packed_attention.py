"""Attention with dropout on a processor: one node of the autograd graph a layer.

    P_c = softmax(Q K' / sqrt(K) + B + M_c),  U_c = R_c * P_c
    P~ = sum over c of g_c U_c,  O = P~ V

for each sentence and head, where M_c closes places (0 or -inf), the bias B may be absent
(`nn.relative_positions`), and the gates g_c of a token are given, or there is one softmax alone; a
row of P_c that is closed altogether is 0. R_c are the
factors of dropout, drawn for each softmax separately, or once for all, which is dropout on their
mixture. torch has no fused kernel for dropout on a processor. Here every block of sentences of one
length is computed straight from the packed rows, with the gradients by hand. G is the loss's
gradient by O, A = G V' that by P~, and dS that by B:

    dV = P~' G,  dg_c = sum over heads of s_c,   s_c = row sums of U_c * A
    dS = P~ * A - sum over c of g_c s_c P_c,  dQ = dS K / sqrt(K),  dK = dS' Q / sqrt(K)

Without gates the row sum is taken over a head's K numbers of G * O (Dao et al. 2022,
"FlashAttention", appendix B.2).

For the gradient each softmax is stored once: the sign of a weight says whether it is dropped, so
that P_c is the absolute value, and U_c the positive part times 1 / (1 - p).
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .dropout import kept
from .masks import AdditiveMask
from .packing import SentenceBlock

AdditiveMasks = Sequence[Sequence[AdditiveMask | None]]  # per block, per softmax


class PackedAttention(torch.autograd.Function):
    """``PackedAttention.apply(qkv, gates, blocks, additive, heads, drop, separate, *biases)``.

    Args:
        qkv: queries, keys and values side by side, (N, 3 D).
        gates: share of each softmax for each token, (N, C); None for a single softmax.
        blocks: of the batch.
        additive: masks of each block's softmaxes.
        heads: H.
        drop: rate of dropout.
        separate: whether each softmax has its own dropout.
        biases: of the scores of each block, (n or 1, H, T, T); none, or one a block.

    The result is (N, D).
    """

    @staticmethod
    def forward(
        ctx: Any,
        qkv: Tensor,
        gates: Tensor | None,
        blocks: Sequence[SentenceBlock],
        additive: AdditiveMasks,
        heads: int,
        drop: float,
        separate: bool,
        *biases: Tensor,
    ) -> Tensor:
        qkv, width = qkv.contiguous(), qkv.shape[1] // 3
        scale, nothing = (width // heads) ** -0.5, qkv.new_empty(())
        draws = gates.shape[1] if separate and gates is not None else 1
        signs = _drawn(qkv, blocks, heads, drop, draws) if drop else [None] * len(blocks)
        out, saved = qkv.new_empty(len(qkv), width), []
        for block, own, added, bias in zip(blocks, signs, additive, biases or [None] * len(blocks)):
            parts = _by_head(qkv, block, heads, 3).flatten(1, 2)  # (3, n H, T, K)
            query, key, value = parts.unbind()
            if bias is None:
                scores = torch.baddbmm(nothing, query, key.mT, beta=0, alpha=scale)  # (n H, T, T)
            else:
                scores = torch.baddbmm(_by_sentence(bias, query), query, key.mT, alpha=scale)
            tables = [_softmax(scores, part, heads) for part in added]
            if own is not None:
                tables = [table.mul_(own[i % draws]) for i, table in enumerate(tables)]
            used = _used(tables, gates, block, heads, drop)
            place = _by_head(out, block, heads, 1)[0]
            torch.mul(torch.bmm(used, value).view_as(place), 1 / (1 - drop), out=place)
            saved.append((parts, *tables))
        ctx.save_for_backward(out, gates, *(tensor for entry in saved for tensor in entry))
        ctx.blocks, ctx.heads, ctx.drop, ctx.alike = blocks, heads, drop, [len(b) for b in biases]
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        out, gates, *flat = ctx.saved_tensors
        count = len(flat) // max(len(ctx.blocks), 1)  # of a block
        saved = [flat[i : i + count] for i in range(0, len(flat), count)]
        heads, drop, size = ctx.heads, ctx.drop, out.shape[1] // ctx.heads
        gradient, scale, grown = gradient.contiguous(), size**-0.5, 1 / (1 - drop)
        nothing = gradient.new_empty(())
        sums = (gradient * out).unflatten(1, (heads, size)).sum(-1)  # (N, H)
        found = gradient.new_empty(len(out), 3 * out.shape[1])
        by_gates: Any = None if gates is None else torch.empty_like(gates)
        by_biases = []
        for block, (parts, *tables) in zip(ctx.blocks, saved):
            query, key, value = parts.unbind()  # (n H, T, K) each
            given = _by_head(gradient, block, heads, 1)[0].flatten(0, 1)  # (n H, T, K)
            scores = torch.baddbmm(nothing, given, value.mT, beta=0, alpha=grown)  # (n H, T, T)
            used = _used(tables, gates, block, heads, drop)
            if gates is None:
                total = _by_head(sums, block, heads, 1)[0].flatten(0, 1)  # (n H, T, 1)
                scores.mul_(used).addcmul_(_whole(tables[0], drop), total, value=-1)
            else:
                shares = _by_token(gates, block)  # (C, n, T)
                by_gates[block.rows] = _through_mixture(scores, used, tables, shares, heads, drop)
            if ctx.alike:
                table = scores.unflatten(0, (-1, heads))  # (n, H, T, T)
                one = ctx.alike[len(by_biases)] == 1
                by_biases.append(table.sum(0, keepdim=True) if one else table)
            places = _by_head(found, block, heads, 3)
            shape = places.shape[1:]
            torch.mul(torch.bmm(scores, key).view(shape), scale, out=places[0])
            torch.mul(torch.bmm(scores.mT, query).view(shape), scale, out=places[1])
            torch.mul(torch.bmm(used.mT, given).view(shape), grown, out=places[2])
        return found, by_gates, None, None, None, None, None, *by_biases


def _drawn(
    values: Tensor, blocks: Sequence[SentenceBlock], heads: int, drop: float, draws: int
) -> list[Tensor]:
    """Return 1 for kept weights and -1 for dropped ones, (``draws``, n H, T, T) for each block."""
    sizes = [(block.rows.stop - block.rows.start) * block.length * heads for block in blocks]
    signs = kept(values, draws * sum(sizes), drop).mul_(2).sub_(1)
    parts = signs.split([draws * size for size in sizes])
    return [part.view(draws, -1, block.length, block.length) for part, block in zip(parts, blocks)]


def _by_sentence(bias: Tensor, query: Tensor) -> Tensor:
    """Return a bias (n or 1, H, T, T) for queries (n H, T, K), as (n H, T, T)."""
    return bias.expand(len(query) // bias.shape[1], -1, -1, -1).flatten(0, 1)


def _kept(table: Tensor, drop: float) -> Tensor:
    return table.relu() if drop else table


def _whole(table: Tensor, drop: float) -> Tensor:
    return table.abs() if drop else table


def _used(
    tables: Sequence[Tensor], gates: Tensor | None, block: SentenceBlock, heads: int, drop: float
) -> Tensor:
    """Return (1 - p) P~ of a block, (n H, T, T)."""
    if gates is None:
        return _kept(tables[0], drop)
    weights: Any = None
    for table, share in zip(tables, _by_token(gates, block)):
        weight = _kept(table, drop).unflatten(0, (-1, heads))  # (n, H, T, T)
        share = share[:, None, :, None]
        weights = weight * share if weights is None else weights.addcmul_(weight, share)
    return weights.flatten(0, 1)


def _softmax(scores: Tensor, additive_mask: AdditiveMask | None, heads: int) -> Tensor:
    """Return softmax of scores (n H, T, T) where a sentence's ``additive_mask`` is open."""
    if additive_mask is None:
        return scores.softmax(-1)
    return additive_mask.softmax(scores.unflatten(0, (-1, heads))).flatten(0, 1)


def _through_mixture(
    scores: Tensor,
    used: Tensor,
    tables: Sequence[Tensor],
    shares: Tensor,
    heads: int,
    drop: float,
) -> Tensor:
    """Convert the gradient by P~, (n H, T, T), to the gradient by the scores, in place.

    Returns:
        The gradient by the gates, tokens of the block by softmaxes, (n T, C).
    """
    rows = [torch.einsum("bij,bij->bi", _kept(one, drop), scores) for one in tables]  # (n H, T)
    scores.mul_(used)  # P~ * A
    for table, row, share in zip(tables, rows, shares):
        by_head = row.unflatten(0, (-1, heads)) * share[:, None]  # (n, H, T)
        scores.addcmul_(_whole(table, drop), by_head.flatten(0, 1)[:, :, None], value=-1)
    return torch.stack([row.unflatten(0, (-1, heads)).sum(1) for row in rows], -1).flatten(0, 1)


def _by_token(gates: Tensor, block: SentenceBlock) -> Tensor:
    """Return the gates of a block's tokens, (N, C) to (C, n, T)."""
    return gates[block.rows].unflatten(0, (-1, block.length)).permute(2, 0, 1)


def _by_head(rows: Tensor, block: SentenceBlock, heads: int, parts: int) -> Tensor:
    """View a block's rows by part, sentence and head: (N, parts D) to (parts, n, H, T, K)."""
    start, length, width = block.rows.start, block.length, rows.shape[1]
    n, size = (block.rows.stop - start) // length, width // (parts * heads)
    strides = (heads * size, length * width, size, width, 1)
    offset = rows.storage_offset() + start * width
    return rows.as_strided((parts, n, heads, length, size), strides, offset)
