"""Factors of target words: predicted beside the words, each one step after its word.

Hieber et al. 2020, "Sockeye 2" (target factors). At step t a decoder reads the word y_{t-1} and the
factors of the word before it, and predicts the next word and the factors of y_{t-1}, which is then
known:

  x_t = E[y_{t-1}] + sum_k E_k[f_k(y_{t-2})]        input of the decoder, s_t its state
  p(y_t) = softmax(W s_t)                           as without factors
  p(f_k(y_{t-1})) = softmax(W_k s_t + b_k)          one head for each factor

The token that begins a sentence has the factor ``<special>``, and nothing precedes it. The
loss of factors is their cross entropy, summed over words and factors.

Letters: B batch, T target length, K factors, D width of words, C width of states.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .factors import PAD_ID, FactorEmbedding

SPECIAL_ID = 1  # of tokens outside words; labels follow
FIRST_LABEL = 2
IGNORED = -100  # ignored by cross-entropy


class TargetFactors(nn.Module):
    """Tables and heads of K factors.

    Args:
        sizes: factor -> number of ids, padding and special included.
        columns: column of each in the data.
        width: D, of the word embeddings that factors are added to.
        state: C, of the states that predict factors.
    """

    def __init__(
        self, sizes: Mapping[str, int], columns: Sequence[int], width: int, state: int
    ) -> None:
        super().__init__()
        self.names, self.columns = tuple(sizes), tuple(columns)
        self.embedding = FactorEmbedding(sizes, [width] * len(sizes))
        self.heads: Any = nn.ModuleList(nn.Linear(state, n - FIRST_LABEL) for n in sizes.values())

    def reset_parameters(self, std: float) -> None:
        """Reinitialise all tables and heads; ``std`` is that of the tables' sum."""
        self.embedding.reset_parameters("normal", std)
        for head in self.heads:
            nn.init.xavier_uniform_(head.weight)
            nn.init.zeros_(head.bias)

    def chosen(self, factors: Tensor) -> Tensor:
        """Return the model's columns, (B, T, K), of those of the data."""
        return torch.stack([factors[..., column] for column in self.columns], -1)

    def embed(self, before: Tensor) -> Tensor:
        """Embed the factors (B, T, K) of the words before the input words, as (B, T, D)."""
        return self.embedding(before)

    def forward(self, states: Tensor) -> list[Tensor]:
        """Score the labels of each factor of the input words, (B, T, labels), from (B, T, C)."""
        return [head(states) for head in self.heads]


def delayed(factors: Tensor) -> Tensor:
    """Shift factors (B, T, K) by one word: each place has those of the word before."""
    nothing = factors.new_full((len(factors), 1, factors.size(2)), PAD_ID)
    return torch.cat((nothing, factors[:, :-1]), dim=1)


def decided(scores: Sequence[Tensor]) -> Tensor:
    """Return the ids of the best labels, (B, T, K), of K scores (B, T, labels)."""
    return torch.stack([score.argmax(-1) for score in scores], dim=-1) + FIRST_LABEL


def factor_losses(scores: Sequence[Tensor], factors: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return the loss of each factor and its number of correct labels, both sums over the words.

    Args:
        scores: K scores, (B, T, labels).
        factors: ids (B, T, K); ids below the labels are ignored.
    """
    found = []
    for score, column in zip(scores, factors.unbind(-1), strict=True):
        wanted = (column - FIRST_LABEL).flatten()  # (B T,), below 0 where there is none
        labels = wanted.masked_fill(wanted < 0, IGNORED)
        score = score.flatten(0, 1)  # (B T, labels)
        loss = functional.cross_entropy(
            score.float(), labels, ignore_index=IGNORED, reduction="sum"
        )
        found.append((loss, (score.argmax(-1) == wanted).sum()))
    return found
