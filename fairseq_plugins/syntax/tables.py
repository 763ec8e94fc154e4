"""Tables: layers of pairs of words, a number for each pair of words of a text's two sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .layer import WORD_PAIR, Layer
from .rows import AGAIN, Rows


@dataclass(frozen=True)
class Table(Layer):
    """The comparison of the words of a pair of sentences, as numbers below ``size``."""

    unit: str = WORD_PAIR
    size: int = 256

    def sides(self, sentences: int) -> range:
        return range(1, 2)

    def id_count(self, words: int) -> int:
        return self.size

    def checked(self, what: object, rows: Rows, cure: str = AGAIN, row: str = "example") -> Rows:
        rows.check(what, self.size, self.name)
        return rows

    def collated(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Return the comparison of all words of each pair, from 0 to 1, (B, M, M).

        Words are counted over both sentences, with a gap between. The number is 1 within a
        sentence, at the gap and at padding; the matrix is symmetric.

        Args:
            values: (V, W) of each pair, from second to first sentences' words.
        """
        width = max(sum(table.shape) + 1 for table in values)
        out = np.ones((len(values), width, width), dtype=np.float32)  # (B, M, M)
        for square, table in zip(out, values):
            second, first = table.shape
            shares = table / np.float32(self.size - 1)
            square[first + 1 : first + 1 + second, :first] = shares
            square[:first, first + 1 : first + 1 + second] = shares.T
        return out
