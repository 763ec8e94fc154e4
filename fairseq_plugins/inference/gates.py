"""Mean gate of each layer over all tokens: how much an encoder attends locally.

Li et al. 2020, "Improving BERT with Syntax-aware Local Attention", Figure 2. A token's gate is the
local share of its attention, 1 minus the global share; [CLS] and [SEP] count as tokens.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..errors import InputError
from .prediction import BATCH_SIZE, Predictor


class GateMeans(NamedTuple):
    """Number of tokens, and layer from 0 -> mean share of local attention."""

    tokens: int
    layers: dict[int, float]


def mean_gates(
    predictor: Predictor, datasets: Iterable[Any], *, batch_size: int = BATCH_SIZE
) -> GateMeans:
    """Average the gates of every layer over all tokens of some datasets.

    Args:
        predictor: from `prediction.load`; only its first model counts.
        datasets: from `Predictor.load_split` or `Predictor.encode`.
    """
    tokens, sums = 0, Counter()
    for dataset in datasets:
        for sample in predictor.batches(dataset, batch_size):
            gates = predictor.outputs(sample)[0][1].get("gates")
            if not gates:
                raise InputError(f"{':'.join(predictor.checkpoints)} has no gates")
            for layer, shares in gates.items():  # (N, K)
                sums[layer] += shares.double().sum().item()
            tokens += sample["ntokens"]
    if not tokens:
        raise InputError("there is no text to average gates over")
    return GateMeans(tokens, {layer: sums[layer] / tokens for layer in sorted(sums)})
