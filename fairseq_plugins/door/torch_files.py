"""Files of ``torch.save``, read without running code or taking more memory than they hold.

torch reads with ``weights_only=True``: everything except tensors and plain values is refused, and
nothing is executed. An archive stays in its file until its numbers are used (``mmap``), so no
storage can be larger than its file. The sizes of tensors are compared with the file before any
tensor is copied: a tensor of stride 0 over a single number can claim, and would take, 8 TB.
"""

import argparse
import pickle
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..errors import InputError
from ..messages import quoted
from .kind import Kind, refusal

SHARED = 4  # how often all numbers of a file may be shared; translation models share three tables
SHOWN = 120  # characters of torch's reason

_ASKED = re.compile(r"(?:Unsupported global: GLOBAL|Unsupported class|GLOBAL) ([\w.]+)")
_GIT_POINTER = b"version https://git"


def problems(path: Path) -> Iterator[str]:
    """Yield the problems of an archive before reading its content."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as parts:
            if any(part.compress_type != zipfile.ZIP_STORED for part in parts.infolist()):
                yield "it is compressed, which torch's files never are, and may be of any size"


TORCH = Kind(problems)


def read_plain(path: str | Path) -> Any:
    """Read tensors and plain values onto the CPU; the file must stay while tensors are in use."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such checkpoint")
    # not the context manager of that name, which on leaving undoes what the package allowed
    torch.serialization.add_safe_globals([argparse.Namespace])
    try:
        TORCH.admit(path)
        mapped = zipfile.is_zipfile(path)  # only archives can be mapped
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except InputError:
        raise
    except Exception as error:  # a damaged pickle can fail in any way
        raise unreadable(path, error) from None
    for problem in _claims(path, content):
        raise refusal(path, problem)
    return content


def read_state(path: str | Path) -> dict[str, Any]:
    """Read a checkpoint of fairseq."""
    state = read_plain(path)
    model = state.get("model") if isinstance(state, dict) else None
    if not isinstance(model, dict) or not all(torch.is_tensor(value) for value in model.values()):
        raise InputError(f"{path}: no fairseq checkpoint, it holds no 'model' parameters")
    for name in (*state, *model):
        if not isinstance(name, str):
            raise refusal(Path(path), f"{quoted(name)} is no name, names are text")
    return state


def write_state(state: Any, path: Path) -> None:
    """Write a file for `read_plain`; OSError if impossible, as on a full disk."""
    try:
        torch.save(state, path)
    except RuntimeError as error:  # torch's only error, for any reason
        reason = str(error).splitlines()[0][:SHOWN]
        raise OSError(f"{path} could not be written; is the disk full? ({reason})") from None


def check_finite(tensors: Mapping[str, Tensor], where: object) -> None:
    """Refuse weights that are NaN or infinite."""
    for name, value in tensors.items():
        numbers = value.float() if value.is_floating_point() else value.new_zeros(1)
        # a sum is a faster test, but may overflow
        if not (numbers.sum().isfinite() or numbers.isfinite().all()):
            raise InputError(f"{where}: {quoted(name)} holds a value that is no finite number")


def unreadable(path: Path, error: Exception) -> InputError:
    """Return the error of an unreadable file, without torch's advice to disable the protection."""
    with path.open("rb") as stream:
        if stream.read(len(_GIT_POINTER)) == _GIT_POINTER:
            return InputError(f"{path} is a Git LFS pointer, not the weights; run: git lfs pull")
    told, asked = type(error).__name__, _ASKED.search(str(error))
    if isinstance(error, pickle.UnpicklingError):  # its text advises to read the file anyway
        if asked:
            return refusal(path, f"it asks for {asked[1]!r}, which is no tensor or plain value")
    else:
        told += f": {error}".splitlines()[0][:SHOWN]
    return refusal(path, f"not readable, damaged or of another kind ({told})")


def _claims(path: Path, content: Any) -> Iterator[str]:
    """Yield tensors whose sizes contradict the file."""
    size = path.stat().st_size
    storages: dict[int, int] = {}
    claimed = 0
    for name, tensor in tensors_of(content):
        other = tensor.is_quantized or tensor.is_nested or tensor.is_complex()
        if other or tensor.layout != torch.strided or tensor.device.type != "cpu":
            yield f"{name!r} is no plain tensor of numbers"
        storage = tensor.untyped_storage()
        place, held = storage.data_ptr(), storage.nbytes()
        storages[place] = max(held, storages.get(place, 0))
        claimed += tensor.nbytes
        if tensor.nbytes > held:
            yield f"{name!r} claims {tensor.nbytes:,} bytes and holds {held:,}"
    if sum(storages.values()) > size or claimed > SHARED * size:
        yield f"its tensors claim {claimed:,} bytes, it has {size:,}"


def tensors_of(content: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield (name, tensor) of everything in a file, each object once."""
    seen: set[int] = set()
    left: list[tuple[str, Any]] = [("", content)]
    while left:
        name, value = left.pop()
        if torch.is_tensor(value):
            yield name, value
            continue
        if isinstance(value, argparse.Namespace):
            value = vars(value)
        if not isinstance(value, (Mapping, list, tuple, set, frozenset)) or id(value) in seen:
            continue
        seen.add(id(value))
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        left += [(f"{name}.{key}" if name else str(key), inner) for key, inner in pairs]
