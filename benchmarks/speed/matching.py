"""A plain ESIM of torch's own layers, as programs for it are: both sentences are padded, packed for
`nn.LSTM`, padded again, aligned by masked softmaxes, and padding is mapped as well.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from .turns import Batch


class Twin(nn.Module):
    """The same as our model, with its weights."""

    def __init__(self, ours: Any) -> None:
        super().__init__()
        body, matcher = ours.body, ours.body.matcher
        self.words, self.out = deepcopy(body.table), deepcopy(ours.head.out)
        self.encoder, self.composer = deepcopy((matcher.encoder.lstm, matcher.composer.lstm))
        self.compare, self.pool = deepcopy(matcher.compare), deepcopy(matcher.pool)
        self.dropout = nn.Dropout(matcher.dropout.p)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits, (B, C)."""
        if "sides" not in batch:  # once, before anything is measured
            batch["sides"] = _sides(batch["net_input"])
        sides = batch["sides"]
        masks = [tokens.ne(0) for tokens, _ in sides]
        a, b = (_read(self.encoder, self.dropout(self.words(side)), size) for side, size in sides)
        scores = a @ b.transpose(1, 2)
        low = torch.finfo(scores.dtype).min
        of_a = scores.masked_fill(~masks[1][:, None], low).softmax(-1).to(b) @ b
        of_b = scores.transpose(1, 2).masked_fill(~masks[0][:, None], low).softmax(-1).to(a) @ a
        vectors = []
        for states, other, (_, lengths), mask in zip((a, b), (of_a, of_b), sides, masks):
            both = torch.cat([states, other, states - other, states * other], -1)
            compared = torch.relu(self.compare(self.dropout(both)))
            composed = _read(self.composer, self.dropout(compared), lengths)
            vectors.append(composed.sum(1) / mask.sum(1, keepdim=True))
            lowest = torch.finfo(composed.dtype).min
            vectors.append(composed.masked_fill(~mask[..., None], lowest).max(1).values)
        joined = torch.tanh(self.pool(self.dropout(torch.cat(vectors, -1))))
        return self.out(self.dropout(joined))


def _read(lstm: nn.LSTM, padded: Tensor, lengths: Tensor) -> Tensor:
    packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(lstm(packed)[0], batch_first=True)[0]


def _sides(inputs: dict[str, Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Return both sentences of a batch, padded, with their lengths on the CPU."""
    tokens, real = inputs["src_tokens"], inputs["src_tokens"].ne(0)
    real[:, 0] = False
    own = [real & inputs["segments"].eq(number) for number in (0, 1)]
    rows = [[row[mask] for row, mask in zip(tokens, side)] for side in own]
    return [(pad_sequence(one, True), side.sum(1).cpu()) for one, side in zip(rows, own)]
