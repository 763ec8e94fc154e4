"""Convolutions over the tokens of sentences, without padding.

A sentence's packed rows are consecutive, so one pass over all rows with zeros between the sentences
is a convolution; beyond a sentence's ends there are zeros, both at padding and at the edge of the
batch, so results do not depend on the batch.
"""

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from .packing import BatchLayout


class TokenConvolution(nn.Module):
    """One convolution over the tokens of every sentence.

    Args:
        inputs: channels in, C.
        outputs: channels out, E.
        width: odd number of tokens in the window.

    Raises:
        ValueError: an even width, which has no middle.
    """

    def __init__(self, inputs: int, outputs: int, width: int) -> None:
        super().__init__()
        if width < 1 or width % 2 == 0:
            raise ValueError(f"a convolution over {width} tokens has no middle: the width is odd")
        self.map = nn.Conv1d(inputs, outputs, width, padding=width // 2)

    def forward(self, rows: Tensor, layout: BatchLayout) -> Tensor:
        """Convolve: (N, C) to (N, E)."""
        weights = self.map.weight.permute(2, 1, 0)  # (width, C, E)
        margin, bias = len(weights) // 2, cast(Tensor, self.map.bias)
        if not margin:
            return rows @ weights[0] + bias
        middles = torch.arange(len(rows), device=rows.device) + margin * layout.sentences  # (N,)
        count = len(rows) + margin * (layout.shape[0] - 1)
        spaced = rows.new_zeros(count + 2 * margin, rows.shape[1])
        spaced = spaced.index_copy(0, middles + margin, rows)
        found = torch.addmm(bias, spaced[:count], weights[0])  # (count, E)
        for place, weight in enumerate(weights[1:], start=1):
            found = torch.addmm(found, spaced[place : place + count], weight)
        return found.index_select(0, middles)


class ConvolutionStack(nn.Module):
    """A sequence of convolutions, with an activation between them.

    Args:
        channels: in, between and out; one convolution fewer than numbers.
        width: odd number of tokens in the window.
        activation: between them (default: none).
    """

    def __init__(
        self,
        channels: Sequence[int],
        width: int,
        activation: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        super().__init__()
        pairs = zip(channels, channels[1:])
        self.layers = nn.ModuleList(TokenConvolution(a, b, width) for a, b in pairs)
        self.activation = activation or (lambda values: values)

    def forward(self, rows: Tensor, layout: BatchLayout) -> Tensor:
        """Convolve: (N, first channels) to (N, last channels)."""
        first, *rest = self.layers
        rows = first(rows, layout)
        for layer in rest:
            rows = layer(self.activation(rows), layout)
        return rows
