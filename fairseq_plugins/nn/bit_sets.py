"""Sets of tokens as bits of integers: 64 tokens per number, so unions are cheap.

A set over l tokens is C = ceil(l / 64) numbers. Sums of disjoint sets are their unions, so
`scatter_add` unites sets where a device has no scattered "or". Nothing here waits for the device.
Letters: n sentences of l tokens.
"""

import torch
from torch import Tensor

BITS = 64  # of a number; the highest one is its sign, which adds up like the others
OCTET = 8


def gathered(owners: Tensor, size: int) -> Tensor:
    """Return for each owner the set of its tokens, (n, ``size``, C).

    Args:
        owners: of each token, (n, l), from 0 to ``size`` - 1.
        size: number of owners.
    """
    n, length = owners.shape
    cells = -(-length // BITS)
    place = torch.arange(length, device=owners.device)  # (l,)
    bits = (torch.ones_like(place) << (place % BITS)).expand(n, length)
    found = owners.new_zeros(n, size * cells)
    return found.scatter_add_(1, owners * cells + place // BITS, bits).unflatten(1, (size, cells))


def rows_of(sets: Tensor, owners: Tensor) -> Tensor:
    """Take the set of each owner, (n, x, C) and (n, y) to (n, y, C)."""
    return sets.gather(1, owners[:, :, None].expand(-1, -1, sets.shape[2]))


def spread(sets: Tensor, length: int) -> Tensor:
    """Expand sets (n, x, C) to truth values (n, x, l); ``length`` is l."""
    octets = sets.contiguous().view(torch.uint8)  # (n, x, 8 C), lowest tokens first
    number = torch.arange(2**OCTET, device=sets.device)[:, None]
    table = ((number >> torch.arange(OCTET, device=sets.device)) & 1).bool()  # (256, 8)
    found = table.index_select(0, octets.flatten().int())
    return found.view(*sets.shape[:2], -1)[..., :length]
