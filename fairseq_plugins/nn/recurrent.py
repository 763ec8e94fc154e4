"""Recurrent layers over packed rows, in one direction or both, without steps for padding.

Hochreiter and Schmidhuber 1997, "LSTM"; Cho et al. 2014, "GRU"; both directions side by side
(Graves and Schmidhuber 2005):

  h_t = [LSTM(x_1 .. x_t); LSTM(x_S .. x_t)]

torch's kernels take the first tokens of all sentences, then the second ones of those that have two,
and so on, longest sentences first. `Steps` is that order, computed once per batch for all layers
over the same sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from .packing import check_known, places


@dataclass(frozen=True)
class Steps:
    """The order in which a recurrent layer reads packed rows."""

    rows: Tensor  # packed row of every token in that order, (N,)
    back: Tensor  # place in that order of every packed row, (N,)
    sizes: Tensor  # number of sentences with a t-th token, (S,), on the processor
    lasts: Tensor  # packed row of every sentence's last token, (B,)
    firsts: Tensor  # packed row of every sentence's first token, (B,)

    @classmethod
    def of(cls, lengths: Tensor, known: np.ndarray | None = None) -> Steps:
        """Return the order of sentences of ``lengths`` (B,), each at least 1, packed in turn.

        A GPU waits unless the host has the lengths, ``known``; see `check_known`.
        """
        known = lengths.cpu().numpy() if known is None else known
        check_known(known, lengths)
        firsts = lengths.cumsum(0) - lengths  # (B,)
        ordered, order = lengths.sort(descending=True, stable=True)  # (B,) twice
        steps = torch.arange(int(known.max()), device=lengths.device)  # (S,)
        there = places((steps[:, None] < ordered).flatten(), known)  # (N,) of (S, B)
        rows = (firsts[order] + steps[:, None]).flatten()[there]  # (N,)
        back = torch.empty_like(rows)
        back[rows] = torch.arange(len(rows), device=rows.device)
        sizes = len(known) - np.bincount(known).cumsum()[:-1]  # (S,) with more than t tokens
        return cls(rows, back, torch.from_numpy(sizes), firsts + lengths - 1, firsts)


class PackedLSTM(nn.Module):
    """One layer.

    Args:
        inputs: width D of the rows.
        hidden: width H of each direction.
        both: whether to add a backward direction.
    """

    def __init__(self, inputs: int, hidden: int, *, both: bool = True) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, bidirectional=both)

    def forward(self, rows: Tensor, steps: Steps) -> Tensor:
        """Read packed rows (N, D); return states (N, 2 H), or (N, H)."""
        return read_rows(self.lstm, rows, steps)

    def ends(self, rows: Tensor, steps: Steps) -> Tensor:
        """Return the last state of each direction in each sentence, (B, 2 H) or (B, H)."""
        states = self(rows, steps)
        if not self.lstm.bidirectional:
            return states[steps.lasts]
        forward, backward = states.chunk(2, dim=1)
        return torch.cat([forward[steps.lasts], backward[steps.firsts]], dim=1)


def read_rows(layer: nn.RNNBase, rows: Tensor, steps: Steps) -> Tensor:
    """Read packed rows (N, D) by one of torch's recurrent layers; return states (N, 2 H or H)."""
    read = PackedSequence(_Permute.apply(rows, steps.rows, steps.back), steps.sizes)
    states, _ = layer(read)
    return _Permute.apply(states.data, steps.back, steps.rows)


class _Permute(torch.autograd.Function):
    """Reorder rows; the gradient is reordered back (no sum is needed)."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, order: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(order, back)
        return rows.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        order, back = ctx.saved_tensors
        return _Permute.apply(gradient, back, order), None, None
