"""What fairseq's training log (``--log-format json``) says about validation and progress."""

import json
import math
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from ...messages import named
from ..rows import CPU
from ..safe_files import is_file, open_file, read_tail, read_text

_RECORD = re.compile(r"\| (\w+) \| (\{.*)$", re.MULTILINE)
_UPDATES = re.compile(r'"num_updates": "(\d+)"|"train_num_updates": "(\d+)"')
_PARAMETERS = re.compile(r"num\. shared model params: ([\d,]+)")
_CARD = re.compile(r"rank +\d+: capabilities = .* ; name = (.*\S)")
_SPEED = re.compile(r'"(?:train_)?ups": "([\d.]+)"')
_INNER = "train_inner"  # a line within an epoch
_GATE = "gate_"  # with the number of a layer: its mean local share of attention
_NO_METRICS = ("num_updates", "epoch", "update", "wps")  # wps: the machine's
_TAIL = 4096  # bytes that hold the last line


@dataclass(frozen=True)
class Validation:
    """One validation.

    Args:
        updates: number of updates before it.
        metrics: name -> value; those of further splits are called ``<split>_<name>``.
    """

    updates: int
    metrics: dict[str, float]


def validations(path: Path, split: str = "valid") -> list[Validation]:
    """Return the validations of a run, by updates; a resumed run has each once.

    Args:
        path: the log.
        split: the one whose metrics are called by their bare names.

    Raises:
        FileNotFoundError: there is no log.
    """
    found: dict[int, dict[str, float]] = {}
    for subset, record in _records(read_text(path, errors="replace")):
        if f"{subset}_num_updates" not in record or subset.startswith("train"):
            continue
        updates = int(record[f"{subset}_num_updates"])
        prefix = f"{subset}_"
        metrics = found.setdefault(updates, {})
        for key, value in record.items():
            name = key.removeprefix(prefix)
            if key != name and name not in _NO_METRICS and not name.startswith("best_"):
                metrics[name if subset == split else key] = float(value)
    return [Validation(updates, found[updates]) for updates in sorted(found)]


def best(found: list[Validation], metric: str, maximize: bool) -> Validation:
    """Return the validation whose checkpoint fairseq calls the best: of equal ones the last.

    One whose metric is no number is so only where there is no other.

    Raises:
        ValueError: no validation has the metric; names those there are.
    """
    able = [item for item in found if metric in item.metrics]
    if not able:
        names = sorted({name for item in found for name in item.metrics})
        raise ValueError(f"no validation has {metric!r}; there are {named(names)}")
    finite = [one for one in able if math.isfinite(one.metrics[metric])]
    sign = 1 if maximize else -1
    return max(finite or able, key=lambda item: (sign * item.metrics[metric], item.updates))


def gates(found: Validation) -> dict[int, float]:
    """Return layer -> mean local share of attention, by layers; empty for a model without gates."""
    shares = {
        int(name.removeprefix(_GATE)): value
        for name, value in found.metrics.items()
        if name.startswith(_GATE) and name.removeprefix(_GATE).isdigit()
    }
    return dict(sorted(shares.items()))


def parameters(path: Path) -> int:
    """Return the model's number of parameters, as the head of a log states it; 0 if it does not."""
    if not is_file(path):
        return 0
    with TextIOWrapper(open_file(path), encoding="utf-8", errors="replace") as stream:
        stated = next((match for line in stream if (match := _PARAMETERS.search(line))), None)
    return int(stated.group(1).replace(",", "")) if stated else 0


def device(path: Path) -> str:
    """Return the names of the GPUs that a log of a training names, or "cpu"."""
    cards = _CARD.findall(read_text(path, errors="replace")) if is_file(path) else []
    return ", ".join(dict.fromkeys(cards)) or CPU


def training_losses(path: Path) -> dict[int, float]:
    """Return updates -> loss on the training batches since the line before, by updates.

    Raises:
        FileNotFoundError: there is no log.
    """
    found = {}
    for name, record in _records(read_text(path, errors="replace")):
        if name == _INNER and {"loss", "num_updates"} <= record.keys():
            loss = float(record["loss"])
            found |= {int(record["num_updates"]): loss} if math.isfinite(loss) else {}
    return dict(sorted(found.items()))


def speed(path: Path) -> float | None:
    """Return the median of the updates a second that a log tells of; None if it tells of none."""
    if not is_file(path):
        return None
    found = _SPEED.findall(read_text(path, errors="replace"))
    rates = [rate for rate in map(float, found) if rate > 0]
    return statistics.median(rates) if rates else None


def updates_so_far(path: Path) -> int:
    """Return the number of updates that the end of a growing log tells of; 0 at its beginning."""
    numbers = _UPDATES.findall(read_tail(path, _TAIL))
    return int("".join(numbers[-1])) if numbers else 0


def _records(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and values of every record."""
    for name, body in _RECORD.findall(text):
        try:
            yield name, json.loads(body)
        except (json.JSONDecodeError, RecursionError):  # a line that two processes wrote into
            continue
