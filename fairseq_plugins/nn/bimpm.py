"""BiMPM, bilateral multi-perspective matching.

Wang et al. 2017, "Bilateral Multi-Perspective Matching for Natural Language Sentences", section 3.
Both sentences are read by a BiLSTM; each state h of the one is matched with the states g of the
other, forward states with forward ones and backward with backward, by l perspectives W (l, H):

    f(u, v; W)_k = cosine(W_k * u, W_k * v)                                           (eq. 3, 4)
    full          f(h_i, g_end; W1)     g_end: where the direction ends in the other sentence  (5)
    max-pooling   max_j f(h_i, g_j; W2)                                                       (6)
    attentive     f(h_i, sum_j a_ij g_j / sum_j a_ij; W3),  a_ij = cosine(h_i, g_j)       (7 - 9)
    max-attentive f(h_i, g_j with the highest a_ij; W4)

The eight results, 8 l numbers a word, are read by a second BiLSTM; the ends of its directions in
both sentences make the vector, tanh(W x + b) of half its width. A cosine does not change when a
vector grows, so the sum below is needed for its sign alone. Matchings are computed in single
precision at least: squares of small numbers are lost in half. The paper prints no number of
parameters; with its sizes there are 0.67 million beside embeddings and characters.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .dropout import Dropout
from .matching import Pair, beside
from .recurrent import PackedLSTM

SMALL = 1e-12
MATCHINGS = 4


class Perspectives(nn.Module):
    """The four matchings of one direction, each with l perspectives.

    Args:
        hidden: width H.
        count: of perspectives, l.
    """

    def __init__(self, hidden: int, count: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(MATCHINGS, count, hidden))
        for matching in self.weight:
            nn.init.xavier_uniform_(matching)

    def forward(self, own: Tensor, other: Tensor, end: Tensor, padding: Tensor) -> Tensor:
        """Match states (B, T, H) with those of the other sentence.

        Args:
            own: of the sentence.
            other: of the other one, (B, S, H).
            end: last state of the direction in the other sentence, (B, H).
            padding: of the other one, (B, S), True at padding.

        Returns:
            (B, T, 4 l), in single precision at least, under autocast as well.
        """
        wide = torch.promote_types(own.dtype, torch.float32)
        with torch.autocast(own.device.type, enabled=False):
            return self._compared(own.to(wide), other.to(wide), end.to(wide), padding)

    def _compared(self, own: Tensor, other: Tensor, end: Tensor, padding: Tensor) -> Tensor:
        alike = _unit(own) @ _unit(other).transpose(1, 2)  # (B, T, S)
        shares = alike.masked_fill(padding[:, None], 0.0)
        sign = shares.sum(-1, keepdim=True).sign().detach()  # (B, T, 1)
        best = alike.masked_fill(padding[:, None], -torch.inf).argmax(-1)  # (B, T)
        chosen = other.gather(1, best[..., None].expand(-1, -1, other.shape[-1]))
        squares = self.weight.to(own.dtype).square()  # (4, l, H)
        return torch.cat(
            [
                _cosines(own, end[:, None].expand_as(own), squares[0]),
                _highest(own, other, squares[1], padding),
                _cosines(own, sign * (shares @ other), squares[2]),
                _cosines(own, chosen, squares[3]),
            ],
            dim=-1,
        )


def _unit(states: Tensor) -> Tensor:
    return states * states.square().sum(-1, keepdim=True).clamp(min=SMALL).rsqrt()


def _norms(states: Tensor, squares: Tensor) -> Tensor:
    """Return the lengths of weighted states: (..., H) with squared weights (l, H) to (..., l)."""
    return (states.square() @ squares.T).clamp(min=SMALL).sqrt()


def _cosines(one: Tensor, other: Tensor, squares: Tensor) -> Tensor:
    """Compare states one by one, (..., H) twice; return (..., l)."""
    return ((one * other) @ squares.T) / (_norms(one, squares) * _norms(other, squares))


def _highest(own: Tensor, other: Tensor, squares: Tensor, padding: Tensor) -> Tensor:
    """Return the highest comparison of each state with all others, (B, T, l)."""
    weighted = own[:, None] * squares[:, None]  # (B, l, T, H)
    products = weighted @ other[:, None].transpose(2, 3)  # (B, l, T, S)
    others = _norms(other, squares).transpose(1, 2)[:, :, None]  # (B, l, 1, S)
    found = (products / others).masked_fill(padding[:, None, None], -torch.inf).amax(-1)
    return found.transpose(1, 2) / _norms(own, squares)


class Bimpm(nn.Module):
    """From words to one vector per pair.

    Args:
        width: of the words, E.
        hidden: width H of each direction of the LSTMs.
        dropout: rate.
        perspectives: of each matching, l.

    Attributes:
        outputs: width of a pair's vector.
    """

    def __init__(self, width: int, hidden: int, dropout: float, perspectives: int) -> None:
        super().__init__()
        self.outputs = 2 * hidden
        self.context = PackedLSTM(width, hidden)
        self.forwards, self.backwards = (Perspectives(hidden, perspectives) for _ in range(2))
        self.aggregate = PackedLSTM(2 * MATCHINGS * perspectives, hidden)
        self.join = nn.Linear(4 * hidden, 2 * hidden)
        self.dropout = Dropout(dropout)

    def forward(self, words: Tensor, pair: Pair) -> Tensor:
        """Match pairs: words (n + m, E) to vectors (B, 2 H)."""
        states = self.dropout(self.context(self.dropout(words), pair.steps))  # (n + m, 2 H)
        forward, backward = states.chunk(2, dim=1)
        found = [
            self._matched(self.forwards, forward, forward[pair.steps.lasts], pair),
            self._matched(self.backwards, backward, backward[pair.steps.firsts], pair),
        ]
        matched = self.dropout(torch.cat(found, dim=1).to(states))  # (n + m, 8 l)
        ends = beside(self.aggregate.ends(matched, pair.steps))  # (B, 4 H)
        return torch.tanh(self.join(self.dropout(ends)))

    def _matched(
        self, perspectives: Perspectives, states: Tensor, ends: Tensor, pair: Pair
    ) -> Tensor:
        """Match the states of one direction, (n + m, H), with ends (2 B, H), both ways."""
        first, second = pair.pad(states)
        one, other = ends.chunk(2)
        paddings = [side.layout.padding_mask for side in (pair.first, pair.second)]
        return pair.pack(
            perspectives(first, second, other, paddings[1]),
            perspectives(second, first, one, paddings[0]),
        )
