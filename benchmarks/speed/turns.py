"""Systems that take turns, batch by batch, in one process: their seconds, tokens and memory."""

from __future__ import annotations

import argparse
import logging
import multiprocessing
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional
from torch.utils.benchmark import timer  # waits for an accelerator

Batch = Any
Setting = argparse.Namespace  # the command's flags, with one size, batches, precision, max_tokens
LEAST_REPEATS = 7


class System(NamedTuple):
    """A model at work."""

    name: str
    work: Callable[[Batch], int]  # returns the number of tokens
    times: int = 1  # how often a turn does the work


def system(name: str, model: nn.Module, setting: Setting, *, trains: bool, fuses: bool) -> System:
    """Return training steps with fused AdamW, or forward passes; ``fuses``: by torch.compile."""
    dtype = getattr(torch, setting.precision)
    model = model.to(setting.device).train(trains)
    if fuses:
        model.compile()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, weight_decay=0.01, fused=True)
    scaler = torch.amp.GradScaler(setting.device, enabled=dtype == torch.float16)

    def loss(batch: Batch) -> torch.Tensor:
        with torch.autocast(setting.device, dtype, enabled=dtype != torch.float32):
            return functional.cross_entropy(model(batch).float(), batch["target"])

    def step(batch: Batch) -> int:
        scaler.scale(loss(batch)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        return batch["ntokens"]

    @torch.inference_mode()
    def answer(batch: Batch) -> int:
        loss(batch)
        return batch["ntokens"]

    return System(name, step if trains else answer)


def measure(
    systems: Sequence[System], batches: Sequence[Batch], repeats: int
) -> tuple[dict[str, list[float]], float]:
    """Return the seconds a batch of each system in each repeat, and the tokens a batch."""
    seconds: dict[str, list[float]] = defaultdict(list)
    made: dict[str, int] = defaultdict(int)
    for repeat in range(-1, repeats):  # the first only allocates and compiles
        spent: dict[str, float] = defaultdict(float)
        for number, batch in enumerate(batches):
            for one in systems if (repeat + number) % 2 else systems[::-1]:
                took, tokens = timed(one, batch)
                spent[one.name] += took
                made[one.name] += tokens
        for name in spent if repeat >= 0 else ():
            seconds[name].append(spent[name] / len(batches))
    if len({*made.values()}) > 1:
        raise RuntimeError(f"the systems made {dict(made)} tokens from the same batches")
    return seconds, made[systems[0].name] / len(batches) / (repeats + 1)


def timed(one: System, batch: Batch) -> tuple[float, int]:
    """Return the seconds and tokens of a turn."""
    tokens, start = 0, timer()
    for _ in range(one.times):
        tokens = one.work(batch)
    return (timer() - start) / one.times, tokens


def memory(module: Any, name: str, setting: Setting) -> int:
    """Return the most bytes that a process of its own takes for three turns of a system."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_memory, module.batches, module.build, name, setting).result()


def _memory(batches: Callable[..., Any], build: Callable[..., Any], name: str, how: Setting) -> int:
    logging.disable(logging.INFO)
    batch = batches(how)[0]
    before = _held("VmRSS")  # and not what `resource` tells, which begins with the parent's peak
    timed(next(build([name], how, batch))._replace(times=3), batch)
    cuda = how.device == "cuda"
    return torch.cuda.max_memory_allocated() if cuda else _held("VmHWM") - before


def _held(entry: str) -> int:
    status = Path("/proc/self/status").read_text().split()
    return int(status[status.index(f"{entry}:") + 1]) * 1024
