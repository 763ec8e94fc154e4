"""Counts of examples as JSON, small enough for a row of a run.

Numbers become integers of at most 32 bits (fractions become ten-thousandths), column after column,
compressed (zlib) and written in base 64. The 1,043 examples of CoLA take 0.6 KB; translations and
scores take five to seven bytes an example. Packed counts may come from strangers: all are checked
before unpacking and before any computation.
"""

import base64
import binascii
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..messages import quoted
from ..targets.classes import CELL
from ..targets.counts import CountKind, Counts
from ..targets.table import TARGETS
from .example_answers import ExampleCounts
from .sentence_counts import SENTENCE_KINDS

KINDS = {kind.name: kind for one in TARGETS.values() for kind in one.kinds} | SENTENCE_KINDS
_TYPES = ("|u1", "|i1", "<u2", "<i2", "<i4")  # the first type that holds all numbers is used
_FINE = 10_000  # of fractions
_EXAMPLES = 2**18
_CLASSES = 2**8  # a confusion matrix takes 2 ms (40 ms for 2**10 classes), per run and resample


def packed(one: ExampleCounts, split: str) -> dict[str, Any]:
    """Return counts as JSON values; fractions are rounded to four places."""
    counts = one.counts
    try:
        if not np.isfinite(counts.table).all():
            raise InputError("a score is no number")
        _check_size(counts.kind, *counts.table.shape, classes=counts.classes)
        _check(counts, one.metric)
        whole, scale = _whole(counts.table)
    except ValueError as error:
        raise InputError(f"{one.source}: {error}") from None
    content = zlib.compress(whole.T.tobytes(), 9)
    return {
        "metric": one.metric,
        "split": split,
        "examples": one.examples,
        "kind": counts.kind.name,
        "classes": counts.classes,
        "positive": counts.positive,
        "shape": list(whole.shape),
        "scale": scale,
        "type": whole.dtype.str,
        "data": base64.b64encode(content).decode("ascii"),
    }


def unpacked(found: Any, source: str) -> ExampleCounts:
    """Return unpacked counts; ``source`` names them in messages."""
    try:
        metric, split, examples = texts = [found[key] for key in ("metric", "split", "examples")]
        if not all(isinstance(one, str) for one in texts):
            raise InputError(f"no texts {quoted(texts)}")
        classes, positive = int(found["classes"]), found["positive"]
        count, columns = map(int, found["shape"])
        kind = KINDS[_known(found, "kind", tuple(KINDS))]
        _check_size(kind, count, columns, classes)
        table = _table(found, count, columns)
        counts = Counts(kind, table, classes, None if positive is None else int(positive))
        _check(counts, metric)
    except (TypeError, KeyError, binascii.Error, zlib.error, OverflowError) as error:
        raise InputError(f"{source}: key 'counts': no counts of examples ({error!r})") from None
    except ValueError as error:
        raise InputError(f"{source}: key 'counts': {error}") from None
    return ExampleCounts(source, metric, examples, counts, split)


def _whole(table: np.ndarray) -> tuple[np.ndarray, int]:
    """Return numbers as integers of the smallest type, and their scale."""
    table, scale = np.round(table * _FINE), _FINE
    if not (table % _FINE).any():
        table, scale = table / _FINE, 1
    low, high = table.min(initial=0), table.max(initial=0)
    for name in _TYPES:
        if np.iinfo(name).min <= low and high <= np.iinfo(name).max:
            return table.astype(name), scale
    raise InputError(f"a number as large as {max(-low, high) / scale:g}")


def _known(found: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str:
    if found[key] not in choices:
        raise InputError(f"{key} {quoted(found[key])} is not one of {', '.join(choices)}")
    return found[key]


def _check_size(kind: CountKind, count: int, columns: int, classes: int) -> None:
    """Refuse sizes that would exhaust memory or time."""
    if not 0 < count <= _EXAMPLES:
        raise InputError(f"{count:,} examples, not 1 to {_EXAMPLES:,}")
    if columns != (wanted := kind.columns or classes):
        raise InputError(f"{columns:,} columns, {kind.name!r} has {wanted}")
    if (kind is CELL or not kind.columns) and not 0 < classes <= _CLASSES:
        raise InputError(f"{classes:,} classes, not 1 to {_CLASSES}")


def _table(found: Mapping[str, Any], count: int, columns: int) -> np.ndarray:
    if found["scale"] not in (1, _FINE):
        raise InputError(f"scale {quoted(found['scale'])} is not one of 1, {_FINE}")
    kind: Any = np.dtype(_known(found, "type", _TYPES))
    size = count * columns * kind.itemsize
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(base64.b64decode(found["data"], validate=True), size + 1)
    if len(content) != size:
        raise InputError(f"{len(content)} bytes or more in the place of {size}")
    return np.frombuffer(content, kind).reshape(columns, count).T / found["scale"]


def _check(counts: Counts, metric: str) -> None:
    """Refuse counts that no examples can have, or that do not give their metric."""
    kind, table, most = counts.kind, counts.table, counts.kind.most
    if kind is CELL:
        most = counts.classes**2 - 1
    if counts.positive is not None and not 0 <= counts.positive < counts.classes:
        raise InputError(f"class {counts.positive} of {counts.classes}")
    if not kind.fractions and (table != np.round(table)).any():
        raise InputError(f"fractions of {kind.name!r}")
    if not kind.signed and not (table.min() >= 0 and table.max() <= most):
        raise InputError(f"numbers from {table.min():g} to {table.max():g} of {kind.name!r}")
    for part, whole in kind.parts:
        if (wrong := table[:, part] > table[:, whole]).any():
            one = int(wrong.argmax())
            numbers = f"{table[one, part]:g} of {table[one, whole]:g}"
            raise InputError(f"example {one + 1}: {numbers} in columns {part + 1} and {whole + 1}")
    if metric not in counts.metrics(np.ones(len(table), dtype=np.int64)):
        raise InputError(f"{kind.name!r} have no metric {quoted(metric)}")
