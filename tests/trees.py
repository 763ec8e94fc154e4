"""Random parses and batches of them, for tests of masks and of attention that reads them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from fairseq_plugins.nn.context import AttentionContext
from fairseq_plugins.nn.packing import BatchLayout


def random_heads(size: int, seed: int, roots: int = 1) -> list[int]:
    """Draw a tree, or a forest, of ``size`` words: 0 at a root, else the head's number from 1."""
    dice = random.Random(seed)
    order = dice.sample(range(size), size)
    heads = [0] * size
    for place, word in enumerate(order[roots:], roots):
        heads[word] = dice.choice(order[:place]) + 1
    return heads


def own_heads(heads: Sequence[int], start: int = 0) -> list[int]:
    """Number words from ``start``, roots as their own heads, as batches have it."""
    return [start + (head - 1 if head else word) for word, head in enumerate(heads)]


class Row:
    """A row of a batch: sentences with their trees, special tokens around them.

    Args:
        sentences: the heads of one or two sentences.
        pieces: for each sentence how many subwords each word has; default one.
    """

    def __init__(self, *sentences: Sequence[int], pieces: Sequence[Sequence[int]] = ()) -> None:
        self.words, self.segments, self.heads = [-1], [0], []
        for number, heads in enumerate(sentences):
            if number:
                self.heads.append(len(self.heads))  # the unused number between two sentences
            start = len(self.heads)
            self.heads += own_heads(heads, start)
            for word in range(len(heads)):
                count = pieces[number][word] if pieces else 1
                self.words += [start + word] * count
            self.words.append(-1)
            self.segments += [number] * (len(self.words) - len(self.segments))


def context_of(rows: Sequence[Row], *, left: bool = False, extra: int = 0) -> AttentionContext:
    """Lay rows out as a batch, padded on the right or on the left, ``extra`` places wider."""
    width = max(len(row.words) for row in rows) + extra
    words = max(len(row.heads) for row in rows)
    table = {"mask": [], "words": [], "segments": [], "heads": []}
    for row in rows:
        gap = width - len(row.words)

        def padded(values: list, filling: object, gap: int = gap) -> list:
            return [filling] * gap + values if left else values + [filling] * gap

        table["mask"].append(padded([False] * len(row.words), True))
        table["words"].append(padded(row.words, -1))
        table["segments"].append(padded(row.segments, 0))
        table["heads"].append(row.heads + list(range(len(row.heads), words)))
    found = {name: torch.tensor(value) for name, value in table.items()}
    layout = BatchLayout.of(found["mask"])
    return AttentionContext(layout, found["segments"], found["words"], found["heads"])


def run(
    module: Any, rows: Tensor, context: AttentionContext, need_weights: bool = True
) -> tuple[Tensor, list[Tensor]]:
    """Return a layer's new states, and the attention weights that are told if they are wanted."""
    asked = replace(context, need_weights=need_weights)
    return module(rows, asked), asked.outputs.weights


def on_an_accelerator(monkeypatch: Any) -> None:
    """Take the way of a device that wants one padded block."""
    monkeypatch.setattr(BatchLayout, "by_length", False)
