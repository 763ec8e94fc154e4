"""Checks of the checkpoint that a training starts from, before any work.

fairseq loads weights whenever their shapes fit: word vectors fit every vocabulary of the same size,
and many options of a model change no shape.
"""

import logging
from argparse import Namespace
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from fairseq.checkpoint_utils import prune_state_dict
from fairseq.dataclass.configs import CheckpointConfig
from fairseq.models import ARCH_MODEL_NAME_REGISTRY, MODEL_DATACLASS_REGISTRY
from fairseq.tasks import FairseqTask
from torch import Tensor, distributed

from ..door.model_trial import try_model
from ..door.torch_files import read_state
from ..errors import InputError
from ..messages import named
from ..methods.options import architecture
from ..option_flags import flag_of
from ..syntax.controls import CONTROLS
from ._checkpoint_options import training_of, unresolved
from ._checks import Refused

logger = logging.getLogger(__name__)

SHOWN = 5  # options in a warning


def trained_start(task: Any, cfg: Any, model_class: Any) -> Any:
    """Return the trained model to load (``--pretrained``); write its shape into model options.

    A training that goes on takes the shape of its own checkpoint, and loads nothing here.
    """
    place, whole = getattr(cfg, "pretrained", None), training_of(task.cfg)
    if not place:
        return None
    last = None
    if whole is not None:
        if whole.checkpoint.finetune_from_model:
            raise Refused("--pretrained and --finetune-from-model: give one of them")
        last = _started_from(whole.checkpoint)[0]
        last = last if last.is_file() else None
    try:
        start = model_class.trained(last or place)
        start.take_over(cfg, task.source_layers)
        if last is None:
            start.check_folder(task)
    except (InputError, FileNotFoundError) as error:
        raise Refused(str(error)) from None
    return None if last else start


def weights_of(start: Any, task: Any, cfg: Any) -> dict[str, Tensor]:
    """Return a trained model's weights for a new model, which is first built without memory."""
    try:
        return start.fitted(try_model(partial(FairseqTask.build_model, task, cfg.copy())))
    except InputError as error:
        raise Refused(str(error)) from None


def check_start(cfg: Any, model_cfg: Any, check: Callable[[Namespace], None]) -> None:
    """Refuse a start checkpoint with other words; warn if its options differ.

    Args:
        cfg: options of a task inside its run's; without them nothing is checked.
        model_cfg: complete options of the new model.
        check: refuses options of a checkpoint's model that do not fit the task.
    """
    whole = training_of(cfg)
    if whole is None:
        return
    path, resumed = _started_from(whole.checkpoint)
    _check_alike(path, resumed)
    if not path.is_file():  # fairseq reports a missing named file
        return
    try:
        told = _options(path)
        check(Namespace(**told))
    except InputError as error:
        raise Refused(f"{path}, from which this training would start: {error}") from None
    others = _differing(_complete(model_cfg), told) if resumed else {}
    controls = [others[name] for name in CONTROLS if name in others]
    if controls and path.parent.resolve() == Path(whole.checkpoint.save_dir).resolve():
        raise Refused(
            f"{path}, from which this training would go on, was trained with another control: "
            f"{named(controls)}: name another --save-dir"
        )
    if others:
        logger.warning("%s was trained with other options: %s", path, named(others.values(), SHOWN))


def check_parameters(cfg: Any, model_cfg: Any, model: Any) -> None:
    """Refuse a start checkpoint with other parameters than the new model."""
    whole = training_of(cfg)
    path = _started_from(whole.checkpoint)[0] if whole is not None else None
    if path is None or not path.is_file():
        return
    given = {**read_state(path)["model"]}
    model.upgrade_state_dict(given)
    both = prune_state_dict(given, model_cfg), model.state_dict()
    there, here = ({name: [*value.shape] for name, value in one.items()} for one in both)
    for name in {**here, **there}:
        if (old := there.get(name, "none")) != (new := here.get(name, "none")):
            options = _differing(_complete(model_cfg), _options(path)).values()
            raise Refused(
                f"{path}, from which this training would start, is of another model: {name} has "
                f"shape {old} there, {new} here; give that model's options: {named(options, SHOWN)}"
            )


def _started_from(checkpoint: Any) -> tuple[Path, bool]:
    """Return fairseq's start checkpoint, and whether it is resumed."""
    goes_on = not checkpoint.reset_optimizer
    if checkpoint.restore_file != CheckpointConfig.restore_file:
        return Path(checkpoint.restore_file), goes_on
    last = Path(checkpoint.save_dir) / checkpoint.restore_file
    if last.exists():
        return last, goes_on
    if checkpoint.get("continue_once"):  # fairseq 0.12.2 has none
        return Path(checkpoint.continue_once), goes_on
    return Path(checkpoint.finetune_from_model or last), False


def _check_alike(path: Path, resumed: bool) -> None:
    """Refuse a start checkpoint that some processes of a training do not find."""
    if not distributed.is_available() or not distributed.is_initialized():
        return
    own = (path.name, path.is_file(), resumed)
    starts: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(starts, own)
    if any(one != own for one in starts):
        raise Refused(
            f"{path}, from which this training would start, is not there for all of its processes: "
            "machines share the disk with the checkpoints"
        )


def resumed_state(cfg: Any, *parts: str) -> dict[str, Any]:
    """Return a part of the checkpoint that a training goes on from; empty without it."""
    whole = training_of(cfg)
    path, resumed = (Path(), False) if whole is None else _started_from(whole.checkpoint)
    return _part(path, *parts) if resumed and path.is_file() else {}


def _options(path: Path) -> dict[str, Any]:
    """Return a checkpoint's model options; empty for older formats."""
    return _part(path, "cfg", "model")


def _part(path: Path, *parts: str) -> dict[str, Any]:
    found: Any = read_state(path)
    for name in parts:
        found = found.get(name) if isinstance(found, dict) else None
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


def _complete(model_cfg: Any) -> dict[str, Any]:
    """Return a new model's options, with defaults for missing ones."""
    given = unresolved(model_cfg)
    kind = MODEL_DATACLASS_REGISTRY[ARCH_MODEL_NAME_REGISTRY[architecture(model_cfg)]]
    return {one.name: one.default for one in fields(kind) if one.default is not None} | given


def _differing(new: dict[str, Any], old: dict[str, Any]) -> dict[str, str]:
    """Return option -> its name and both values, if they differ; references are no values."""
    return {
        name: f"{'--arch' if name == '_name' else flag_of(name)} {value} (there {old[name]})"
        for name, value in new.items()
        if name in old and str(value) != str(old[name]) and "${" not in f"{value}{old[name]}"
    }
