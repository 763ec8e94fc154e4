"""A small batch of questions with their contexts, as an encoder's states."""

from __future__ import annotations

import torch
from trees import Row, random_heads

from fairseq_plugins.nn.bert import BertShape
from fairseq_plugins.nn.context import AttentionContext

PAIRS = [
    Row(random_heads(3, 1), random_heads(6, 2), pieces=[[1, 2, 1], [1, 1, 3, 1, 1, 1]]),
    Row(random_heads(2, 3), random_heads(2, 4)),
    Row(random_heads(4, 5), random_heads(5, 6)),
]
WIDTH, HEADS = 12, 3
DROPOUT = {"dropout": 0.0, "attention_dropout": 0.0}


def shape(**changes) -> BertShape:
    sizes = {"hidden": WIDTH, "layers": 1, "heads": HEADS, "intermediate": 20}
    return BertShape(vocabulary=1, **{**sizes, **DROPOUT, **changes})


def states(context: AttentionContext, seed: int = 2) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    count = len(context.layout.token_positions)
    return torch.randn(count, WIDTH, dtype=torch.float64, generator=generator)
