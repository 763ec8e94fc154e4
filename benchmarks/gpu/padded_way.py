"""The way of an accelerator on a processor: one padded block, fused calls, nothing looked up.

Where this package chooses by the device, it asks a tensor. Here the answer is an accelerator, for
code of the package alone; what is computed stays on the processor. So both ways can be compared,
and an accelerator's can be tried where there is none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

DEVICE = torch.Tensor.device.__get__  # what reads where a tensor is


class Elsewhere(TorchFunctionMode):
    """Tells code of the package that asks where tensors are that they are on an accelerator."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Do what is asked, on the processor."""
        asker = sys._getframe(1).f_globals.get("__name__", "")
        if func == DEVICE and asker.startswith("fairseq_plugins."):
            return torch.device("cuda")
        how = {name: _here(value) for name, value in (kwargs or {}).items()}
        return func(*map(_here, args), **how)


def _here(value: Any) -> Any:
    return torch.device("cpu") if isinstance(value, torch.device) else value


def _asked(right: Any, *kind: Any, **how: Any) -> Any:
    return right(*["cpu", *kind[1:]][: len(kind)], **how)


@contextmanager
def padded() -> Iterator[None]:
    """Let a processor take the way of an accelerator, autocast included."""
    with ExitStack() as stack:
        for name in ("autocast", "is_autocast_enabled", "get_autocast_dtype"):
            here = partial(_asked, getattr(torch, name))
            stack.enter_context(mock.patch.object(torch, name, here))
        stack.enter_context(Elsewhere())
        yield
