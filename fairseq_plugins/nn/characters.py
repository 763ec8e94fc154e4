"""Words read by their characters (Wang et al. 2017, section 3.1):

    c = last state of an LSTM over the character embeddings of the word

The vocabulary alone determines the characters, so a batch has no character ids; unknown words have
those of the unknown token. Every word is read once per batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from .packing import places
from .recurrent import PackedLSTM, Steps


class CharacterReader(nn.Module):
    """One vector per word.

    Args:
        words: the vocabulary, V words of at least one character.
        width: of the embeddings of characters.
        hidden: width of a word's vector, H.

    Attributes:
        outputs: H.
    """

    def __init__(self, words: Sequence[str], width: int, hidden: int) -> None:
        super().__init__()
        known = {one: i for i, one in enumerate(sorted({*"".join(words)}))}
        lengths = self.sizes = np.array([max(1, len(word)) for word in words])  # (V,)
        begins = lengths.cumsum() - lengths
        ids = torch.tensor([known[one] for word in words for one in word or next(iter(known))])
        self.register_buffer("ids", ids, persistent=False)
        self.register_buffer("lengths", torch.from_numpy(lengths), persistent=False)  # (V,)
        self.register_buffer("begins", torch.from_numpy(begins), persistent=False)  # (V,)
        self.table = nn.Embedding(len(known), width)
        self.lstm = PackedLSTM(width, hidden, both=False)
        self.outputs = hidden

    def forward(self, tokens: Tensor, known: np.ndarray | None = None) -> Tensor:
        """Read words (n,) as (n, H).

        ``known`` are the distinct words, (U,) in rising order; without them a GPU waits.
        """
        known = np.unique(tokens.cpu().numpy()) if known is None else known
        there = torch.zeros_like(self.lengths, dtype=torch.bool).index_fill(0, tokens, True)
        found = places(there, len(known))  # (U,)
        lengths = self.lengths[found]
        steps = Steps.of(lengths, self.sizes[known])
        total = len(steps.rows)
        shift = (self.begins[found] - steps.firsts).repeat_interleave(lengths, output_size=total)
        ids = self.ids[torch.arange(total, device=tokens.device) + shift]  # (characters,)
        return self.lstm.ends(self.table(ids), steps).index_select(0, there.cumsum(0)[tokens] - 1)
