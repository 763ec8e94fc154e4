"""The kinds of attention in a text model.

A layer with dual attention (Wang et al. 2022, "DABERT") has two attentions, and a gate g_i: the
share of the first for token i:

    affinity     the layer's own attention, as in any BERT
    difference   the attention where queries and keys are far apart
    fused        g_i affinity_i + (1 - g_i) difference_i; their mean without a gate

Figure 3 of Wang et al. shows BERT's attention and DABERT's "after dual attention".
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ..errors import InputError
from .options import AFFINITY, ATTENTIONS, DIFFERENCE, FUSED


def check_choice(what: str, value: int | None, count: int) -> None:
    """Refuse a number out of range."""
    if value is not None and not 0 <= value < count:
        raise InputError(f"there is no {what} {value}: choices are 0 to {count - 1}")


def select_tables(
    extra: Mapping[str, Any], kind: str | None = None, layer: int | None = None
) -> list[Tensor]:
    """Return the attention of a model in some layers.

    Args:
        extra: the model's outputs for one sentence or pair, without padding, with
            ``need_weights=True``.
        kind: one of `ATTENTIONS` (default: `FUSED` in layers with dual attention, `AFFINITY` in
            others).
        layer: one layer from 0 (default: all with this attention; for `FUSED` all layers, those
            without dual attention with their affinity).

    Returns:
        One table (H, T, S) per layer; rows attend to columns.
    """
    if kind not in (None, *ATTENTIONS):
        raise InputError(f"unknown attention {kind!r}; choices: {', '.join(ATTENTIONS)}")
    check_choice("layer", layer, len(extra["attention"]))
    if kind in (DIFFERENCE, FUSED):
        _check_dual(sorted(extra.get("difference", ())), kind, layer)
    if layer is not None:
        layers = [layer]
    elif kind == DIFFERENCE:
        layers = sorted(extra["difference"])
    else:
        layers = range(len(extra["attention"]))
    return [_table(extra, kind, number) for number in layers]


def _check_dual(dual: list[int], kind: str, layer: int | None) -> None:
    if not dual:
        raise InputError(
            f"this model has no {kind} attention, because no layer of it has dual attention; "
            f"choices: {AFFINITY}"
        )
    if layer not in (None, *dual):
        raise InputError(
            f"layer {layer} has no {kind} attention, because it has no dual attention; choices: "
            f"{AFFINITY} in this layer, or layer {', '.join(map(str, dual))}"
        )


def _table(extra: Mapping[str, Any], kind: str | None, layer: int) -> Tensor:
    affinity = extra["attention"][layer][0].double()
    difference = extra.get("difference", {}).get(layer)
    if kind == AFFINITY or difference is None:
        return affinity
    difference = difference[0].double()
    if kind == DIFFERENCE:
        return difference
    gates = extra.get("fusion", {}).get(layer)  # (T, 2)
    share = 0.5 if gates is None else gates[:, :1].double()  # (T, 1)
    return torch.lerp(difference, affinity, torch.as_tensor(share).to(affinity))
