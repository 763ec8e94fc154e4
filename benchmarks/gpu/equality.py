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
import logging
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from .method_memory import Add, memories
from .padded_way import padded

PADDED_BAR, DEVICE_BAR = "<= 1e-5", "<= 1e-4"
DRAWS = (1, 2, 3)  # seeds: by rounding, one may take the other side of a kink, such as ReLU's


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


@dataclass(frozen=True)
class Report:
    """Adds figures of a kind of model by its name."""

    name: str
    add: Add

    def differs(self, what: str, gaps: Sequence[Gap], bar: str) -> None:
        """Add the median of differences."""
        least, *_, greatest = found = sorted(gap.worst for gap in gaps)
        gap = next(gap for gap in gaps if gap.worst == found[len(found) // 2])
        how = {"bar": bar, "note": gap.place, "spread": (least, greatest)}
        self.add(f"{self.name}: {what}", gap.worst, "difference", **how)

    def loses(self, what: str, lost: int, note: str | Gap = "") -> None:
        """Add how many numbers are not finite."""
        if isinstance(note, Gap):
            note = f"differs by {note.worst:.2g} ({note.place})"
        self.add(f"{self.name}: {what}, not finite", lost, "numbers", bar="<= 0", note=note)


def check(case: Case, sizes: Sizes, device: str, add: Add) -> None:
    """Add all figures of a kind of model."""
    report = Report(case.name, add)
    trials = [loud(case.trial(sizes, seed=seed)) for seed in DRAWS]
    trial = trials[0]
    check_equality(trials, device, report)
    if blind := closed(trial):
        check_closed(blind, device, report)
    with way(device):
        if case.options.get("encoder_attention"):
            report.loses("source without a token", padded_row(trial, device))
        lost = sum(train(case, sizes, device, precision) for precision in (SINGLE, BFLOAT16, HALF))
    report.loses("trained with dropout", lost, "float32, bfloat16 and float16 autocast")
    what, how = f"{case.name}: host waits", {"unit": "waits", "bar": "<= 1"}
    if torch.device(device).type != "cuda":
        add(what, None, note="a processor has none", **how)
        return
    found = waits(trial, device)
    own = sum(count for place, count in found.items() if not place.startswith("fairseq/"))
    add(what, own, note=", ".join(f"{count} {place}" for place, count in found.items()), **how)


def check_equality(trials: Sequence[Trial], device: str, report: Report) -> None:
    """Add how far trials are from the reference on the processor and on the device."""
    references = [computed(trial, "cpu", DOUBLE) for trial in trials]

    def gaps(where: str, precision: Precision, count: int = len(DRAWS)) -> list[Gap]:
        pairs = zip(trials[:count], references)
        return [compared(computed(trial, where, precision), found) for trial, found in pairs]

    with padded():
        report.differs("packed against padded", gaps("cpu", DOUBLE), PADDED_BAR)
    with way(device):
        if device != "cpu":
            report.differs("float64", gaps(device, DOUBLE), PADDED_BAR)
        report.differs("float32", gaps(device, SINGLE), DEVICE_BAR)
        for precision in LOW:
            (gap,) = gaps(device, precision, 1)
            report.loses(precision.name, gap.lost, gap)


def check_closed(blind: Trial, device: str, report: Report) -> None:
    """Add what becomes of tokens that may look nowhere."""
    reference = computed(blind, "cpu", DOUBLE)
    with way(device):
        gap = compared(computed(blind, device, SINGLE), reference)
    report.loses("tokens that see nothing", gap.lost, gap)


def measure(only: Sequence[str], sizes: tuple[Sizes, Sizes], device: str, add: Add) -> None:
    """Add the figures of cases, and of memory, that words choose; of all without words."""
    for name, case in CASES.items():
        if only and not any(word.casefold() in name.casefold() for word in only):
            continue
        try:
            check(case, sizes[0], device, add)
        except Exception as error:  # the others are to be measured all the same
            traceback.print_exc()
            note = f"{type(error).__name__}: {error}"
            add(f"{name}: fails", 1, "failure", bar="<= 0", note=note)
    if torch.device(device).type != "cuda":
        add("memory", None, "MB", note="measured on an accelerator alone")
    elif not only or "memory" in only:
        memories(sizes[1], device, add)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; return 1 if a bar is missed or a kind of model fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_flags(parser)
    only = "words that names of cases have, or memory"
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help=only)
    args = parser.parse_args(argv)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    recorder = Recorder(args.output, args.device)

    def add(what: str, figure: float | None, unit: str, **more: Any) -> None:
        recorder.add(Figure("equality", what, figure, unit, **more))

    measure(args.only, (TINY, TINY) if args.tiny else (SMALL, BASE), args.device, add)
    missed = [figure for figure in recorder.figures if figure.holds is False]
    print(f"\n{len(recorder.figures)} figures, {len(missed)} of them miss their bar")
    print(table(missed) if missed else "")
    return int(bool(missed))


if __name__ == "__main__":
    logging.disable(logging.INFO)
    sys.exit(main())
