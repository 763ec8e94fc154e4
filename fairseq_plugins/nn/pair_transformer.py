"""Two sentences in a transformer from scratch: in one row, or each alone.

Vaswani et al. 2017 and Devlin et al. 2019, see `bert`. ``joint``: the pair is one row, whose words
see those of the other sentence; its vector is that of the first token, through the pooler.
``siamese``: the same encoder reads each sentence alone, u and v are the means of its states,
and the vector is tanh(W [u; v; |u - v|; u * v] + b) (Conneau et al. 2017, section 3.1).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from .bert import BertEncoder, BertShape, draw
from .dropout import Dropout
from .matching import Pair, beside
from .packing import BatchLayout

JOINT, SIAMESE = ENCODINGS = ("joint", "siamese")


class PairTransformer(nn.Module):
    """From tokens to one vector per pair.

    Args:
        shape: sizes of the encoder.
        encoding: of `ENCODINGS`.
        features: joins features to words, see `bert.BertEmbeddings`.

    Attributes:
        outputs: width of a pair's vector.
    """

    def __init__(self, shape: BertShape, encoding: str, features: nn.Module | None = None) -> None:
        super().__init__()
        joint = encoding == JOINT
        shape = replace(shape, pooler=joint, segments=2 * joint)
        self.encoder = BertEncoder(shape, features=features)
        self.outputs = shape.hidden
        self.compare = None
        if not joint:
            self.compare = nn.Linear(4 * shape.hidden, shape.hidden).apply(draw)
            self.dropout = Dropout(shape.dropout)

    @property
    def table(self) -> nn.Embedding:
        """The word embeddings."""
        return self.encoder.embeddings.words

    @property
    def features(self) -> nn.Module | None:
        """The module that joins features."""
        return self.encoder.embeddings.features

    def forward(
        self, tokens: Tensor, segments: Tensor | None, layout: BatchLayout, factors: Tensor | None
    ) -> Tensor:
        """Match pairs: tokens (B, S) with segments and feature ids (B, S, F) to vectors (B, D)."""
        if self.compare is None:
            return self.encoder.pool(self.encoder(tokens, segments, factors=factors, layout=layout))
        pair = Pair.of(layout, segments)
        first, second = beside(self._means(tokens, pair, layout, factors)).chunk(2, dim=-1)
        both = torch.cat([first, second, (first - second).abs(), first * second], dim=-1)
        return torch.tanh(self.compare(self.dropout(both)))

    def _means(
        self, tokens: Tensor, pair: Pair, layout: BatchLayout, factors: Tensor | None
    ) -> Tensor:
        """Return the mean state of every sentence, (2 B, D), the second ones last.

        The encoder reads them sorted by length, see `packing`.
        """
        lengths, order = pair.lengths.sort(stable=True)  # (2 B,)
        begins = (pair.lengths.cumsum(0) - pair.lengths)[order]  # (2 B,)
        known = np.sort(pair.known)
        columns = torch.arange(int(known[-1]), device=lengths.device)  # (S,)
        own = BatchLayout.of(columns >= lengths[:, None], known={"lengths": known})
        rows = pair.rows[own.pack(begins[:, None] + columns)]  # (n + m,)
        tokens = own.pad(layout.pack(tokens)[rows])  # (2 B, S)
        factors = None if factors is None else own.pad(layout.pack(factors)[rows])
        states = self.encoder(tokens, factors=factors, layout=own).rows  # (n + m, D)
        means = own.pad(states).sum(1) / lengths[:, None]  # (2 B, D)
        return means[order.argsort()]
