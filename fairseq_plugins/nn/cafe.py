"""CAFE: alignments are compared, compressed to single numbers, and passed on with the words.

Tay et al. 2018, "Compare, Compress and Propagate: Enhancing Neural Architectures with Alignment
Factorization for Natural Language Inference", section 2. Words pass two highway layers,

    x' = t * ReLU(W x + b) + (1 - t) * x,    t = sigmoid(V x + c);

each word w is aligned to the other sentence, and to its own (F and G linear maps with ReLU):

    e_ij = F(a_i) . F(b_j),  w~ as in `matching`;      s_ij = G(a_i) . G(a_j),  w^ = softmax_j(s) a

and either alignment u of w is compared thrice and compressed by a factorisation machine each:

    z([w; u]), z(w - u), z(w * u),    z(x) = w0 + w . x + sum_{i<j} (v_i . v_j) x_i x_j

The words with their six numbers are read by an LSTM, means and maxima p, q of both sentences joined
as [p; q; p - q; p * q], and this passes two highway layers behind a map to their width.

The paper has 4.7 million parameters. It does not print how wide the layers around its highways and
characters are; here they have the width of the rest, 2.5 million in all for three classes, beside
embeddings and characters (words are 350 wide, 50 of it from characters). The direction of the LSTM,
single, is that of the authors' program (github.com/vanzytay/EMNLP2018_NLI). A highway layer that
changes the width there draws all three maps from what comes in, and the LSTM also reads w^ itself:
4.1 million with both.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .dropout import Dropout
from .masks import masked_softmax
from .matching import Pair, beside, pooled, soft_alignment
from .recurrent import PackedLSTM

COMPARISONS = 3
FACTOR_STD = 0.05


class Highway(nn.Module):
    """Two highway layers, after a map if the width changes.

    Args:
        inputs, width: input and output widths.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(inputs, width) if inputs != width else None
        self.maps, self.gates = (
            nn.ModuleList(nn.Linear(width, width) for _ in range(2)) for _ in range(2)
        )

    def forward(self, rows: Tensor) -> Tensor:
        """Map (n, inputs) to (n, width)."""
        if self.project is not None:
            rows = self.project(rows)
        for change, gate in zip(self.maps, self.gates):
            share = torch.sigmoid(gate(rows))
            rows = rows + share * (torch.relu(change(rows)) - rows)
        return rows


class FactorisationMachine(nn.Module):
    """One number from a vector (Rendle 2010).

    Args:
        width: of the vector, D.
        factors: width k of the vectors v_i.
    """

    def __init__(self, width: int, factors: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, 1)
        self.factors = nn.Parameter(torch.empty(width, factors))
        nn.init.normal_(self.factors, std=FACTOR_STD)

    def forward(self, rows: Tensor) -> Tensor:
        """Compress (n, D) to (n, 1), in time of D k."""
        sums = (rows @ self.factors).square().sum(-1, keepdim=True)
        own = rows.square() @ self.factors.square().sum(1, keepdim=True)
        return self.linear(rows) + (sums - own) / 2


class Cafe(nn.Module):
    """From words to one vector per pair.

    Args:
        width: of the words, E.
        hidden: width D of all other parts.
        dropout: rate.
        factors: of the factorisation machines, k.

    Attributes:
        outputs: width of a pair's vector.
    """

    def __init__(self, width: int, hidden: int, dropout: float, factors: int) -> None:
        super().__init__()
        self.outputs = hidden
        self.encoder = Highway(width, hidden)
        self.across, self.within = (nn.Linear(hidden, hidden) for _ in range(2))
        self.machines = nn.ModuleList(
            FactorisationMachine(size, factors) for size in (2 * hidden, hidden, hidden) * 2
        )
        self.reader = PackedLSTM(hidden + 2 * COMPARISONS, hidden, both=False)
        self.join = Highway(8 * hidden, hidden)
        self.dropout = Dropout(dropout)

    def forward(self, words: Tensor, pair: Pair) -> Tensor:
        """Match pairs: words (n + m, E) to vectors (B, D)."""
        words = self.encoder(self.dropout(words))  # (n + m, D)
        aligned = (self._aligned(words, pair), self._attended(words, pair))
        found = [words]
        for k, other in enumerate(aligned):
            compared = (torch.cat([words, other], dim=1), words - other, words * other)
            machines = self.machines[COMPARISONS * k : COMPARISONS * (k + 1)]
            found += [compress(value) for compress, value in zip(machines, compared)]
        states = self.reader(self.dropout(torch.cat(found, dim=1)), pair.steps)  # (n + m, D)
        one, other = beside(pooled(pair, states)).chunk(2, dim=1)  # (B, 2 D)
        both = torch.cat([one, other, one - other, one * other], dim=1)  # (B, 8 D)
        return self.join(self.dropout(both))

    def _aligned(self, words: Tensor, pair: Pair) -> Tensor:
        """Align words to the other sentence, (n + m, D)."""
        first, second = pair.pad(torch.relu(self.across(self.dropout(words))))
        return soft_alignment(pair, *pair.pad(words), first @ second.transpose(1, 2))

    def _attended(self, words: Tensor, pair: Pair) -> Tensor:
        """Align words to their own sentence, (n + m, D)."""
        found = []
        sides = (pair.first, pair.second)
        mapped = pair.pad(torch.relu(self.within(self.dropout(words))))
        for side, keys, values in zip(sides, mapped, pair.pad(words)):
            allowed = ~side.layout.padding_mask[:, None]  # (B, 1, S)
            found.append(masked_softmax(keys @ keys.transpose(1, 2), allowed) @ values)
        return pair.pack(*found)
