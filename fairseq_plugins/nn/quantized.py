"""Linear maps in 8 bits, for answers on processors: weights by rows, inputs as they come.

Of every row of a weight matrix W (O, I) the largest value sets the scale, s_o = max_i |W_oi| / 127,
and round(W / s) is kept. Inputs are quantised when they come, by the range of all of them together
(dynamic quantisation), so that an answer depends slightly on the batch it is in. Products are
summed as whole numbers by torch's own kernels; everything else stays float32. Processors with
AVX-512 VNNI take inputs of 8 bits and oneDNN's kernel, which is the fastest there; the sums of
others could overflow in between, and take 7 bits.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import InputError

LEVELS = 127
ONEDNN = "onednn"
FAST = (
    getattr(torch.cpu, "_is_vnni_supported", lambda: False)()
    and ONEDNN in torch.backends.quantized.supported_engines
)
PACKING = Lock()  # the engine is one for all threads


class QuantizedLinear(nn.Module):
    """A linear map whose weights are whole numbers of 8 bits; it cannot be trained.

    Args:
        inputs, outputs: widths I and O.
        bias: whether something is added.
    """

    def __init__(self, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.register_buffer("weight", torch.zeros(outputs, inputs, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(outputs))
        self.register_buffer("bias", torch.zeros(outputs) if bias else None)
        self._packed: Any = None  # as torch's kernel reads it; made at first use

    @classmethod
    def of(cls, linear: nn.Linear) -> "QuantizedLinear":
        """Return the nearest such map to a linear one."""
        weight = linear.weight.detach().float()  # (O, I)
        found = cls(linear.in_features, linear.out_features, linear.bias is not None)
        found.scale = (weight.abs().amax(1) / LEVELS).clamp(min=torch.finfo(torch.float32).tiny)
        found.weight = (weight / found.scale[:, None]).round().to(torch.int8)
        if linear.bias is not None:
            found.bias = linear.bias.detach().float().clone()
        return found

    def _load_from_state_dict(self, *args: Any) -> None:
        super()._load_from_state_dict(*args)
        self._packed = None

    def forward(self, rows: Tensor) -> Tensor:
        """Map (N, I) to (N, O).

        Raises:
            InputError: an input that is no number, which would decide how all are rounded.
        """
        if not rows.sum().isfinite():
            raise InputError("the model computes what is no number: 8 bits cannot hold that")
        packed = self._packed
        if packed is None:
            packed = self._packed = self._pack()
        return torch.ops.quantized.linear_dynamic(rows, packed, reduce_range=not FAST)

    def _pack(self) -> Any:
        zeros = torch.zeros(len(self.scale), dtype=torch.int64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch means to rename its quantised types
            weight = torch._make_per_channel_quantized_tensor(
                self.weight, self.scale.double(), zeros, 0
            )
            with _engine(ONEDNN if FAST else torch.backends.quantized.engine):
                return torch.ops.quantized.linear_prepack(weight, self.bias)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_packed": None}  # not to be copied


@contextmanager
def _engine(name: str) -> Iterator[None]:
    """Let weights be packed for one of torch's engines."""
    with PACKING:
        before = torch.backends.quantized.engine
        torch.backends.quantized.engine = name
        try:
            yield
        finally:
            torch.backends.quantized.engine = before


def quantize_(model: nn.Module) -> nn.Module:
    """Put 8-bit maps in the place of all linear maps of a model, on the CPU and in place."""
    made: dict[int, QuantizedLinear] = {}
    for module in model.modules():
        # layers that share their weights hold the maps of another without registering them
        for owner in (module._modules, vars(module)):
            for name, part in owner.items():
                if type(part) is nn.Linear:
                    owner[name] = made.setdefault(id(part), QuantizedLinear.of(part))
    return model
