"""Checkpoints of the understanding tasks: found, checked and loaded without running their code.

A checkpoint names its task and model, and some of fairseq's classes evaluate options as Python. So
task and model must be ours, and only a closed set of fairseq's options is used; see
`models.checkpoints`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..architectures.bert_options import KINDS
from ..bundles.index import listed
from ..errors import InputError
from ..messages import named
from ..models.checkpoints import (
    Checkpoint,
    build,
    folder_of,
    read_checkpoint,
    set_up,
    task_options,
)
from .options import DEFAULT, READ_BY, TASKS, Paths


def find_checkpoints(path: Paths, name: str = DEFAULT) -> list[Path]:
    """Return the checkpoint files of paths, joined by ``:``; ``name`` is for folders."""
    found = [_find(part, name) for part in listed(path)]
    if not found:
        raise InputError("no checkpoint was given")
    return found


def _find(path: Path, name: str) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise FileNotFoundError(f"{path}: no such checkpoint, run folder or bundle")
    if not (path / name).is_file():
        others = sorted(other.name for other in path.glob("*.pt"))
        raise FileNotFoundError(f"{path} holds no {name}; checkpoints there: {named(others)}")
    return path / name


def check_checkpoint(path: Path, wanted: Sequence[str] = TASKS) -> Checkpoint:
    """Read a checkpoint without building its model; refuse other tasks than ``wanted``."""
    found = read_checkpoint(path)
    name, arch = found.task["_name"], found.model["_name"]
    if not found.ours or name not in wanted:
        elsewhere = f"; it is read by {READ_BY[name]}" if found.ours and name in READ_BY else ""
        if name in wanted:  # so the architecture is not ours
            elsewhere = "; architectures of your own: import their package, then load it in Python"
        raise InputError(
            f"{path} holds model {arch!r} of task {name!r}; what is wanted is one of ours for "
            f"{' or '.join(wanted)}{elsewhere}"
        )
    return found


def lacking(
    path: Path, arch: str, what: str, feature: str, has: Callable[[dict[str, Any]], bool]
) -> InputError:
    """Return the error of a model that lacks a feature, with the architectures that have it.

    Args:
        path: the checkpoint.
        arch: its architecture.
        what: the missing part.
        feature: the option that provides it.
        has: whether an architecture's options provide it.
    """
    kinds = ", ".join(kind for kind, options in KINDS.items() if has(options))
    return InputError(
        f"{path} is of architecture {arch!r} and has no {what}; those with {feature} have: {kinds}"
    )


def load_models(
    paths: Sequence[Path],
    data: str | None = None,
    *,
    wanted: Sequence[str] = TASKS,
    **overrides: Any,
) -> tuple[Any, list[Any]]:
    """Set up the task and load the models of an ensemble, on the CPU.

    Args:
        paths: checkpoints of one task.
        data: the prepared folder (default: the first checkpoint's training folder).
        wanted: names of accepted tasks.
        overrides: task options that replace those of the checkpoint.

    Returns:
        The task and its models.
    """
    found = [check_checkpoint(path, wanted) for path in paths]
    names = [checkpoint.task["_name"] for checkpoint in found]
    for path, name in zip(paths, names):
        if name != names[0]:
            raise InputError(
                f"{paths[0]} is of task {names[0]!r} and {path} of {name!r}: they make no ensemble"
            )
    tuned = [checkpoint.task.get("label_thresholds") for checkpoint in found]
    if len({*tuned}) > 1 and "label_thresholds" not in overrides:
        raise InputError(
            f"{named(map(str, paths))} have other thresholds of labels: give the ensemble its own "
            "by --label-thresholds"
        )
    folder = folder_of(found[0], data)
    task = set_up(task_options(found[0], **overrides, data=folder))
    return task, [build(checkpoint, task) for checkpoint in found]
