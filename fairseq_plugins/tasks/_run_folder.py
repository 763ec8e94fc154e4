"""What a training leaves in its run folder before the first checkpoint: how raw text is read.

A task sees the options of the whole run: they stand around its own.
"""

import logging
from pathlib import Path
from typing import Any

from ..bundles.card import about, card
from ..bundles.run_folder import FOLDER, STATE, check_place, keep, kept_by
from ..data.manifest import Manifest
from ._checkpoint_options import architecture_of, training_of, unresolved
from ._checks import Refused

logger = logging.getLogger(__name__)

NEEDS = "Where fairseq and its plug-ins are installed, of the folder with the checkpoints"


def keep_folder(task: Any, folder: str | Path, model_cfg: Any, model: Any) -> dict[str, str]:
    """Let a run keep what raw text needs of its prepared folder; see `bundles.run_folder`.

    Args:
        task: what trains; without the options of its run nothing is written.
        folder: its prepared folder.
        model_cfg, model: the model and its options.

    Returns:
        What the run's checkpoints say of it.
    """
    whole = training_of(task.cfg)
    if whole is None or whole.checkpoint.no_save:
        return {}
    run, folder = Path(whole.checkpoint.save_dir), Path(folder)
    try:
        has = check_place(run, folder)
    except ValueError as error:
        raise Refused(str(error)) from None
    if whole.distributed_training.distributed_rank:  # the first process writes, as checkpoints
        return {}
    if not has:
        keep(run, folder, _card(task.manifest, model_cfg, model))
        logger.info("%s keeps what raw text needs of %s", run / FOLDER, folder)
    return {STATE: kept_by(run)}


def _card(manifest: Manifest, model_cfg: Any, model: Any) -> str:
    options = {**unresolved(model_cfg), "_name": architecture_of(unresolved(model_cfg))}
    versions = ", ".join(f"{name} {version}" for name, version in manifest.versions.items())
    rows = {**about(manifest, model, options), "versions": versions}
    return card(f"{options['_name']}: {manifest.dataset or manifest.pair}", rows, manifest, NEEDS)
