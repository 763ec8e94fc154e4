"""The tensors of a pretrained directory, read without running code from a file.

``model.safetensors`` holds only numbers. ``pytorch_model.bin`` is a pickle, which may call any
function: see `door.torch_files`. Both may be split into shards, listed in an index file. A folder
of fairseq's has ``model.pt``; see `fairseq_folder`.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ..door.torch_files import read_plain, unreadable
from ..errors import InputError
from ..messages import named
from . import fairseq_folder
from .directory import is_fairseq, read_json

SAFETENSORS = "model.safetensors"
PICKLE = "pytorch_model.bin"
FILES = (SAFETENSORS, f"{SAFETENSORS}.index.json", PICKLE, f"{PICKLE}.index.json")

_BARE_NAME = re.compile(r"\w[\w.+-]*")


def weights_file(directory: str | Path) -> Path:
    """Return the file to read: safetensors before pickles, whole files before shards."""
    if is_fairseq(directory):
        path = Path(directory) / fairseq_folder.FILE_NAME
        if not path.is_file():
            raise FileNotFoundError(f"{directory}: no weights; expected {path.name}")
        return path
    for name in FILES:
        if (Path(directory) / name).is_file():
            return Path(directory) / name
    raise FileNotFoundError(
        f"{directory}: no weights; expected one of {', '.join(FILES)} (PyTorch weights)"
    )


def read_tensors(directory: str | Path, *, sizes: bool = False) -> dict[str, Any]:
    """Read all tensors of a directory onto the CPU, under their own names.

    With ``sizes`` only their shapes, for safetensors only from the header.
    """
    path = weights_file(directory)
    if path.suffix != ".json":
        return dict(_read_file(path, sizes=sizes))
    listed = read_json(path).get("weight_map")
    if not isinstance(listed, dict) or not listed:
        raise InputError(f"{path} is no index of shards: it has no weight_map")
    for name in listed.values():
        if not isinstance(name, str) or not _BARE_NAME.fullmatch(name):
            raise InputError(f"{path}: {name!r} is no plain file name")
    found: dict[str, Any] = {}
    for name in sorted(set(listed.values())):
        shard = path.parent / name
        if not shard.is_file():
            raise FileNotFoundError(f"{path.parent}: the shard {name} is missing")
        expected = {key for key, place in listed.items() if place == name}
        content = _read_file(shard, sizes=sizes)
        if content.keys() != expected:
            unlike = sorted(content.keys() ^ expected)
            raise InputError(f"{shard} does not hold what {path.name} says: {named(unlike, 6)}")
        found |= content
    return found


def _read_file(path: Path, *, sizes: bool) -> Mapping[str, Any]:
    if path.suffix != ".safetensors":
        own = path.name == fairseq_folder.FILE_NAME
        found = fairseq_folder.read_tensors(path) if own else read_pickle(path)
        return {name: tuple(value.shape) for name, value in found.items()} if sizes else found
    return read_safetensors(path, sizes=sizes)


def read_safetensors(path: Path, *, sizes: bool = False) -> dict[str, Any]:
    """Read the tensors of one file, or only their shapes from its header."""
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            names = file.keys()
            if sizes:
                return {name: tuple(file.get_slice(name).get_shape()) for name in names}
            return {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError) as error:
        raise unreadable(path, error) from None


def write_safetensors(
    tensors: dict[str, Tensor], path: Path, metadata: dict[str, str] | None = None
) -> None:
    """Write tensors with usual file permissions."""
    try:
        save_file(tensors, path, metadata=metadata)
    except SafetensorError as error:
        raise OSError(f"{path} could not be written: {error}") from None
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)


def read_pickle(path: Path) -> Mapping[str, Tensor]:
    """Read named tensors from a pickle that may hold nothing else."""
    content = read_plain(path)
    by_name = isinstance(content, Mapping) and all(isinstance(key, str) for key in content)
    if not by_name or not all(torch.is_tensor(value) for value in content.values()):
        raise InputError(f"{path}: expected tensors by name, found something else")
    return content
