"""From checkpoint files to a task and its models: the only way for files of strangers.

A checkpoint's options become closed records (`door.records`) of our tasks and models; the
other options (``bpe``, ``tokenizer``, ``generation``, ``common`` and the rest) are not read.
fairseq's own loader would build and open whatever options name, and resolve their references.
"""

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from fairseq.models import (
    ARCH_MODEL_NAME_REGISTRY,
    ARCH_MODEL_REGISTRY,
    MODEL_DATACLASS_REGISTRY,
)
from fairseq.tasks import TASK_DATACLASS_REGISTRY, FairseqTask, setup_task
from omegaconf import OmegaConf

from ..bundles.run_folder import Origin, prepared_folder
from ..door.model_trial import try_model
from ..door.records import BY_USERS, NAME, PIPELINE, close
from ..door.torch_files import check_finite, read_state
from ..errors import InputError
from ..methods.options import merged

# task -> mark of its models
TAKEN = {
    "syntax_translation": "takes_source_factors",
    "text_classification": "takes_text",
    "sequence_labeling": "takes_text",
    "extractive_qa": "takes_text",
    "mrc_ner": "takes_text",
}


@dataclass(frozen=True)
class Checkpoint:
    """The accepted content of a checkpoint file."""

    path: Path  # the file
    task: dict[str, Any]  # options of its task with ``_name``; of a foreign task only the name
    model: dict[str, Any]  # complete options of its model, likewise
    weights: dict[str, Any]  # parameters by name
    ours: bool  # whether both are ours and belong together
    origin: Origin = Origin()  # the prepared folder of its run


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint, without building, opening or looking up anything."""
    state = read_state(path)
    cfg = state.get("cfg")
    # fairseq builds from "args" and the key "task", if present, whatever "_name" is
    older = not isinstance(cfg, dict) or state.get("args") is not None
    parts = [None if older else cfg.get(name) for name in ("task", "model")]
    task, model = (part if isinstance(part, dict) else {} for part in parts)  # else none of ours
    name, arch = (part.get("_name") for part in (task, model))
    name = name if isinstance(name, str) and "task" not in task else None
    arch = arch if isinstance(arch, str) else None
    model_class: Any = ARCH_MODEL_REGISTRY.get(arch)
    ours = name in TAKEN and getattr(model_class, TAKEN[name], False)
    if name is None or not ours:
        return Checkpoint(path, {"_name": name}, {"_name": arch}, state["model"], ours=False)
    check_finite(state["model"], path)
    task = close(task, TASK_DATACLASS_REGISTRY[name], path, without=BY_USERS)
    config_class = MODEL_DATACLASS_REGISTRY[ARCH_MODEL_NAME_REGISTRY[arch]]
    how = {"without": model_class.opened, "before": model_class.before}
    model = close(model, config_class, path, **how)
    whole = merged(Namespace(**model, _name=arch), config_class)
    model_class.resolve(whole)
    origin = Origin.of(task.get("data"), state.get("task_state"))
    options = {**task, "_name": name}, {**vars(whole), "_name": arch}
    return Checkpoint(path, *options, state["model"], ours=True, origin=origin)


def folder_of(checkpoint: Checkpoint, data: str | Path | None = None) -> str:
    """Return the prepared folder for a checkpoint; see `prepared_folder`."""
    return prepared_folder(checkpoint.path, checkpoint.origin, data)


def task_options(checkpoint: Checkpoint, **overrides: Any) -> dict[str, Any]:
    """Return the options of a checkpoint's task with the user's overrides."""
    name = checkpoint.task["_name"]
    config_class = TASK_DATACLASS_REGISTRY[name]
    known = [spec.name for spec in fields(config_class) if spec.name != NAME]
    for option in overrides:
        if option not in known:
            raise InputError(
                f"{option!r} is no option of task {name!r}; choices: {', '.join(sorted(known))}"
            )
    return {**checkpoint.task, **close(overrides, config_class, "the options given")}


def set_up(options: Mapping[str, Any]) -> Any:
    """Set up the task of closed options on their prepared folder."""
    cfg: Any = OmegaConf.create(dict(options))
    task = setup_task(cfg, from_checkpoint=True)
    task.cfg.spacy_model = options.get(PIPELINE)  # checkpoint options never set it
    return task


def build(checkpoint: Checkpoint, task: Any, overrides: Mapping[str, Any] = {}) -> Any:
    """Build a checkpoint's model on the CPU and fill it, after checking its sizes."""
    options = OmegaConf.create({**checkpoint.model, **overrides})
    task.check_fit(options, ARCH_MODEL_REGISTRY[checkpoint.model["_name"]])
    tried: Any = options.copy()  # fairseq removes --encoder-layers-to-keep from them
    trial = partial(FairseqTask.build_model, task, tried, True)
    try:
        try_model(trial, checkpoint.weights, model_cfg=tried)
    except InputError as error:
        raise InputError(f"{checkpoint.path} does not fit its own options: {error}") from None
    model = task.build_model(options, from_checkpoint=True)
    model.load_state_dict(checkpoint.weights, strict=True, model_cfg=options)
    return model.eval()
