"""Several attentions over the same queries, keys and values, weighted by shares of each token.

  O = sum over c of g_c dropout(P_c) V,   P_c = softmax(Q K' / sqrt(K) + M_c)       (separate)
  O = dropout(sum over c of g_c P_c) V                                              (mixture)

(Q K' / sqrt(K) may have a bias, which all share, see `nn.relative_positions`)
where M_c closes places (`nn.masks`). Both have the same expectation, and are equal without
dropout. Separate attentions can each be one call of torch's fused kernel, whose outputs are
weighted: it stores queries, keys, values and its output for the gradient, the mask, which all
heads and layers share, and no table of T x S per head. `openly` has such tables.

Letters: n sentences of l = T = S tokens in a block, H heads of size K, C attentions.
"""

from collections.abc import Callable, Sequence

from torch import Tensor
from torch.nn import functional

from .masks import AdditiveMask

Masks = Sequence[AdditiveMask | None]  # of each attention; None if all keys are open


def fuses(values: Tensor) -> bool:
    """Return whether fused calls are faster on the device of ``values``: not on a processor."""
    return values.device.type != "cpu"


def fused(
    qkv: Tensor | Sequence[Tensor],
    masks: Masks,
    shares: Tensor | None,
    drop: float,
    bias: Tensor | None = None,
) -> Tensor:
    """Mix values by one fused call for each attention; dropout is separate.

    Args:
        qkv: queries, keys and values, (n, H, l, K) each.
        masks: of each attention.
        shares: of each attention, (n, l, C); None for a single one.
        drop: rate of dropout.
        bias: of the scores, (n or 1, H, l, l).

    Returns:
        (n, H, l, K); zero for queries without allowed keys.
    """
    found, (query, key, value) = [], qkv
    for mask in masks:
        added = None if mask is None else mask.added[:, None].to(query.dtype)  # (n, 1, l or 1, l)
        if bias is not None:
            added = bias.to(query.dtype) if added is None else added + bias.to(query.dtype)
        found.append(
            functional.scaled_dot_product_attention(query, key, value, added, dropout_p=drop)
        )
    if shares is None:
        return found[0] if masks[0] is None else masks[0].closed(found[0])
    # Closing shares in place of values stores no second copy of values.
    parts = zip(_by_attention(shares), masks)
    return _weighed(found, [s if mask is None else mask.closed(s) for s, mask in parts])


def openly(
    scores: Tensor,
    value: Tensor,
    masks: Masks,
    shares: Tensor | None,
    *,
    dropout: Callable[[Tensor], Tensor],
    separate: bool,
) -> tuple[Tensor, Tensor]:
    """Mix values by ordinary operations.

    Args:
        scores: of all attentions, (n, H, l, l).
        value: (n, H, l, K).
        masks: of each attention.
        shares: of each attention, (n, l, C); None for a single one.
        dropout: drops weights.
        separate: whether to drop weights of each attention, or of the mixture.

    Returns:
        (n, H, l, K); weights of the mixture before dropout, (n, H, l, l).
    """
    tables = [scores.softmax(-1) if mask is None else mask.softmax(scores) for mask in masks]
    if shares is None:
        return dropout(tables[0]) @ value, tables[0]
    parts = _by_attention(shares)
    weights = _weighed(tables, parts)
    used = _weighed([dropout(t) for t in tables], parts) if separate else dropout(weights)
    return used @ value, weights


def _by_attention(shares: Tensor) -> list[Tensor]:
    """Split shares (n, l, C) into (n, 1, l, 1) each."""
    return [share[:, None, :, None] for share in shares.unbind(-1)]


def _weighed(tables: Sequence[Tensor], shares: Sequence[Tensor]) -> Tensor:
    """Return the sum of tables (n, H, l, .) weighted by shares (n, 1, l, 1)."""
    first, *others = (table * share for table, share in zip(tables, shares))
    return sum(others, first)
