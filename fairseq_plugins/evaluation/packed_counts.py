"""Counts of examples as a few hundred characters of JSON, so that a row of a run can keep them.

Numbers are whole ones of at most 32 bits, of fractions ten-thousandths, column after column,
compressed (zlib) and written in base 64. Nothing else is read back.
"""

import base64
import binascii
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..messages import quoted
from .example_answers import ExampleCounts
from .metrics import COLUMNS, Counts

_TYPES = ("|u1", "|i1", "<u2", "<i2", "<i4")  # the first that holds all numbers is taken
_FINE = 10_000  # of fractions
_LARGEST, _CLASSES = 2**24, 2**10  # numbers of a table; classes


def packed(one: ExampleCounts, split: str) -> dict[str, Any]:
    """Return counts as values of JSON.

    Args:
        one: what is kept; fractions are rounded to four places.
        split: whose examples they are.

    Raises:
        ValueError: a number that is none, or too large.
    """
    table, scale = one.counts.table, 1
    if not np.isfinite(table).all():
        raise ValueError(f"{one.source}: a score is no number")
    if (table != np.round(table)).any():
        table, scale = table * _FINE, _FINE
    whole = np.round(table).astype(np.int64)
    low, high = int(whole.min(initial=0)), int(whole.max(initial=0))
    ranges = {name: np.iinfo(name) for name in _TYPES}
    names = (name for name, of in ranges.items() if of.min <= low and high <= of.max)
    if (kind := next(names, None)) is None:
        raise ValueError(f"{one.source}: a number as large as {max(-low, high) / scale:g}")
    content = zlib.compress(whole.T.astype(kind).tobytes(), 9)
    return {
        "metric": one.metric,
        "split": split,
        "examples": one.examples,
        "kind": one.counts.kind,
        "classes": one.counts.classes,
        "positive": one.counts.positive,
        "shape": list(whole.shape),
        "scale": scale,
        "type": kind,
        "data": base64.b64encode(content).decode("ascii"),
    }


def unpacked(found: Any, metric: str, split: str, source: str) -> ExampleCounts | None:
    """Return counts that were packed; None if there are none of this metric and split.

    Args:
        found: values of JSON, or None.
        metric, split: which counts are wanted.
        source: what messages call them.

    Raises:
        ValueError: what is there is no packed table; names the key.
    """
    if found is None:
        return None
    try:
        if (found["metric"], found["split"]) != (metric, split):
            return None
        counts = Counts(
            _known(found, "kind", tuple(COLUMNS)),
            _table(found),
            int(found["classes"]),
            None if found["positive"] is None else int(found["positive"]),
        )
        return ExampleCounts(source, metric, str(found["examples"]), _checked(counts, metric))
    except (TypeError, KeyError, binascii.Error, zlib.error, OverflowError) as error:
        raise ValueError(f"{source}: key 'counts': no counts of examples ({error!r})") from None
    except ValueError as error:
        raise ValueError(f"{source}: key 'counts': {error}") from None


def _known(found: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str:
    if found[key] not in choices:
        raise ValueError(f"{key} {quoted(found[key])} is not one of {', '.join(choices)}")
    return found[key]


def _table(found: Mapping[str, Any]) -> np.ndarray:
    """Return the numbers, (n, k)."""
    count, columns = (int(one) for one in found["shape"])
    if not (0 < count * columns <= _LARGEST and count > 0):
        raise ValueError(f"shape {count} x {columns}")
    if found["scale"] not in (1, _FINE):
        raise ValueError(f"scale {quoted(found['scale'])} is not one of 1, {_FINE}")
    kind = np.dtype(_known(found, "type", _TYPES))
    size = count * columns * kind.itemsize
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(base64.b64decode(found["data"], validate=True), size + 1)
    if len(content) != size:
        raise ValueError(f"{len(content)} bytes or more in the place of {size}")
    return np.frombuffer(content, kind).reshape(columns, count).T / found["scale"]


def _checked(counts: Counts, metric: str) -> Counts:
    """Refuse a table from which its metric cannot be computed."""
    (count, columns), table = counts.table.shape, counts.table
    if columns != COLUMNS[counts.kind]:
        raise ValueError(f"{columns} columns are none of {counts.kind!r}")
    if counts.kind == "classes":
        if not (0 < counts.classes <= _CLASSES and table.min() >= 0):
            raise ValueError(f"cells of {counts.classes} classes")
        if table.max() >= counts.classes**2:
            raise ValueError(f"cell {table.max():g} of {counts.classes} classes")
        if counts.positive is not None and not 0 <= counts.positive < counts.classes:
            raise ValueError(f"class {counts.positive} of {counts.classes}")
    if metric not in counts.metrics(np.ones(count, dtype=np.int64)):
        raise ValueError(f"{counts.kind!r} have no metric {quoted(metric)}")
    return counts
