"""Training steps of several systems in turns, batch by batch, in one process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

LEAST_REPEATS = 7

Batch = dict[str, Any]


@dataclass
class System:
    """A model in training.

    Args:
        name: what the table calls it.
        model: makes logits of a batch.
        optimizer: AdamW.
    """

    name: str
    model: nn.Module
    optimizer: torch.optim.Optimizer

    def step(self, batch: Batch) -> None:
        """Take one training step."""
        loss = functional.cross_entropy(self.model(batch), batch["target"])
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()


def run(system: System, batches: Sequence[Batch]) -> None:
    """Take a step on each batch."""
    for batch in batches:
        system.step(batch)


def measure(systems: Sequence[System], batches: Sequence[Batch], repeats: int) -> list[list[float]]:
    """Let the systems take turns, batch by batch; return seconds a step in each repeat."""
    seconds: list[list[float]] = [[] for _ in systems]
    for repeat in range(-1, repeats):  # the first only allocates
        spent = [0.0] * len(systems)
        for number, batch in enumerate(batches):
            turns = list(range(len(systems)))
            for i in turns if (repeat + number) % 2 else reversed(turns):
                start = now()
                systems[i].step(batch)
                spent[i] += now() - start
        for i in range(len(systems)) if repeat >= 0 else ():
            seconds[i].append(spent[i] / len(batches))
    return seconds


def now() -> float:
    """Return the time when all work so far is done, in seconds."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()
