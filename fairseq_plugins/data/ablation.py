"""Take a feature away at test time, to see what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..syntax.labels import PAD_ID, SPECIAL_ID

MODES = ("drop", "shuffle")


@dataclass(frozen=True)
class Ablation:
    """Blank or shuffle some columns of a sentence's features.

    ``drop`` gives every position the padding id, whose embedding is zero; ``shuffle`` permutes the
    values among the sentence's own positions, ``</s>`` excepted, by a generator of its own for
    every sentence and column, so that batching plays no part.

    Args:
        columns: columns to ablate.
        mode: ``drop`` or ``shuffle``.
        seed: seed of the shuffles.
    """

    columns: Sequence[int]
    mode: str = "drop"
    seed: int = 1

    def __call__(self, row: Tensor, sentence: int) -> Tensor:
        """Return an ablated copy of ``row``, (S, F); ``sentence`` is its number in the data."""
        row = row.clone()  # (S, F)
        for column in self.columns:
            if self.mode == "drop":
                row[:, column] = PAD_ID
                continue
            real = (row[:, column] != SPECIAL_ID).nonzero().squeeze(1)  # (n,)
            order = np.random.default_rng([self.seed, sentence, column]).permutation(len(real))
            row[real, column] = row[real[torch.from_numpy(order)], column]
        return row
