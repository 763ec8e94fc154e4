"""Linear maps in 8 bits, for predictions on processors: weights by rows, inputs dynamically.

In every row of a weight matrix W (O, I) the largest value sets the scale, s_o = max_i |W_oi| / 127,
and round(W / s) is stored. Inputs are quantised at run time, by the range of all of them together
(dynamic quantisation), so a prediction depends slightly on its batch. torch's own kernels sum
products as integers; all other operations stay float32. Processors with AVX-512 VNNI take inputs of
8 bits and the fastest kernel there: FBGEMM's for few rows, oneDNN's for many. On others sums could
overflow, so inputs have 7 bits.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import InputError
from .prepacked import replaced_

LEVELS = 127
FOR_FEW, FOR_MANY = "fbgemm", "onednn"  # torch's names of kernels
FEW = 128  # rows
FAST = getattr(torch.cpu, "_is_vnni_supported", lambda: False)() and {FOR_FEW, FOR_MANY} <= {
    *torch.backends.quantized.supported_engines
}
PACKING = Lock()  # the engine is one for all threads


class QuantizedLinear(nn.Module):
    """A linear map with 8-bit integer weights; it cannot be trained.

    A map that gets few rows at times and many at others keeps its weights in both kernels' layouts.

    Args:
        inputs, outputs: widths I and O.
        bias: whether to add a bias.
    """

    def __init__(self, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.register_buffer("weight", torch.zeros(outputs, inputs, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(outputs))
        self.register_buffer("bias", torch.zeros(outputs) if bias else None)
        self._packed: dict[str, Any] = {}  # kernel -> the weights in its layout; made at first use

    @classmethod
    def of(cls, linear: nn.Linear) -> "QuantizedLinear":
        """Return the nearest 8-bit map of a linear map."""
        weight = linear.weight.detach().float()  # (O, I)
        found = cls(linear.in_features, linear.out_features, linear.bias is not None)
        found.scale = (weight.abs().amax(1) / LEVELS).clamp(min=torch.finfo(torch.float32).tiny)
        found.weight = (weight / found.scale[:, None]).round().to(torch.int8)
        if linear.bias is not None:
            found.bias = linear.bias.detach().float().clone()
        return found

    def _load_from_state_dict(self, *args: Any) -> None:
        super()._load_from_state_dict(*args)
        self._packed = {}

    def forward(self, rows: Tensor) -> Tensor:
        """Map (N, I) to (N, O).

        Raises:
            InputError: NaN or infinity among the inputs, which would spoil the common scale.
        """
        if not isfinite(rows.sum()):
            raise InputError("the model computes what is no number: 8 bits cannot hold that")
        kernel = torch.backends.quantized.engine
        if FAST:
            kernel = FOR_FEW if rows.numel() <= FEW * rows.shape[-1] else FOR_MANY
        packed = self._packed.get(kernel)
        if packed is None:
            packed = self._packed[kernel] = self._pack(kernel)
        return torch.ops.quantized.linear_dynamic.default(rows, packed, reduce_range=not FAST)

    def _pack(self, kernel: str) -> Any:
        zeros = torch.zeros(len(self.scale), dtype=torch.int64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch plans to rename its quantised types
            weight = torch._make_per_channel_quantized_tensor(
                self.weight, self.scale.double(), zeros, 0
            )
            with _engine(kernel):
                return torch.ops.quantized.linear_prepack(weight, self.bias)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_packed": {}}  # not copied


@contextmanager
def _engine(name: str) -> Iterator[None]:
    """Select one of torch's engines for packing weights."""
    with PACKING:
        before = torch.backends.quantized.engine
        torch.backends.quantized.engine = name
        try:
            yield
        finally:
            torch.backends.quantized.engine = before


def quantize_(model: nn.Module) -> nn.Module:
    """Replace all linear maps of a model by 8-bit maps, on the CPU and in place."""
    return replaced_(model, QuantizedLinear.of)
