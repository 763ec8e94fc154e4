"""Equality on an accelerator: every kind of model computes there what it computes on a processor.

python -m benchmarks.gpu.equality --only SLA DABERT

The reference is the processor in float64, by the kernels for packed rows. Against it stand the
processor's padded way (`padded_way`), and the device in float32 (without TF32), under autocast in
bfloat16 and float16, and with all weights in float16; `gaps` says what a difference is. Models
start from weights large enough that every part weighs. Without an accelerator the padded way takes
its place. The status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import gc
import logging
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
from torch import Tensor

from fairseq_plugins.nn.dual_attention import DifferenceMixer
from fairseq_plugins.nn.local_attention import LocalMixer

from .cases import BASE, CASES, SMALL, TINY, Case, Sizes, Trial
from .figures import Figure, Recorder, add_flags, table
from .gaps import (
    BFLOAT16,
    DOUBLE,
    HALF,
    LOW,
    SINGLE,
    Gap,
    Precision,
    compared,
    computed,
    lost_of,
    loud,
    stepped,
)
from .padded_way import padded

PART = "equality"
NUMBERS, NONE = "numbers", "<= 0"
PADDED_BAR, DEVICE_BAR, MEMORY_BAR = "<= 1e-5", "<= 1e-4", "<= 1.3"
LENGTHS = (128, 512, 2048)
IN_MEMORY = ("plain", "SLA, dropout separate", "SLA, dropout mixture", "WLA", "DABERT")
IN_MEMORY += ("coattention, query",)


def way(device: str) -> contextlib.AbstractContextManager[None]:
    """Return the context that makes a device compute as accelerators do."""
    return padded() if device == "cpu" else contextlib.nullcontext()


@dataclass(frozen=True)
class Closed:
    """A rule by which every second token may look nowhere."""

    needs_heads = needs_punctuation = False
    needs_words = True

    def __call__(self, words: Tensor, *_: Any) -> Tensor:
        """Return ``allowed`` (n, l, l)."""
        sees = torch.arange(words.shape[1], device=words.device) % 2 == 0
        return sees[None, :, None].expand(len(words), -1, len(sees))


def closed(trial: Trial) -> Trial | None:
    """Return a trial in which tokens may look nowhere: by their masks, or since a side of a pair
    is empty; None where the model asks for neither.
    """
    model, sample, found = copy.deepcopy(trial.model), trial.sample, False
    for part in model.modules():
        if isinstance(part, LocalMixer):
            part.rules, found = (Closed(),) * len(part.rules), True
        elif isinstance(part, DifferenceMixer) and part.rule is not None:
            part.rule, found = Closed(), True
    local = getattr(getattr(model, "encoder", None), "local", None)
    if local is not None and local.rules:
        model.encoder.local, found = replace(local, rules=(Closed(),) * len(local.rules)), True
    if getattr(getattr(model, "head", None), "coattention", None) is not None:
        inputs = {name: x for name, x in sample["net_input"].items() if name != "known"}
        inputs["segments"] = inputs["segments"].clone()
        inputs["segments"][0], found = 0, True
        sample = {**sample, "net_input": inputs}
    return replace(trial, model=model, sample=sample) if found else None


def padded_row(trial: Trial, device: str) -> int:
    """Encode a batch of translation whose last source is padding alone; return how many outputs
    and gradients are not finite.
    """
    trial = trial.to(device)
    inputs, encoder = trial.sample["net_input"], trial.model.encoder
    tokens = inputs["src_tokens"].clone()
    tokens[-1] = encoder.padding_idx
    states = encoder(tokens, src_factors=inputs["src_factors"])["encoder_out"][0]  # (S, B, D)
    states.square().sum().backward()
    gradients = (part.grad for part in encoder.parameters() if part.grad is not None)
    return lost_of(states, *gradients)


def train(case: Case, sizes: Sizes, device: str, precision: Precision) -> int:
    """Train three updates with dropout; return how many losses and weights are not finite."""
    trial = loud(case.trial(sizes, dropout=0.1)).to(device)
    scaler = torch.amp.GradScaler(
        torch.device(device).type, precision.scale, enabled=precision.scale > 1
    )
    found, optimizer = [], torch.optim.AdamW(trial.model.parameters(), 1e-4)
    for _ in range(3):
        loss, _ = stepped(trial, device, precision)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        found.append(loss.detach()[None])
    return lost_of(*found, *trial.model.parameters())


def waits(trial: Trial, device: str) -> Counter[str]:
    """Return where a step waits for the device, and how often; after one that fills caches."""
    trial, found = trial.to(device), Counter()

    def note(message: Warning | str, *_: Any) -> None:
        files = [f"{f.filename}:{f.lineno}" for f in traceback.extract_stack()]
        own = [file for file in files if "/fairseq" in file] or files
        if "called a synchronizing" in str(message):
            found[f"fairseq{own[-1].rpartition('/fairseq')[2]}"] += 1

    trial.loss()[0].backward()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        torch.cuda.set_sync_debug_mode("warn")
        try:
            trial.loss()[0].backward()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return found


Add = Callable[..., None]  # takes the words, the figure, the unit and what else a figure has


def check(case: Case, sizes: Sizes, device: str, add: Add) -> None:
    """Add all figures of a kind of model."""
    trial = loud(case.trial(sizes))
    reference = computed(trial, "cpu", DOUBLE)

    def differs(what: str, gap: Gap, bar: str) -> None:
        add(f"{case.name}: {what}", gap.worst, "difference", bar=bar, note=gap.place)

    def loses(what: str, gap: Gap) -> None:
        note = f"differs by {gap.worst:.2g} ({gap.place})"
        add(f"{case.name}: {what}, not finite", gap.lost, NUMBERS, bar=NONE, note=note)

    with padded():
        found = compared(computed(trial, "cpu", DOUBLE), reference)
    differs("packed against padded", found, PADDED_BAR)
    with way(device):
        if device != "cpu":
            differs("float64", compared(computed(trial, device, DOUBLE), reference), PADDED_BAR)
        differs("float32", compared(computed(trial, device, SINGLE), reference), DEVICE_BAR)
        for precision in LOW:
            loses(precision.name, compared(computed(trial, device, precision), reference))
    lost = sum(train(case, sizes, device, precision) for precision in (SINGLE, BFLOAT16, HALF))
    note = "float32, bfloat16 and float16 autocast"
    add(f"{case.name}: trained with dropout, not finite", lost, NUMBERS, bar=NONE, note=note)
    if blind := closed(trial):
        reference = computed(blind, "cpu", DOUBLE)
        with way(device):
            loses("tokens that see nothing", compared(computed(blind, device, SINGLE), reference))
    if case.options.get("encoder_attention"):
        with way(device):
            lost = padded_row(trial, device)
        add(f"{case.name}: source without a token, not finite", lost, NUMBERS, bar=NONE)
    check_waits(case, trial, device, add)


def check_waits(case: Case, trial: Trial, device: str, add: Add) -> None:
    """Add how often a step waits for the device on the way through this package."""
    what, bar = f"{case.name}: host waits", "<= 1"
    if torch.device(device).type != "cuda":
        add(what, None, "waits", bar=bar, note="a processor has none")
        return
    found = waits(trial, device)
    own = sum(count for place, count in found.items() if not place.startswith("fairseq/"))
    add(what, own, "waits", bar=bar, note=", ".join(f"{n} {at}" for at, n in found.items()))


def memory(case: Case, length: int, batch: int, device: str) -> float | None:
    """Return the most memory that forward and backward pass take at base size in bfloat16 with
    dropout, weights and gradients included, in MB; None where it does not fit.
    """
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    trial = case.trial(replace(BASE, batch=batch, shortest=length, longest=length), dropout=0.1)
    try:
        trial = trial.to(device)
        stepped(trial, device, BFLOAT16)[0].backward()
    except torch.OutOfMemoryError:
        return None
    return (torch.cuda.max_memory_allocated() - before) / 1e6


def memories(device: str, add: Add) -> None:
    """Add the memory that methods take, and its ratio to that of a plain model."""
    plain_memory = cache(lambda *sizes: memory(CASES["plain"], *sizes, device))
    for length in LENGTHS:
        for name in IN_MEMORY:
            fits = ((batch, memory(CASES[name], length, batch, device)) for batch in (8, 4, 2, 1))
            batch, found = next((pair for pair in fits if pair[1] is not None), (0, None))
            what, note = f"memory of {name}, S = {length}", f"{batch} rows, base size, bfloat16"
            add(what, found, "MB", note=note if found is not None else "not even one row fits")
            if name == "plain" or found is None or not (plain := plain_memory(length, batch)):
                continue
            bar = MEMORY_BAR if length == 512 and name.startswith("SLA") else ""
            note = f"plain {plain:.0f} MB, {note}"
            add(f"{what}, over plain", found / plain, "ratio", bar=bar, note=note)


def chosen(words: Sequence[str]) -> list[Case]:
    """Return the cases of whose names one of ``words`` is a part; without words all."""
    return [
        case
        for name, case in CASES.items()
        if not words or any(word.casefold() in name.casefold() for word in words)
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; return 1 if a bar is missed or a kind of model fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_flags(parser)
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="WORD", help="parts of names of cases, or memory"
    )
    args = parser.parse_args(argv)
    logging.disable(logging.INFO)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    recorder = Recorder(args.output, args.device)

    def add(what: str, figure: float | None, unit: str, **more: Any) -> None:
        recorder.add(Figure(PART, what, figure, unit, **more))

    for case in chosen(args.only):
        try:
            check(case, TINY if args.tiny else SMALL, args.device, add)
        except Exception as error:  # the others are to be measured all the same
            traceback.print_exc()
            add(
                f"{case.name}: fails",
                1,
                "failure",
                bar="<= 0",
                note=f"{type(error).__name__}: {error}",
            )
    if torch.device(args.device).type != "cuda":
        add("memory", None, "MB", note="measured on an accelerator alone")
    elif not args.only or "memory" in args.only:
        memories(args.device, add)
    missed = [figure for figure in recorder.figures if figure.holds is False]
    print(f"\n{len(recorder.figures)} figures, {len(missed)} of them miss their bar")
    print(table(missed) if missed else "")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
