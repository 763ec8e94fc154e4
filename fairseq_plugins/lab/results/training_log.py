"""Validations and progress in fairseq's training log (``--log-format json``)."""

import json
import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ...errors import InputError
from ...messages import named, quoted
from ..rows import CPU
from ..safe_files import is_file, read_tail, read_text

_RECORD = re.compile(r"\| (\w+) \| (\{.*)$", re.MULTILINE)
_UPDATES = re.compile(r'"num_updates": "(\d{1,18})"|"train_num_updates": "(\d{1,18})"')
_PARAMETERS = re.compile(r"num\. shared model params: (\d[\d,]{0,20})")
_CARD = re.compile(r"rank +\d+: capabilities = [^;\n]*;[^;\n]*; name = (\S.*)")
_SPEED = re.compile(r'"(?:train_)?ups": "(\d{1,18}(?:\.\d{0,18})?)"')
_GATE = re.compile(r"gate_(\d{1,9})")  # of a layer: its mean local share of attention
_NO_METRICS = ("num_updates", "epoch", "update", "wps")  # wps: the machine's
MACHINE = {"wps", "ups", "wpb", "bsz"}  # fairseq's measures of speed and batches
_SHOWN = 5  # metrics of a line
_TAIL = 4096  # bytes that contain the last line
_N = TypeVar("_N", int, float)


class Validation(NamedTuple):
    """One validation."""

    updates: int  # number of updates before it
    # name -> value; metrics of further splits are named ``<split>_<name>``
    metrics: dict[str, float]


def validations(path: Path, split: str = "valid") -> list[Validation]:
    """Return the validations of a run in order; a resumed run has each once.

    Args:
        split: its metrics have bare names.
    """
    found: dict[int, dict[str, float]] = {}
    for subset, record in _records(path):
        if f"{subset}_num_updates" not in record or subset.startswith("train"):
            continue
        metrics = found.setdefault(_number(int, record[f"{subset}_num_updates"]), {})
        for key, value in record.items():
            name = key.removeprefix(f"{subset}_")
            if key != name and name not in _NO_METRICS and not name.startswith("best_"):
                metrics[name if subset == split else key] = _number(float, value)
    return [Validation(updates, found[updates]) for updates in sorted(found)]


def best(found: list[Validation], metric: str, maximize: bool) -> Validation:
    """Return the validation whose checkpoint fairseq calls the best: of equal ones the last.

    A NaN validation is chosen only if there is no other.
    """
    able = [item for item in found if metric in item.metrics]
    if not able:
        names = sorted({name for item in found for name in item.metrics})
        raise InputError(f"no validation has {metric!r}; there are {named(names)}")
    finite = [one for one in able if math.isfinite(one.metrics[metric])]
    sign = 1 if maximize else -1
    return max(finite or able, key=lambda item: (sign * item.metrics[metric], item.updates))


def chief(metrics: Mapping[str, float], first: str) -> dict[str, float]:
    """Return some metrics without gates; the metric that chooses the checkpoint comes first."""
    known = [name for name in metrics if name not in MACHINE and not _GATE.fullmatch(name)]
    names = sorted(known, key=lambda name: (name != first, name))
    return {name: metrics[name] for name in names[:_SHOWN]}


def gates(found: Validation) -> dict[int, float]:
    """Return layer -> mean local share of attention, sorted; empty for a model without gates."""
    matches = ((_GATE.fullmatch(name), value) for name, value in found.metrics.items())
    return dict(sorted((int(match[1]), value) for match, value in matches if match))


def parameters(path: Path) -> int:
    """Return the model's number of parameters; 0 if unknown."""
    found = _said(_PARAMETERS, path)
    return int(found[0].replace(",", "")) if found else 0


def device(path: Path) -> str:
    """Return the names of the GPUs in a training log, or "cpu"."""
    return ", ".join(dict.fromkeys(map(str.strip, _said(_CARD, path)))) or CPU


def speed(path: Path) -> float | None:
    """Return the median of the logged updates per second; None if not logged."""
    rates = [rate for rate in map(float, _said(_SPEED, path)) if rate > 0]
    return statistics.median(rates) if rates else None


def _said(pattern: re.Pattern[str], path: Path) -> list[str]:
    """Return the matches of a pattern in a log; empty without a log."""
    return pattern.findall(read_text(path, errors="replace")) if is_file(path) else []


def updates_so_far(path: Path) -> int:
    """Return the last logged number of updates of a growing log; 0 if none."""
    numbers = _UPDATES.findall(read_tail(path, _TAIL))
    return int("".join(numbers[-1])) if numbers else 0


def _number(kind: Callable[[Any], _N], value: Any) -> _N:
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{quoted(value)} is no number") from None


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, body in _RECORD.findall(read_text(path, errors="replace")):
        try:
            yield name, json.loads(body)
        except (ValueError, RecursionError):  # two processes wrote into one line
            continue
