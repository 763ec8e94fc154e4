"""Checkpoint averaging: the mean of several checkpoints' parameters as one checkpoint.

Vaswani et al. (2017) average the last 5 (base) or 20 (big) checkpoints of a run. The mean is
computed in float64; integers and booleans come from the first checkpoint. The result keeps the
first checkpoint's configuration, has no optimiser state, and loads like any checkpoint.

`door.torch_files` refuses a checkpoint that would run code, or claims a larger size than it has.
"""

import argparse
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from ..bundles.run_folder import Origin
from ..door.torch_files import read_state, write_state
from ..errors import InputError
from ..files import replaced
from ..messages import named
from .options import COUNTED

logger = logging.getLogger(__name__)

State = dict[str, Any]
Parameters = dict[str, torch.Tensor]

_EPOCH = re.compile(r"checkpoint(\d+)\.pt")
_UPDATE = re.compile(r"checkpoint_\d+_(\d+)\.pt")
_BEST = re.compile(r"checkpoint\.best_(.+)_(-?\d+\.?\d*)\.pt")
# options of our models that describe the training data
TRAINED_FOR = ("vocabulary", "text_settings", "words", "inventories", "target", "labels")
_EMA_KEYS = ("ema", "ema_fp32_params")


def average_checkpoints(
    inputs: Sequence[str | Path], output: str | Path, *, ema: bool = False
) -> None:
    """Average checkpoint files into a new file, which appears when complete.

    Args:
        inputs: checkpoints of one model; a single one is allowed (to extract its EMA weights).
        output: path of the result.
        ema: average the exponential moving averages of ``--store-ema`` instead of the weights.
    """
    state = average_states(inputs, ema=ema)
    with replaced(output) as temporary:
        write_state(state, temporary)
    logger.info("wrote %s, the mean of %d checkpoint(s)", output, len(inputs))


def average_states(paths: Sequence[str | Path], *, ema: bool = False) -> State:
    """Return the first checkpoint's state with averaged parameters; see `average_checkpoints`."""
    if not paths:
        raise InputError("no checkpoints to average")
    first = read_state(paths[0])
    told = _told(first)
    parameters = _parameters(first, paths[0], ema)
    sums = {
        key: value.to(torch.float64, copy=True) if value.is_floating_point() else value.clone()
        for key, value in parameters.items()
    }
    logger.info("read %s", paths[0])
    for path in paths[1:]:
        state = read_state(path)
        if other := [what for what, own in _told(state).items() if own != told.get(what, own)]:
            raise InputError(f"{paths[0]} and {path} differ in their {named(other)}: no average")
        current = _parameters(state, path, ema)
        _check_same(parameters, paths[0], current, path)
        for key, value in current.items():
            if value.is_floating_point():
                sums[key] += value.double()
        logger.info("read %s", path)
    first["model"] = _means(parameters, sums, len(paths))
    first.pop("last_optimizer_state", None)  # belongs to a run, not a model, as do moving averages
    extra = first.get("extra_state")
    if isinstance(extra, dict):
        first["extra_state"] = {k: v for k, v in extra.items() if k not in _EMA_KEYS}
    return first


def _told(state: State) -> dict[str, Any]:
    """Return the known facts of a checkpoint about its task and data."""
    task, model = (_values(_mapping(state.get("cfg")).get(name)) for name in ("task", "model"))
    found = {"task": task.get("_name", _values(state.get("args")).get("task"))}
    found |= {name: model.get(name) for name in TRAINED_FOR}
    found |= {"thresholds of labels": str(task.get("label_thresholds") or "none")}
    origin = Origin.of(None, state.get("task_state"))
    found |= {f"data of {split}": digest for split, digest in origin.splits.items()}
    found |= {"prepared folder": "" if origin.splits else origin.copy}
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def _values(options: Any) -> dict[str, Any]:
    return vars(options) if isinstance(options, argparse.Namespace) else _mapping(options)


def _parameters(state: State, path: str | Path, ema: bool) -> Parameters:
    """Return the tensors to average: the model's, or its moving averages.

    With ``--ema-fp32`` the moving averages exist in half and full precision; full precision wins.
    """
    if not ema:
        return state["model"]
    extra = _mapping(state.get("extra_state"))
    averages, full = (_mapping(extra.get(name)) for name in _EMA_KEYS)
    found = {key: full.get(key, value) for key, value in averages.items()}
    if not found or not all(torch.is_tensor(value) for value in found.values()):
        raise InputError(f"{path}: no EMA weights; was the model trained with --store-ema?")
    return found


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _check_same(first: Parameters, first_path: Any, other: Parameters, other_path: Any) -> None:
    for source, keys in (
        (first_path, sorted(first.keys() - other.keys())),
        (other_path, sorted(other.keys() - first.keys())),
    ):
        if keys:
            raise InputError(
                f"{first_path} and {other_path} are different models: only {source} has "
                f"{named(keys, 5)}"
            )
    unlike = [key for key in first if _form(first[key]) != _form(other[key])]
    if unlike:
        key = unlike[0]
        raise InputError(
            f"{first_path} and {other_path} are different models: {named(unlike, 5)} differ in "
            f"shape ({key}: {_form(first[key])} against {_form(other[key])})"
        )


def _form(value: torch.Tensor) -> str:
    """Describe what averaged tensors must share: the shape, and whether they are real numbers."""
    return f"{tuple(value.shape)}{'' if value.is_floating_point() else ' integers'}"


def _means(parameters: Parameters, sums: Parameters, count: int) -> Parameters:
    """Return the means in the stored precision (half becomes single), with tied tables tied."""
    means: Parameters = {}
    tied: dict[tuple[Any, ...], str] = {}
    for key, value in parameters.items():
        place = (value.data_ptr(), value.shape, value.stride(), value.dtype)
        twin = tied.setdefault(place, key)
        if value.numel() and twin != key and torch.equal(sums[twin], sums[key]):
            means[key] = means[twin]
        elif value.is_floating_point():
            dtype = torch.float64 if value.dtype == torch.float64 else torch.float32
            means[key] = (sums[key] / count).to(dtype)
        else:
            means[key] = sums[key]
    return means


def last_checkpoints(folder: str | Path, count: int, *, kind: str | None = None) -> list[Path]:
    """Return the last checkpoints of a run, newest first.

    Args:
        folder: fairseq's ``--save-dir``.
        count: number of checkpoints.
        kind: ``epoch`` (``checkpoint7.pt``), ``update`` (``checkpoint_3_1500.pt``), or None for the
            kind that exists.
    """
    if kind is not None and kind not in COUNTED:
        raise InputError(f"kind: unknown value {kind!r}; choose from {', '.join(COUNTED)}")
    found = {
        name: [(float(match[1]), path) for path, match in _matching(folder, fits)]
        for name, fits in zip(COUNTED, (_EPOCH.fullmatch, _UPDATE.fullmatch))
    }
    if kind is None:
        present = [name for name in COUNTED if found[name]]
        if len(present) > 1:
            raise InputError(
                f"{folder}: holds checkpoints by epoch and by update: say --by epoch or update"
            )
        kind = present[0] if present else "epoch"
    return _take(folder, sorted(found[kind], reverse=True), count, f"checkpoints by {kind}")


def best_checkpoints(folder: str | Path, count: int) -> list[Path]:
    """Return the best checkpoints of ``--keep-best-checkpoints``, best first.

    Their names hold the value; their configuration says whether it is maximised.
    """
    valued = [
        (float(match[2]), path, match[1]) for path, match in _matching(folder, _BEST.fullmatch)
    ]
    metrics = sorted({metric for _, _, metric in valued})
    if len(metrics) > 1:
        raise InputError(f"{folder}: best checkpoints by several metrics ({named(metrics)})")
    entries = sorted((value, path) for value, path, _ in valued)
    if entries and _maximises(read_state(entries[0][1])):
        entries.reverse()
    return _take(folder, entries, count, "best checkpoints (fairseq: --keep-best-checkpoints)")


def _maximises(state: State) -> bool:
    options = _mapping(state.get("cfg")).get("checkpoint") or state.get("args")
    return bool(_values(options).get("maximize_best_checkpoint_metric", False))


def _matching(
    folder: str | Path, fits: Callable[[str], re.Match[str] | None]
) -> Iterator[tuple[Path, re.Match[str]]]:
    """Yield the files of a folder whose names match, sorted."""
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"{folder}: no such folder")
    for path in sorted(Path(folder).iterdir()):
        if match := fits(path.name):
            yield path, match


def _take(
    folder: str | Path, entries: Sequence[tuple[float, Path]], count: int, what: str
) -> list[Path]:
    if count < 1:
        raise InputError(f"number of checkpoints must be at least 1, got {count}")
    if len(entries) < count:
        raise InputError(f"{folder}: {count} {what} asked for, {len(entries)} found")
    return [path for _, path in entries[:count]]
