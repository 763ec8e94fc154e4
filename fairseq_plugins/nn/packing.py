"""Batches without padding: only real tokens are computed.

A padded batch (B, S) holds N <= B S real tokens. Layers on single tokens (linear maps,
normalisation, feed-forward layers) work on the packed rows (N, .), so padding costs nothing.
Attention, which combines tokens, splits a batch into blocks: on a processor sentences of one length
each, without padding; on an accelerator, which prefers few large operations, one padded block.
There are few blocks if sentences of similar length share a batch, as in our batches.

The two sides of a pair, a question and its context, have their own packed rows: the first segment
with [CLS] and the first [SEP], and the second segment with the last [SEP] (Chadha and Sood 2019,
eq. 1-2).

Reading a number from an accelerator makes the program wait. So the sizes of a batch come with the
batch, as arrays on the host (`data.text_batches`); without them they are read from the tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .masks import allowed_keys

Known = Mapping[str, np.ndarray]


@dataclass
class BatchLayout:
    """The places of packed rows in the padded batch."""

    padding_mask: Tensor  # (B, S), True at padding
    # (N,) flat positions b S + s of the real tokens, in rising order; of all tokens in a `padded`
    # layout
    token_positions: Tensor
    known: Known  # sizes of the batch known to the host, by name; see `data.text_batches`
    keeps_padding: bool = False  # whether padding is computed too; see `padded`
    _blocks: tuple[SentenceBlock, ...] | None = None
    _positions: Tensor | None = None

    @classmethod
    def of(
        cls,
        padding_mask: Tensor,
        token_positions: Tensor | None = None,
        *,
        known: Known | None = None,
        may_be_empty: bool = False,
    ) -> BatchLayout:
        """Return the layout of a batch; without ``token_positions`` and ``known`` a GPU waits.

        Args:
            padding_mask: (B, S), True at padding.
            token_positions: (N,) of the real tokens, if known.
            known: see `BatchLayout`.
            may_be_empty: whether a sentence may have no token, and then no first row.

        Raises:
            ValueError: a sentence has no token, or ``known`` is of another batch. Not checked on an
                accelerator, which would wait; there the maker of the batch is responsible
                (`data.text_batches`).
        """
        if known:
            on_host = padding_mask.device.type == "cpu"
            check_known(known["lengths"], (~padding_mask).sum(1) if on_host else padding_mask)
        if padding_mask.device.type == "cpu" and not may_be_empty:
            empty = padding_mask.all(1).nonzero().squeeze(1).tolist()
            if empty:
                raise ValueError(f"sentence {empty[0]} of the batch, from 0, has no token")
        if token_positions is None:
            lengths = known["lengths"] if known else None
            token_positions = places((~padding_mask).flatten(), lengths)  # (N,)
        return cls(padding_mask, token_positions, known or {})

    @classmethod
    def padded(cls, padding_mask: Tensor) -> BatchLayout:
        """Return a layout in which every place of the batch is a row, N = B S.

        The computation depends only on sizes, never on the places of padding, so it can be traced.
        Real tokens get the same results; rows of padding have no meaning.

        Args:
            padding_mask: (B, S), True at padding, which stands on the right.
        """
        positions = torch.arange(padding_mask.numel(), device=padding_mask.device)  # (B S,)
        return cls(padding_mask, positions, {}, keeps_padding=True)

    @property
    def shape(self) -> tuple[int, int]:
        """B and S."""
        return self.padding_mask.shape[0], self.padding_mask.shape[1]

    @property
    def full(self) -> bool:
        """Whether packed and padded differ only by a reshape."""
        return self.keeps_padding or self.token_positions.numel() == self.padding_mask.numel()

    @property
    def by_length(self) -> bool:
        """Whether blocks are sentences of one length each, not the whole padded batch."""
        return self.padding_mask.device.type == "cpu" and not self.keeps_padding

    @property
    def blocks(self) -> tuple[SentenceBlock, ...]:
        """The blocks of attention; together all sentences, in order."""
        if self._blocks is None:
            self._blocks = self._found_blocks()
        return self._blocks

    def _found_blocks(self) -> tuple[SentenceBlock, ...]:
        if not self.by_length:
            whole = self.full and not self.keeps_padding
            return (
                SentenceBlock(slice(None), slice(None), self.shape[1], None if whole else self),
            )
        lengths, counts = (~self.padding_mask).sum(1).unique_consecutive(return_counts=True)
        found, row, sentence = [], 0, 0
        for length, count in zip(lengths.tolist(), counts.tolist()):
            rows = slice(row, row + count * length)
            found.append(SentenceBlock(rows, slice(sentence, sentence + count), length))
            row, sentence = rows.stop, sentence + count
        return tuple(block for block in found if block.length)

    @property
    def positions(self) -> Tensor:
        """Place of every token in its sentence, (N,); padding on the left does not count."""
        if self._positions is None:
            self._positions = self.pack((~self.padding_mask).long().cumsum(1) - 1)  # (N,)
        return self._positions

    @property
    def lengths(self) -> Tensor:
        """Tokens of every sentence, (B,)."""
        return (~self.padding_mask).sum(1)

    @property
    def sentences(self) -> Tensor:
        """Sentence of every token, (N,)."""
        return self.token_positions // self.shape[1]

    @property
    def first_rows(self) -> Tensor:
        """Packed row of every sentence's first token, (B,); none may be empty."""
        if self.keeps_padding:
            return torch.arange(self.shape[0], device=self.padding_mask.device) * self.shape[1]
        lengths = self.lengths  # (B,)
        return lengths.cumsum(0) - lengths  # (B,)

    def pack(self, padded: Tensor) -> Tensor:
        """Keep the real tokens: (B, S, ...) to (N, ...)."""
        flat = padded.reshape(-1, *padded.shape[2:])  # (B S, ...)
        return flat if self.full else _Pack.apply(flat, self.token_positions)

    def pad(self, rows: Tensor) -> Tensor:
        """Put packed rows into a padded batch: (N, ...) to (B, S, ...), zeros at padding."""
        batch, length = self.shape
        flat = rows if self.full else _Pad.apply(rows, self.token_positions, batch * length)
        return flat.reshape(batch, length, *rows.shape[1:])


@dataclass(frozen=True)
class SentenceBlock:
    """Sentences whose attention is computed together."""

    rows: slice  # its packed rows
    sentences: slice  # its sentences of the batch
    length: int  # width l of the block
    # of the padded block; None if all n sentences have length l
    layout: BatchLayout | None = None

    @property
    def allowed(self) -> Tensor | None:
        """The keys that are no padding, (n, 1, 1, l); None without padding."""
        return None if self.layout is None else allowed_keys(self.layout.padding_mask)

    def take(self, rows: Tensor) -> Tensor:
        """Lay the block's tokens out: packed rows of the batch (N, ...) to (n, l, ...)."""
        if self.layout is not None:
            return self.layout.pad(rows)
        return rows[self.rows].unflatten(0, (-1, self.length))

    def give(self, values: Tensor) -> Tensor:
        """Convert (n, l, ...) to packed rows of the block."""
        return values.flatten(0, 1) if self.layout is None else self.layout.pack(values)


@dataclass(frozen=True)
class Side:
    """One side of every pair of a batch."""

    rows: Tensor  # its tokens among the packed rows of the batch, (n,), in rising order
    layout: BatchLayout  # their places if each side begins at the left, (B, S of the side)
    lengths: np.ndarray  # number of tokens in each sentence, (B,), on the host

    @classmethod
    def of(cls, chosen: Tensor, layout: BatchLayout, lengths: np.ndarray | None) -> Side:
        """Return the side of the ``chosen`` packed rows, (N,); for ``lengths`` see `Side`."""
        counts = counted(chosen, layout)  # (B,)
        lengths = counts.cpu().numpy() if lengths is None else lengths
        columns = torch.arange(max(int(lengths.max()), 1), device=counts.device)  # (S,)
        padding, known = columns >= counts[:, None], {"lengths": lengths}
        own = BatchLayout.of(padding, known=known, may_be_empty=True)
        return cls(places(chosen, lengths), own, lengths)

    def take(self, states: Tensor) -> Tensor:
        """Take its rows from those of the batch: (N, D) to (n, D)."""
        return states.index_select(0, self.rows)

    def spread(self, states: Tensor, size: int) -> Tensor:
        """Put its rows among zeros for the other side's: (n, D) to (N, D) of N = ``size`` rows."""
        return states.new_zeros(size, *states.shape[1:]).index_copy(0, self.rows, states)


@dataclass(frozen=True)
class Sides:
    """Both sides of every pair of a batch."""

    layout: BatchLayout  # of the batch
    # question, context: its sides
    question: Side
    context: Side

    @classmethod
    def of(cls, layout: BatchLayout, segments: Tensor | None) -> Sides:
        """Split a batch by its segments, (B, S).

        Raises:
            ValueError: the batch has none, so no pairs.
        """
        if segments is None:
            raise ValueError("question and context cannot be told apart: the batch has no segments")
        second = layout.pack(segments).bool()  # (N,)
        first, rest = known_sides(layout)
        return cls(layout, Side.of(~second, layout, first), Side.of(second, layout, rest))


def known_sides(layout: BatchLayout) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the number of tokens of each sentence in the first segment, and outside it."""
    first = layout.known.get("firsts")
    return (None, None) if first is None else (first, layout.known["lengths"] - first)


def check_known(known: Sequence[int] | np.ndarray, found: Tensor) -> None:
    """Refuse sizes on the host other than ``found``, (n,); an accelerator compares only n."""
    on_host = found.device.type == "cpu"
    if len(known) != len(found) or on_host and found.tolist() != [*known]:
        raise ValueError("what is known of the batch is of another: take it out of one you change")


def places(chosen: Tensor, counts: Any) -> Tensor:
    """Return the places where ``chosen`` (n,) is True, in rising order.

    ``counts`` add up to their number; with None a GPU waits.
    """
    if counts is None:
        return chosen.nonzero().squeeze(1)
    total = int(np.sum(counts))
    if chosen.device.type == "cpu":
        check_known([total], chosen.sum()[None])
    return chosen.nonzero_static(size=total).squeeze(1)


def counted(chosen: Tensor, layout: BatchLayout) -> Tensor:
    """Return the number of ``chosen`` packed rows of each sentence, (N,) to (B,)."""
    nothing = layout.token_positions.new_zeros(layout.shape[0])
    return nothing.index_add(0, layout.sentences, chosen.to(nothing))


class _Pack(torch.autograd.Function):
    """Take rows at distinct positions; the gradient is put back there (no sum is needed)."""

    @staticmethod
    def forward(ctx: Any, flat: Tensor, token_positions: Tensor) -> Tensor:
        ctx.save_for_backward(token_positions)
        ctx.size = flat.shape[0]
        return flat.index_select(0, token_positions)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (token_positions,) = ctx.saved_tensors
        return _Pad.apply(gradient, token_positions, ctx.size), None


class _Pad(torch.autograd.Function):
    """Put rows at distinct positions among zeros; the gradient is taken from there."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, token_positions: Tensor, size: int) -> Tensor:
        ctx.save_for_backward(token_positions)
        return rows.new_zeros(size, *rows.shape[1:]).index_copy_(0, token_positions, rows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (token_positions,) = ctx.saved_tensors
        return _Pack.apply(gradient, token_positions), None, None
