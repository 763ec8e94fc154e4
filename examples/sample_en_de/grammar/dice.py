"""Random choices that come out alike on every Python: all of them from ``random()`` alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A seeded source of choices."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        """Pick one item, all equally likely.

        Raises:
            IndexError: there is none.
        """
        return items[int(self._random.random() * len(items))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """Pick one key in proportion to its weight."""
        left = self._random.random() * sum(weights.values())
        *items, last = weights
        for item in items:
            left -= weights[item]
            if left < 0:
                return item
        return last

    def shuffle(self, items: list[T]) -> None:
        """Shuffle in place (Fisher-Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = int(self._random.random() * (last + 1))
            items[last], items[other] = items[other], items[last]
