"""The tensors of a Hugging Face directory, read without ever running code from a file.

``model.safetensors`` holds numbers alone. ``pytorch_model.bin`` is a pickle, which may ask for any
function: it is read with ``weights_only=True``, so that anything but tensors and plain values is
refused before it is run. Either may be cut into shards, listed in an index file.
"""

from __future__ import annotations

import pickle
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..messages import named
from .directory import read_json

SAFETENSORS = "model.safetensors"
PICKLE = "pytorch_model.bin"
FILES = (SAFETENSORS, f"{SAFETENSORS}.index.json", PICKLE, f"{PICKLE}.index.json")

_GIT_POINTER = b"version https://git"
_BARE_NAME = re.compile(r"\w[\w.+-]*")
_REFUSED = re.compile(r"(?:Unsupported global: GLOBAL|Unsupported class|GLOBAL) ([\w.]+)")


def weights_file(directory: str | Path) -> Path:
    """Return the file to read: safetensors before pickles, whole before shards.

    Raises:
        FileNotFoundError: there is none of `FILES`.
    """
    for name in FILES:
        if (Path(directory) / name).is_file():
            return Path(directory) / name
    raise FileNotFoundError(
        f"{directory}: no weights; expected one of {', '.join(FILES)} (PyTorch weights)"
    )


def read_tensors(directory: str | Path) -> dict[str, Tensor]:
    """Read all tensors of a directory onto the CPU, under the names they have there.

    Raises:
        FileNotFoundError: no weights, or a shard is missing.
        ValueError: a file is damaged, would run code, or does not fit its index.
    """
    return _read(weights_file(directory), _read_file)


def tensor_names(directory: str | Path) -> set[str]:
    """Return the names of all tensors; of safetensors only the header is read.

    Raises:
        FileNotFoundError, ValueError: as `read_tensors`.
    """
    return set(_read(weights_file(directory), _read_names))


def _read(
    path: Path, read: Callable[[Path], Mapping[str, Tensor | None]]
) -> dict[str, Tensor | None]:
    """Read a file, or all shards of an index file."""
    if path.suffix != ".json":
        return dict(read(path))
    listed = read_json(path).get("weight_map")
    if not isinstance(listed, dict) or not listed:
        raise ValueError(f"{path} is no index of shards: it has no weight_map")
    for name in listed.values():
        if not isinstance(name, str) or not _BARE_NAME.fullmatch(name):
            raise ValueError(f"{path}: {name!r} is no plain file name")
    found: dict[str, Tensor | None] = {}
    for name in sorted(set(listed.values())):
        shard = path.parent / name
        if not shard.is_file():
            raise FileNotFoundError(f"{path.parent}: the shard {name} is missing")
        expected = {key for key, place in listed.items() if place == name}
        content = read(shard)
        if content.keys() != expected:
            unlike = sorted(content.keys() ^ expected)
            raise ValueError(f"{shard} does not hold what {path.name} says: {named(unlike, 6)}")
        found |= content
    return found


def _read_file(path: Path) -> Mapping[str, Tensor]:
    """Read one file of tensors."""
    if path.suffix != ".safetensors":
        return read_pickle(path)
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ValueError(_unreadable(path, error)) from None


def _read_names(path: Path) -> Mapping[str, None]:
    """Read the names of the tensors of one file."""
    if path.suffix != ".safetensors":
        return dict.fromkeys(read_pickle(path, mapped=zipfile.is_zipfile(path)))
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            return dict.fromkeys(file.keys())
    except (SafetensorError, OSError) as error:
        raise ValueError(_unreadable(path, error)) from None


def read_pickle(path: Path, *, mapped: bool = False) -> Mapping[str, Tensor]:
    """Read named tensors from a pickle that may hold nothing else.

    Args:
        path: the file.
        mapped: leave the numbers in the file until they are used; for the zipped form only.

    Raises:
        ValueError: the file would run code, is damaged, or holds something else.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except pickle.UnpicklingError as error:
        found = _REFUSED.search(str(error))
        if found is None:
            raise ValueError(_unreadable(path, error)) from None
        raise ValueError(
            f"{path}: refused, it asks for {found.group(1)!r}; weights may hold tensors and plain "
            "values only, and nothing was executed"
        ) from None
    except Exception as error:  # a damaged pickle can fail in any way
        raise ValueError(_unreadable(path, error)) from None
    by_name = isinstance(content, Mapping) and all(isinstance(key, str) for key in content)
    if not by_name or not all(torch.is_tensor(value) for value in content.values()):
        raise ValueError(f"{path}: expected tensors by name, found something else")
    return content


def _unreadable(path: Path, error: Exception) -> str:
    """Say in a line why a file cannot be read; a pointer that Git left is a common reason."""
    with path.open("rb") as stream:
        if stream.read(len(_GIT_POINTER)) == _GIT_POINTER:
            return f"{path} is a Git LFS pointer, not the weights; run: git lfs pull"
    return f"{path}: not readable as weights, damaged or of another kind ({type(error).__name__})"
