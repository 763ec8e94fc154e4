"""Linear maps in float32, for predictions on processors: weights in oneDNN's layout.

torch brings the weights of a map into this layout in every call, which takes half of the time where
a batch has few rows, such as one short sentence. Here a model's weights are brought into it once,
when the model is opened for predictions, and the activation after a map is computed with the map.
Results differ from those of torch's own maps by the order of sums alone. With gradients, or for
numbers of another type, torch's own map computes.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

FUSED = {"gelu": ("gelu", "none"), "gelu_new": ("gelu", "tanh")}  # relu would hide NaN
_PLAIN = ("none", "")
AVAILABLE = torch.backends.mkldnn.is_available() and all(
    hasattr(torch.ops.mkldnn, name) for name in ("_linear_pointwise", "_reorder_linear_weight")
)


class PrepackedLinear(nn.Module):
    """A linear map with weights in oneDNN's layout; it cannot be trained.

    Args:
        linear: gives the weights.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self._packed = _laid_out(linear.weight)
        self.bias = None if linear.bias is None else linear.bias.detach()

    @property
    def weight(self) -> Tensor:
        """A copy of the weights in torch's layout, (O, I)."""
        return self._packed.to_dense()

    def forward(self, rows: Tensor) -> Tensor:
        """Map (..., I) to (..., O)."""
        if torch.is_grad_enabled() or rows.dtype != self._packed.dtype:
            bias = None if self.bias is None else self.bias.to(rows)
            return functional.linear(rows, self.weight.to(rows), bias)
        return self.activated(rows)

    def activated(self, rows: Tensor, activation: str | None = None) -> Tensor:
        """Map (..., I) to (..., O), then apply one of `FUSED`; without gradients."""
        name, algorithm = _PLAIN if activation is None else FUSED[activation]
        compute = torch.ops.mkldnn._linear_pointwise
        return compute(rows, self._packed, self.bias, name, [], algorithm)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        destination[f"{prefix}weight"] = self.weight
        destination |= {} if self.bias is None else {f"{prefix}bias": self.bias}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_packed": self.weight}  # torch cannot copy the layout

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "_packed": _laid_out(state["_packed"])})


def _laid_out(weight: Tensor) -> Tensor:
    return torch.ops.mkldnn._reorder_linear_weight(weight.detach())


def prepack_(model: nn.Module) -> nn.Module:
    """Replace all linear maps of a model by prepacked maps, on the CPU and in place."""
    return replaced_(model, PrepackedLinear) if AVAILABLE else model


def replaced_(model: nn.Module, make: Callable[[nn.Linear], nn.Module]) -> nn.Module:
    """Replace all linear maps of a model by what ``make`` returns, in place."""
    made: dict[int, nn.Module] = {}
    for module in model.modules():
        # layers with shared weights hold the maps of another without registering them
        for owner in (module._modules, vars(module)):
            for name, part in owner.items():
                if type(part) is nn.Linear:
                    if id(part) not in made:
                        made[id(part)] = make(part)
                    owner[name] = made[id(part)]
    return model
