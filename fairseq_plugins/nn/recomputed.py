"""Layers whose activations are computed again in the backward pass, to save memory.

Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost", by torch's own function. Random
numbers are drawn again, too, so that results and gradients are equal.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from .context import AttentionContext

Layer = Callable[[Tensor, AttentionContext], Tensor]


def computed(layer: Layer, rows: Tensor, context: AttentionContext, *, again: bool) -> Tensor:
    """Return a layer's new states (N, D) from states (N, D).

    Args:
        again: whether training keeps no activations within the layer.
    """
    if not (again and torch.is_grad_enabled()):
        return layer(rows, context)
    first = iter([context])  # the further outputs of a second computation are dropped

    def run(rows: Tensor) -> Tensor:
        return layer(rows, next(first, None) or context.apart())

    return checkpoint(run, rows, use_reentrant=False)
