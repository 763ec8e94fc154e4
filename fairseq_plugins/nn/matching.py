"""The common parts of models that match two sentences: the pair, its alignment and pooling.

Chen et al. 2017, "Enhanced LSTM for Natural Language Inference" (ESIM), section 3, for states
a (n, D) and b (m, D) of the words of two sentences:

  e_ij = a_i . b_j                                                                     (eq. 11)
  a~_i = sum_j softmax_j(e_ij) b_j        b~_j = sum_i softmax_i(e_ij) a_i           (12, 13)
  m_a = [a; a~; a - a~; a * a~]           m_b = [b; b~; b - b~; b * b~]              (14, 15)

and for a sentence's composed states v, [mean of v; max of v] of either sentence        (18-20).

Words are packed rows. All second sentences follow all first sentences, so that layers on single
words, and every recurrent layer, process both at once. A sentence is its words with the separator
after them; the token before the first sentence is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from .masks import masked_softmax
from .packing import BatchLayout, Side, known_sides
from .recurrent import Steps


@dataclass(frozen=True)
class Pair:
    """The sentences of a batch of pairs."""

    # first, second: the words of either, among the packed rows of the batch
    first: Side
    second: Side

    @classmethod
    def of(cls, layout: BatchLayout, segments: Tensor | None) -> Pair:
        """Split a batch by its segments, (B, S).

        Raises:
            ValueError: the batch has no segments, or a pair lacks a sentence.
        """
        if segments is None:
            raise ValueError("the sentences of pairs cannot be told apart without segments")
        second = layout.pack(segments).bool()  # (N,)
        first = ~second & (layout.positions > 0)
        firsts, seconds = known_sides(layout)
        firsts = None if firsts is None else firsts - 1
        found = cls(Side.of(first, layout, firsts), Side.of(second, layout, seconds))
        if not found.known.all():
            raise ValueError("a pair of the batch has a sentence without a token")
        return found

    @cached_property
    def rows(self) -> Tensor:
        """Packed rows of the batch that are words: of all first sentences, then of the second."""
        return torch.cat([self.first.rows, self.second.rows])  # (n + m,)

    @cached_property
    def lengths(self) -> Tensor:
        """Words of all first sentences, then of the second, (2 B,)."""
        return torch.cat([self.first.layout.lengths, self.second.layout.lengths])

    @property
    def known(self) -> np.ndarray:
        """The lengths on the host."""
        return np.concatenate([self.first.lengths, self.second.lengths])

    @cached_property
    def steps(self) -> Steps:
        """The order of the words for recurrent layers."""
        return Steps.of(self.lengths, self.known)

    def part(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Split the words of both, (n + m, ...)."""
        count = len(self.first.rows)
        return words[:count], words[count:]

    def pad(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Lay words (n + m, ...) out as (B, T, ...) and (B, S, ...), zeros at padding."""
        first, second = self.part(words)
        return self.first.layout.pad(first), self.second.layout.pad(second)

    def pack(self, first: Tensor, second: Tensor) -> Tensor:
        """Take the words of both from (B, T, ...) and (B, S, ...)."""
        return torch.cat([self.first.layout.pack(first), self.second.layout.pack(second)])


def soft_alignment(pair: Pair, first: Tensor, second: Tensor, scores: Tensor) -> Tensor:
    """Return the alignment of every word in the other sentence (eq. 12, 13).

    Args:
        pair: the sentences.
        first, second: values to align, (B, T, D) and (B, S, D).
        scores: of their words, (B, T, S).

    Returns:
        (n + m, D).
    """
    of_first = masked_softmax(scores, ~pair.second.layout.padding_mask[:, None])
    of_second = masked_softmax(scores.transpose(1, 2), ~pair.first.layout.padding_mask[:, None])
    return pair.pack(of_first @ second, of_second @ first)


def align(pair: Pair, words: Tensor) -> Tensor:
    """Align words (n + m, D) by their own products (eq. 11-13); return (n + m, D)."""
    first, second = pair.pad(words)  # (B, T, D), (B, S, D)
    return soft_alignment(pair, first, second, first @ second.transpose(1, 2))


def enhance(words: Tensor, aligned: Tensor) -> Tensor:
    """Compare words with their alignments (eq. 14, 15): (n, D) twice to (n, 4 D)."""
    return torch.cat([words, aligned, words - aligned, words * aligned], dim=-1)


def pooled(pair: Pair, words: Tensor) -> Tensor:
    """Return mean and maximum over each sentence's words (n + m, D) (eq. 18, 19), (2 B, 2 D).

    All first sentences come before the second ones.
    """
    found = []
    for side, values in zip((pair.first, pair.second), pair.pad(words)):
        padding = side.layout.padding_mask[..., None]  # (B, S, 1)
        mean = values.sum(1) / (~padding).sum(1)  # (B, D)
        found.append(torch.cat([mean, values.masked_fill(padding, -torch.inf).amax(1)], dim=-1))
    return torch.cat(found)


def beside(values: Tensor) -> Tensor:
    """Concatenate second to first sentences: (2 B, D) to (B, 2 D)."""
    return torch.cat(values.chunk(2), dim=-1)
