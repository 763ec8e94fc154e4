"""The most memory that methods take in training, and its ratio to a plain model's, on a GPU."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import product

import torch

from .cases import CASES, Case, Sizes
from .gaps import BFLOAT16, stepped

Add = Callable[..., None]  # takes the words, the figure, the unit and what else a figure has
LENGTHS = (128, 512, 2048)
IN_MEMORY = ("plain", "SLA, dropout separate", "SLA, dropout mixture", "WLA", "DABERT")
IN_MEMORY += ("coattention, query",)
BAR = "<= 1.3"


def memory(case: Case, sizes: Sizes, device: str) -> float | None:
    """Return the most memory that forward and backward pass take in bfloat16 with dropout, weights
    and gradients included, in MB; None where it does not fit.
    """
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    trial = case.trial(sizes, dropout=0.1)
    try:
        trial = trial.to(device)
        stepped(trial, device, BFLOAT16)[0].backward()
    except torch.OutOfMemoryError:
        return None
    return (torch.cuda.max_memory_allocated() - before) / 1e6


def memories(sizes: Sizes, device: str, add: Add) -> None:
    """Add the memory that methods take at a size, and its ratio to that of a plain model."""

    def taken(name: str, length: int, batch: int) -> float | None:
        own = replace(sizes, batch=batch, shortest=length, longest=length)
        return memory(CASES[name], own, device)

    plain = cache(partial(taken, "plain"))
    for length, name in product(LENGTHS, IN_MEMORY):
        fits = ((batch, taken(name, length, batch)) for batch in (8, 4, 2, 1))
        batch, found = next((pair for pair in fits if pair[1] is not None), (0, None))
        what, note = f"memory of {name}, S = {length}", f"{batch} rows, bfloat16"
        add(what, found, "MB", note=note if batch else "not even one row fits")
        if batch and name != "plain" and (beside := plain(length, batch)):
            bar = BAR if length == 512 and name.startswith("SLA") else ""
            note = f"plain {beside:.0f} MB, {note}"
            add(f"{what}, over plain", found / beside, "ratio", bar=bar, note=note)
