"""How far outputs and gradients are from a reference, in every precision that training has.

A difference of outputs is relative to the greatest of them, or to 1; one of gradients to the
greatest of its tensor, or to a hundredth of the model's greatest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from fairseq_plugins.nn.factors import clear_padding

from .cases import Trial

OUTPUTS = "outputs"
FLOOR = 1e-2  # of the model's greatest gradient: tensors of smaller ones are compared with that
FIRST_SCALE = 128.0  # of losses, as fairseq's --fp16 begins


@dataclass(frozen=True)
class Precision:
    """How numbers are kept: the type of autocast, that of the weights, and what scales the loss."""

    name: str
    autocast: torch.dtype | None = None
    weights: torch.dtype = torch.float32
    scale: float = 1.0


DOUBLE = Precision("float64", weights=torch.float64)
SINGLE = Precision("float32")
BFLOAT16 = Precision("bfloat16 autocast", torch.bfloat16)
HALF = Precision("float16 autocast", torch.float16, scale=FIRST_SCALE)
LOW = (BFLOAT16, HALF, Precision("float16 weights", None, torch.float16, FIRST_SCALE))


@dataclass(frozen=True)
class Gap:
    """How far a result is from the reference.

    Args:
        lost: numbers that are not finite, here or in the reference; padding, which is -inf in both,
            is left out.
        worst: greatest difference.
        place: where it is.
    """

    lost: int
    worst: float
    place: str


@torch.no_grad()
def loud(trial: Trial) -> Trial:
    """Add noise to weights, of the size of their inputs, so that every part weighs."""
    for name, weights in trial.model.named_parameters():
        generator = torch.Generator().manual_seed(sum(name.encode()))
        size = 0.2 if weights.dim() < 2 else weights.shape[-1] ** -0.5
        weights.add_(size * torch.randn(weights.shape, generator=generator))
    for part in trial.model.modules():
        if isinstance(part, nn.Embedding):
            clear_padding(part)
    return trial


def stepped(trial: Trial, device: str, precision: Precision) -> tuple[Tensor, Tensor]:
    """Return the loss and the outputs of a trial that is on a device."""
    kind, dtype = torch.device(device).type, precision.autocast
    with torch.autocast(kind, dtype, enabled=dtype is not None):
        return trial.loss()


def computed(trial: Trial, device: str, precision: Precision) -> dict[str, Tensor]:
    """Return the outputs and gradients of a trial, in float64 on the processor.

    The scale of the loss is halved as long as gradients overflow, as training does.
    """
    moved = trial.to(device, precision.weights)
    loss, outputs = stepped(moved, device, precision)
    (loss * precision.scale).backward()
    parts: Any = moved.model.named_parameters()
    found = {name: part.grad.double().cpu() / precision.scale for name, part in parts}
    if precision.scale > 1 and not all(one.isfinite().all() for one in found.values()):
        return computed(trial, device, replace(precision, scale=precision.scale / 2))
    return {OUTPUTS: outputs.detach().double().cpu(), **found}


def compared(found: dict[str, Tensor], reference: dict[str, Tensor]) -> Gap:
    """Compare results by name; see `Gap`."""
    gradients = [wanted for name, wanted in reference.items() if name != OUTPUTS]
    least = FLOOR * max(map(_greatest, gradients))
    lost, worst = 0, {}
    for name, wanted in reference.items():
        own, finite = found[name], wanted.isfinite()
        padding = (own == -torch.inf) & (wanted == -torch.inf)  # has no logits of answers
        lost += int((~(own.isfinite() & finite) & ~padding).sum())
        size = max(1.0 if name == OUTPUTS else least, _greatest(wanted[finite]))
        worst[name] = _greatest((own - wanted)[finite]) / size
    place = max(worst, key=worst.__getitem__)
    return Gap(lost, worst[place], place)


def _greatest(values: Tensor) -> float:
    """Return the greatest absolute value, 0 of none; what is no number counts as endless."""
    return float(values.abs().nan_to_num(torch.inf, torch.inf).max()) if values.numel() else 0.0


def lost_of(*values: Tensor) -> int:
    """Return how many numbers are not finite."""
    return sum(int((~one.isfinite()).sum()) for one in values)
