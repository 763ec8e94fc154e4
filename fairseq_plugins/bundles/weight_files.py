"""CTranslate2's files of weights, verified before the library reads them.

Its native code trusts a file: a size that does not fit its shape, or a shape that does not fit
another, would make it read and write outside its memory. A file is: version, kind and revision; a
number of variables, each with name, rank, shape, type, size and content; and a number of aliases.
Integers are little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import prod
from os import SEEK_CUR
from typing import IO, Any

import numpy as np

from ..errors import InputError
from ..files import BLOCK
from ..messages import named, quoted

BINARY_VERSION = 6
TYPES = {0: np.dtype("float32"), 1: np.dtype("int8"), 2: np.dtype("int16"), 3: np.dtype("int32")}
FLOAT32, INT8 = TYPES[0], TYPES[1]
OTHER = np.dtype("float64")  # none of ours
SMALLEST = 1e-30  # scale

Kind = tuple[tuple[int, ...], np.dtype]  # shape and type
Kinds = dict[str, Kind]


def check_weights(
    stream: IO[bytes], model: tuple[str, int], weights: Kinds, settings: Mapping[str, Any]
) -> None:
    """Refuse a file with other variables than expected.

    Args:
        stream: the open file.
        model: kind and revision.
        weights: shapes and types of variables with any content.
        settings: expected NumPy numbers.
    """
    try:
        _check(stream, model, weights, settings)
    except struct.error:
        raise InputError("it ends too early") from None


def _check(
    stream: IO[bytes], model: tuple[str, int], weights: Kinds, settings: Mapping[str, Any]
) -> None:
    kind = (_integer(stream, "I"), _text(stream), _integer(stream, "I"))
    if kind != (BINARY_VERSION, *model):
        raise InputError(f"it is of kind {quoted(kind)}")
    wanted = {**weights, **{name: ((), value.dtype) for name, value in settings.items()}}
    found: Kinds = {}
    for _ in range(_integer(stream, "I")):
        name, kind = _variable(stream, settings)
        if name in found or kind != wanted.get(name):
            raise InputError(
                f"its {quoted(name)} is {quoted(kind)}, not {wanted.get(name)}, or there twice"
            )
        found[name] = kind
    for _ in range(_integer(stream, "I")):
        alias, name = _text(stream), _text(stream)
        is_setting = {alias, name} & settings.keys()  # settings are compared in place
        if is_setting or alias in found or name not in found or wanted.get(alias) != found[name]:
            raise InputError(f"its {quoted(alias)} cannot be its {quoted(name)}")
        found[alias] = found[name]
        if f"{name}_scale" in found:
            found[f"{alias}_scale"] = found[f"{name}_scale"]
    if lacking := sorted(wanted.keys() - found.keys()):
        raise InputError(f"it lacks {named(lacking)}")
    if stream.read(1):
        raise InputError("it goes on behind its end")


def _variable(stream: IO[bytes], settings: Mapping[str, Any]) -> tuple[str, Kind]:
    """Read name, shape and type of a variable, and compare the content of a setting."""
    name = _text(stream)
    shape = tuple(_integer(stream, "I") for _ in range(_integer(stream, "B")))
    dtype = TYPES.get(_integer(stream, "B"), OTHER)
    size = prod(shape) * dtype.itemsize
    if _integer(stream, "I") != size:
        raise InputError(f"its {quoted(name)} has another size than its shape and type")
    if name in settings and not shape and stream.read(size) != settings[name].tobytes():
        raise InputError(f"its {name} is another than the bundle says")
    if dtype == FLOAT32 and name not in settings:
        _check_numbers(stream, size, name)
    else:
        stream.seek(0 if name in settings and not shape else size, SEEK_CUR)
    return name, (shape, dtype)


def _check_numbers(stream: IO[bytes], size: int, name: str) -> None:
    """Check numbers, a block at a time; 8-bit values are divided by their scale."""
    while size > 0 and (block := stream.read(min(size, BLOCK))):
        found = np.frombuffer(block[: len(block) // 4 * 4], "<f4")
        if not np.isfinite(found).all():
            raise InputError(f"its {quoted(name)} holds a value that is no finite number")
        if name.endswith("_scale") and (np.abs(found) < SMALLEST).any():
            raise InputError(f"its {quoted(name)} holds a value that nothing can be divided by")
        size -= len(block)


def _integer(stream: IO[bytes], kind: str) -> int:
    return struct.unpack(f"<{kind}", stream.read(struct.calcsize(kind)))[0]


def _text(stream: IO[bytes]) -> str:
    found = stream.read(_integer(stream, "H"))
    return found.decode("ascii", "replace").removesuffix("\0")
