"""ESIM, the enhanced sequential inference model, without its tree-LSTM.

Chen et al. 2017, "Enhanced LSTM for Natural Language Inference", section 3:

    a, b = BiLSTM(words of the first), BiLSTM(words of the second)                    (eq. 1, 2)
    m_a, m_b = alignment and enhancement, see `matching`                               (11-15)
    v_a, v_b = BiLSTM'(F(m_a)), BiLSTM'(F(m_b)),  F(x) = ReLU(W x + b)      (16, 17 for trees)
    v = [mean(v_a); max(v_a); mean(v_b); max(v_b)]                                     (18-20)
    y = W' tanh(W'' v + b'') + b'

Dropout stands before every feed-forward layer and the second BiLSTM, and behind the word embeddings
(section 4). With words and states of 300 numbers these are 4,331,103 parameters for three classes
(the paper: 4.3 million), beside the word embeddings.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .dropout import Dropout
from .matching import Pair, align, beside, enhance, pooled
from .recurrent import PackedLSTM


class Esim(nn.Module):
    """From words to one vector per pair.

    Args:
        width: of the words, E.
        hidden: width H of each direction of the LSTMs, and of the feed-forward layers.
        dropout: rate.

    Attributes:
        outputs: width of a pair's vector.
    """

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.outputs = hidden
        self.encoder = PackedLSTM(width, hidden)
        self.compare = nn.Linear(8 * hidden, hidden)
        self.composer = PackedLSTM(hidden, hidden)
        self.pool = nn.Linear(8 * hidden, hidden)
        self.dropout = Dropout(dropout)

    def forward(self, words: Tensor, pair: Pair) -> Tensor:
        """Match pairs: words (n + m, E) to vectors (B, H)."""
        states = self.encoder(self.dropout(words), pair.steps)  # (n + m, 2 H)
        enhanced = enhance(states, align(pair, states))  # (n + m, 8 H)
        compared = torch.relu(self.compare(self.dropout(enhanced)))  # (n + m, H)
        composed = self.composer(self.dropout(compared), pair.steps)  # (n + m, 2 H)
        vectors = beside(pooled(pair, composed))  # (B, 8 H)
        return torch.tanh(self.pool(self.dropout(vectors)))  # (B, H)
