"""Checkpoints of the understanding tasks: found, checked and loaded without running their code.

A checkpoint names its task and model, and some of fairseq's own evaluate text of their options as
Python. So both names are read first (tensors and plain values only), and nothing is built unless
they are ours.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils, tasks
from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ..messages import named
from .averaging import load_state

ANSWERING = "extractive_qa"
LABELLING = ("text_classification", "sequence_labeling")
TASKS = (*LABELLING, ANSWERING)
_READ_BY = dict.fromkeys(LABELLING, "scripts/predict.py")
_READ_BY[ANSWERING] = "scripts/predict_squad.py, scripts/ask.py and scripts/plot_coattention.py"
PARTS = ("task", "model")
DEFAULT = "checkpoint_best.pt"

Paths = str | Path | Sequence[str | Path]


def find_checkpoints(path: Paths, name: str = DEFAULT) -> list[Path]:
    """Return the checkpoint files that ``path`` stands for.

    Args:
        path: a checkpoint file or run folder; several as a list, or joined by ``:``.
        name: the file to take from a folder.

    Raises:
        FileNotFoundError: there is no such file or folder, or the folder lacks that file.
        ValueError: nothing was given.
    """
    if isinstance(path, (str, Path)):
        whole = str(path)
        path = [whole] if Path(whole).exists() else [p for p in whole.split(os.pathsep) if p]
    found = [_find(Path(part), name) for part in path]
    if not found:
        raise ValueError("no checkpoint was given")
    return found


def _find(path: Path, name: str) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise FileNotFoundError(f"{path}: no such checkpoint or run folder")
    if not (path / name).is_file():
        others = sorted(other.name for other in path.glob("*.pt"))
        raise FileNotFoundError(f"{path} holds no {name}; checkpoints there: {named(others)}")
    return path / name


def recorded_options(path: Path) -> dict[str, dict[str, Any]]:
    """Read what a checkpoint says about itself, without building anything.

    Returns:
        The options of its ``task`` and its ``model``, empty where it has none.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a damaged file, or one that would run code.
    """
    state = load_state(path, mapped=True)
    cfg = state.get("cfg")
    # options in fairseq's older form would be read instead of these
    cfg = cfg if isinstance(cfg, dict) and state.get("args") is None else {}
    return {part: cfg[part] if isinstance(cfg.get(part), dict) else {} for part in PARTS}


def check(path: Path, wanted: Sequence[str] = TASKS) -> dict[str, Any]:
    """Refuse a checkpoint that is not of our tasks and models, before anything of it is built.

    Args:
        path: the checkpoint.
        wanted: names of tasks.

    Returns:
        The options of its task.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: another task or model, a damaged file, or one that would run code.
    """
    task, model = recorded_options(path).values()
    name, arch = task.get("_name"), model.get("_name")
    ours = getattr(ARCH_MODEL_REGISTRY.get(arch), "takes_text", False)
    if not ours or name not in wanted:
        elsewhere = f"; {_READ_BY[name]} read it" if ours and name in TASKS else ""
        raise ValueError(
            f"{path} holds model {arch!r} of task {name!r}; what is wanted is one of ours for "
            f"{' or '.join(wanted)}{elsewhere}"
        )
    return task


def load_models(
    paths: Sequence[Path],
    data: str | None = None,
    *,
    wanted: Sequence[str] = TASKS,
    **overrides: Any,
) -> tuple[Any, list[Any]]:
    """Set the task up and load the models of an ensemble, on the CPU.

    Args:
        paths: checkpoints of one task.
        data: the prepared folder (default: the one the first checkpoint was trained on).
        wanted: names of tasks, one of which it must be.
        overrides: task options that replace those of the checkpoint.

    Returns:
        The task and its models.

    Raises:
        FileNotFoundError: a checkpoint or the prepared folder is not there.
        ValueError: a checkpoint that is refused, or does not fit the others or the folder.
    """
    recorded = [check(path, wanted) for path in paths]
    names = [options["_name"] for options in recorded]
    for path, name in zip(paths, names):
        if name != names[0]:
            raise ValueError(
                f"{paths[0]} is of task {names[0]!r} and {path} of {name!r}: they make no ensemble"
            )
    task = _set_up(recorded[0], prepared_folder(paths[0], recorded[0], data), overrides)
    models = [_load(path, task) for path in paths]
    return task, models


def prepared_folder(path: Path, recorded: dict[str, Any], data: str | None = None) -> str:
    """Return the prepared folder of a checkpoint.

    Args:
        path: the checkpoint.
        recorded: options of its task.
        data: the folder, if it is given.

    Raises:
        FileNotFoundError: it is not there.
    """
    folder = str(data or recorded.get("data"))
    if not Path(folder).is_dir():
        origin = "" if data else f" that {path} was trained on"
        raise FileNotFoundError(
            f"the prepared folder {folder}{origin} is not there; give its place with --data "
            "(data=... in Python)"
        )
    return folder


def _set_up(recorded: dict[str, Any], folder: str, overrides: dict[str, Any]) -> Any:
    """Set up the task named by ``_name``; fairseq would prefer what an older key says, ``task``."""
    for name in overrides:
        if name not in recorded:
            raise ValueError(
                f"{name!r} is no option of task {recorded['_name']!r}; choices: "
                f"{named(sorted(key for key in recorded if not key.startswith('_')), 30)}"
            )
    options = {**recorded, **overrides, "data": folder}
    options.pop("task", None)
    try:
        return tasks.setup_task(OmegaConf.create(options), from_checkpoint=True)
    except OmegaConfBaseException as error:
        raise ValueError(str(error).split("\n")[0] + f" ({error.full_key})") from None


def _load(path: Path, task: Any) -> Any:
    try:
        (model,), _ = checkpoint_utils.load_model_ensemble([str(path)], task=task)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} does not fit its own options: {reason}") from None
    return model.eval()
