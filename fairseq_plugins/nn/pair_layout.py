"""The two sides of a pair, a question and its context, as packed rows of their own.

The question's side is everything of the first segment, [CLS] and the first [SEP] included; the
context's side is everything of the second, the last [SEP] included (Chadha and Sood 2019, eq. 1-2).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .packing import Layout


@dataclass(frozen=True)
class Side:
    """One side of every pair of a batch.

    Args:
        rows: its tokens among the packed rows of the batch, (n,), in rising order.
        layout: where they stand when each side begins at the left, (B, S of the side).
    """

    rows: Tensor
    layout: Layout

    @classmethod
    def of(cls, chosen: Tensor, layout: Layout) -> Side:
        """Make a side of the packed rows that are ``chosen``, (N,)."""
        rows = chosen.nonzero().squeeze(1)  # (n,)
        counts = torch.bincount(layout.sentences[rows], minlength=layout.shape[0])  # (B,)
        columns = torch.arange(max(int(counts.max()), 1), device=rows.device)  # (S,)
        return cls(rows, Layout.of(columns >= counts[:, None], may_be_empty=True))

    def take(self, states: Tensor) -> Tensor:
        """Take its rows out of those of the batch: (N, D) to (n, D)."""
        return states.index_select(0, self.rows)

    def spread(self, states: Tensor, size: int) -> Tensor:
        """Set its rows among zeros for the other side's: (n, D) to (N, D) of N = ``size`` rows."""
        return states.new_zeros(size, *states.shape[1:]).index_copy(0, self.rows, states)


@dataclass(frozen=True)
class Sides:
    """Both sides of every pair of a batch.

    Args:
        layout: of the batch.
        question, context: its sides.
    """

    layout: Layout
    question: Side
    context: Side

    @classmethod
    def of(cls, layout: Layout, segments: Tensor | None) -> Sides:
        """Part a batch by its segments, (B, S).

        Raises:
            ValueError: the batch has none, so no pairs.
        """
        if segments is None:
            raise ValueError("question and context cannot be told apart: the batch has no segments")
        second = layout.pack(segments).bool()  # (N,)
        return cls(layout, Side.of(~second, layout), Side.of(second, layout))
