"""Batches without padding: only real tokens are computed with.

A padded batch (B, S) holds N <= B S real tokens. Everything that treats tokens one by one (linear
maps, normalisation, feed-forward layers) works on the packed rows (N, .), so padding costs nothing;
only the inside of attention, where tokens meet, sees the padded shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Layout:
    """Where packed rows stand in the padded batch.

    Args:
        padding_mask: (B, S), True at padding.
        places: (N,) flat positions b S + s of the real tokens, in rising order.
    """

    padding_mask: Tensor
    places: Tensor

    @classmethod
    def of(cls, padding_mask: Tensor, places: Tensor | None = None) -> Layout:
        """Make the layout of a batch; looking ``places`` up makes a GPU wait."""
        if places is None:
            places = (~padding_mask).flatten().nonzero().squeeze(1)  # (N,)
        return cls(padding_mask, places)

    @property
    def shape(self) -> tuple[int, int]:
        """B and S."""
        return self.padding_mask.shape[0], self.padding_mask.shape[1]

    @property
    def full(self) -> bool:
        """Whether nothing is padded, so that packed and padded differ by a reshape alone."""
        return self.places.numel() == self.padding_mask.numel()

    @cached_property
    def positions(self) -> Tensor:
        """Place of every real token in its sentence, (N,); padding on the left does not count."""
        return self.pack((~self.padding_mask).long().cumsum(1) - 1)  # (N,)

    @cached_property
    def first_rows(self) -> Tensor:
        """Packed row of every sentence's first token, (B,)."""
        lengths = (~self.padding_mask).sum(1)  # (B,)
        return lengths.cumsum(0) - lengths  # (B,)

    def pack(self, padded: Tensor) -> Tensor:
        """Keep the real tokens: (B, S, ...) to (N, ...)."""
        flat = padded.reshape(-1, *padded.shape[2:])  # (B S, ...)
        return flat if self.full else _Pack.apply(flat, self.places)

    def pad(self, rows: Tensor) -> Tensor:
        """Set packed rows into a padded batch: (N, ...) to (B, S, ...), zeros at padding."""
        batch, length = self.shape
        flat = rows if self.full else _Pad.apply(rows, self.places, batch * length)
        return flat.reshape(batch, length, *rows.shape[1:])


class _Pack(torch.autograd.Function):
    """Take rows at distinct places; the gradient is set back there (no sum is needed)."""

    @staticmethod
    def forward(ctx: Any, flat: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.size = flat.shape[0]
        return flat.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        return _Pad.apply(gradient, places, ctx.size), None


class _Pad(torch.autograd.Function):
    """Set rows at distinct places among zeros; the gradient is taken from there."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor, size: int) -> Tensor:
        ctx.save_for_backward(places)
        return rows.new_zeros(size, *rows.shape[1:]).index_copy_(0, places, rows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (places,) = ctx.saved_tensors
        return _Pack.apply(gradient, places), None, None
