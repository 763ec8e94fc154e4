"""Dropout with cheap random numbers on a processor.

torch draws one random number from a Bernoulli distribution for each element, which is slow on a
processor (benchmarks/README.md has the shares of a step). Here 16 random bits decide on an element:
it is kept if they, as a number, are below (1 - p) 2^16. The rate is therefore a multiple of 2^-16
(at least one), which is closer to p than float16 is. Seeds work as usual; other devices use torch's
dropout.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

CHOICES = 2**16


def kept(values: Tensor, count: int, drop: float) -> Tensor:
    """Decide what dropout keeps.

    Args:
        values: tensor with the type of the numbers.
        count: number of decisions.
        drop: rate, above 0 and below 1.

    Returns:
        (count,) with 1 for what is kept and 0 for what is dropped.
    """
    words = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    bits = words.view(torch.int16)[:count]  # (count,) from -2^15 to 2^15 - 1
    found = torch.empty(count, dtype=values.dtype)
    # A bound beyond int16 would wrap around and invert every decision.
    bound = min(max(round((1 - drop) * CHOICES), 1), CHOICES - 1)
    torch.lt(bits, bound - CHOICES // 2, out=found)
    return found


def factors(values: Tensor, count: int, drop: float) -> Tensor:
    """Return the factors of dropout, 0 or 1 / (1 - ``drop``); see `kept`."""
    return kept(values, count, drop).mul_(1 / (1 - drop))


class Dropout(nn.Module):
    """Dropout in training.

    Args:
        rate: share of elements that become zero.

    Raises:
        ValueError: a rate below 0, or not below 1.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise ValueError(f"a dropout of {rate} is not between 0 and 1 (1 excluded)")
        self.p = rate

    def forward(self, values: Tensor) -> Tensor:
        """Drop elements of ``values``; the others grow by 1 / (1 - p)."""
        if not self.training:
            return values
        if not self._drawn_here(values):
            return functional.dropout(values, self.p)
        return values * self._factors(values)

    def add(self, values: Tensor, change: Tensor) -> Tensor:
        """Return ``values`` plus ``change`` after dropout, in one pass."""
        if not self.training:
            return values + change
        if not self._drawn_here(change):
            return values + functional.dropout(change, self.p)
        return torch.addcmul(values, change, self._factors(change))

    def _factors(self, values: Tensor) -> Tensor:
        return factors(values, values.numel(), self.p).view(values.shape)

    def _drawn_here(self, values: Tensor) -> bool:
        return self.p > 0 and values.device.type == "cpu"
