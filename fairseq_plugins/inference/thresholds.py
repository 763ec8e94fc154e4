"""Thresholds of labels, tuned on a split and stored in the checkpoint."""

import logging
from pathlib import Path
from typing import Any

from ..bundles.index import found_bundles
from ..door.torch_files import read_state, write_state
from ..errors import InputError
from ..files import replaced
from ..messages import named
from .prediction import Predictor

logger = logging.getLogger(__name__)


def tune_thresholds(predictor: Predictor, split: str, **limits: Any) -> None:
    """Give each label the threshold of its highest F1, in a predictor and in its checkpoint.

    Args:
        predictor: of one checkpoint.
        split: of its prepared folder; examples without gold are left out.
        limits: see `Predictor.batches`.
    """
    path, target = Path(predictor.checkpoints[0]), predictor.target
    if not predictor.inputs.thresholds:
        raise InputError(f"--tune-thresholds is for sets of labels, not for {target.said}")
    if len(predictor.checkpoints) > 1 or found_bundles(path):
        told = named(predictor.checkpoints)
        raise InputError(f"--tune-thresholds changes one checkpoint, before its export; not {told}")
    if not predictor.manifest.splits[split]["labelled"]:
        raise InputError(f"split {split!r} of {predictor.folder} has no labels to be tuned on")
    made = [*predictor.predict_split(split, **limits)]
    found = target.tuned(made, predictor.labels)
    state = read_state(path)
    state["cfg"]["task"]["label_thresholds"] = found
    with replaced(path) as temporary:
        write_state(state, temporary)
    predictor.inputs.thresholds = target.thresholds(found, predictor.labels)
    logger.info("%s keeps thresholds tuned on %s: %s", path, split, found)
