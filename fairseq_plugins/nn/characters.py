"""Words read by their characters (Wang et al. 2017, section 3.1):

    c = last state of an LSTM over the character embeddings of the word

What the characters are follows from the vocabulary alone, so a batch holds nothing of them; words
that it lacks are those of the unknown token. Every word is read once a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor, nn

from .recurrent import PackedLSTM, Steps


class CharacterReader(nn.Module):
    """One vector a word.

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
        lengths = [max(1, len(word)) for word in words]
        begins = [0, *accumulate(lengths)][: len(words)]
        ids = torch.tensor([known[one] for word in words for one in word or next(iter(known))])
        self.register_buffer("ids", ids, persistent=False)
        self.register_buffer("lengths", torch.tensor(lengths), persistent=False)  # (V,)
        self.register_buffer("begins", torch.tensor(begins), persistent=False)  # (V,)
        self.table = nn.Embedding(len(known), width)
        self.lstm = PackedLSTM(width, hidden, both=False)
        self.outputs = hidden

    def forward(self, tokens: Tensor) -> Tensor:
        """Read words (n,) as (n, H)."""
        found, places = tokens.unique(return_inverse=True)  # (U,), (n,)
        lengths = self.lengths[found]
        steps = Steps.of(lengths)
        total = len(steps.rows)
        shift = (self.begins[found] - steps.firsts).repeat_interleave(lengths, output_size=total)
        ids = self.ids[torch.arange(total, device=tokens.device) + shift]  # (characters,)
        return self.lstm.ends(self.table(ids), steps).index_select(0, places)
