"""Where a training step waits for an accelerator: found on a device without values.

Tensors of torch's meta device have sizes and no numbers. What asks for numbers of theirs is seen
by a mode of dispatch and answered with 1, or is an error where a size hangs on it. A GPU is also
waited for by operations that seem to know their sizes, and by copies between the host and it.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

ASKING = {"_local_scalar_dense", "bincount", "equal", "histc", "isin", "masked_select", "nonzero"}
ASKING |= {"_unique2", "unique_consecutive", "unique_dim"}
INDEXING = {"index", "index_put", "index_put_", "_unsafe_index", "_index_put_impl_"}
COPYING = {"_to_copy", "copy_"}
MASKS = (torch.bool, torch.uint8)


class HostWaits(TorchDispatchMode):
    """Note what waits in lines of ours.

    Args:
        device: whose tensors are waited for; ``cpu`` for code that needs numbers.

    Attributes:
        found: ``file:line operation`` of each wait.
    """

    def __init__(self, device: str = "meta") -> None:
        super().__init__()
        self.device = device
        self.found: list[str] = []

    def __enter__(self) -> Any:
        asked = Tensor.tolist  # of numbers on a processor, which no dispatch sees
        self._patch = mock.patch.object(Tensor, "tolist", lambda v: self.note("tolist") or asked(v))
        self._patch.start()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._patch.stop()

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        how, name = kwargs or {}, op.overloadpacket.__name__
        if waits(name, args, how, self.device):
            self.note(name)
            if name == "_local_scalar_dense" and self.device == "meta":
                return 1
        return op(*args, **how)

    def note(self, name: str) -> None:
        """Note a wait, unless the line that waits is not ours."""
        passed = ("/torch/", "/tests/host_waits.py")
        stack = [f for f in traceback.extract_stack() if not any(p in f.filename for p in passed)]
        folder, _, file = stack[-1].filename.rpartition("/fairseq_plugins/")
        if folder:
            self.found.append(f"{file}:{stack[-1].lineno} {name}")


def waits(name: str, args: Any, how: Any, device: str) -> bool:
    """Tell whether an operation on tensors of a device would wait, were this an accelerator."""
    given = [one for one in tree_leaves((args, how)) if isinstance(one, Tensor)]
    devices = {one.device.type for one in given if one.dim() or name in COPYING}
    devices |= {how["device"].type} if name in COPYING and how.get("device") else set()
    if device not in devices | {one.device.type for one in given}:
        return False
    masked = name in INDEXING and any(one is not None and one.dtype in MASKS for one in args[1])
    sized = name != "repeat_interleave" or how.get("output_size") is not None
    return name in ASKING or masked or not sized or len(devices) > 1


@contextmanager
def without_autocast() -> Iterator[None]:
    """Let code ask for a precision of products, of which the meta device has none."""
    enter = mock.patch.object(torch, "autocast", return_value=nullcontext())
    with enter, mock.patch.object(torch, "is_autocast_enabled", return_value=False):
        yield
