"""Copies a pretrained directory with its weights in half precision, for a pack (`pack_offline.sh`).

    python scripts/halve_encoder.py DIRECTORY PACK

Readers make float32 of it again: a weight then differs from the original by at most 1/2048 of its
size (weights below 6e-5: by at most 3e-8). The embedded default lies in PACK where it is found by
its name, any other directory in ``PACK/encoder``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from torch import Tensor

from fairseq_plugins.pretrained.directory import DEFAULT, EMBEDDED, resolve_directory
from fairseq_plugins.pretrained.huggingface import read_config
from fairseq_plugins.pretrained.weights import (
    SAFETENSORS,
    read_tensors,
    weights_file,
    write_safetensors,
)

COPIED = (".json", ".txt", ".model", ".md")  # configuration, tokeniser, licence


def halve(directory: str | Path, pack: Path) -> Path:
    """Copy a pretrained directory into a pack with weights in half precision; return its folder.

    Raises:
        FileNotFoundError: the directory, its configuration or its weights are missing.
        ValueError: it holds no known encoder, or a weight is too large for half precision.
    """
    source = resolve_directory(directory)
    read_config(source)
    tensors = read_tensors(source)
    halved = {name: _half(name, tensor, source) for name, tensor in tensors.items()}
    target = _place(source, pack)
    target.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        if path.suffix in COPIED and not path.name.endswith(".index.json"):
            shutil.copyfile(path, target / path.name)
    write_safetensors(halved, target / SAFETENSORS, {"format": "pt"})
    return target


def _half(name: str, tensor: Tensor, source: Path) -> Tensor:
    if not tensor.is_floating_point():
        return tensor.clone()
    halved = tensor.half().clone()
    if not halved.isfinite().all():
        raise ValueError(f"{weights_file(source)}: {name!r} holds a number beyond half precision")
    return halved.contiguous()


def _place(source: Path, pack: Path) -> Path:
    package, folder, _ = EMBEDDED[DEFAULT]
    if source.resolve().parts[-2:] == (package, folder):
        return pack / "site" / package / folder
    return pack / "encoder"


if __name__ == "__main__":
    try:
        halve(sys.argv[1], Path(sys.argv[2]))
    except (OSError, ValueError) as error:
        sys.exit(f"[pack] error: {error}")
