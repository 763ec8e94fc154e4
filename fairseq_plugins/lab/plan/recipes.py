"""The training options of a cell, and the recorded settings.

The number of updates follows from the size of the training set unless the grid gives it, because
warm-up and decay depend on the total. The batch of an update does not depend on the number of
processes: every process takes its share.
"""

import math
from typing import Any

from ...data.manifests import AnyManifest
from ...errors import InputError
from ...evaluation.metrics import LOWER_IS_BETTER
from ...prep.shares import SELECT
from .allowed import OWN_DATA, OWN_RATE, QUESTIONS, Options
from .grid import Cell, Grid
from .prepared_data import METRICS, TRANSLATION, PreparedData

ASKING = "mrc_ner"  # the task of systems with questions about labels
NEVER = 1_000_000  # epochs
BLEU = "bleu"  # of each validation of translations, computed on request
TRANSLATING = {  # defaults of translation (Vaswani 2017)
    "criterion": "label_smoothed_cross_entropy",
    "label-smoothing": 0.1,
    "optimizer": "adam",
    "adam-betas": "(0.9, 0.998)",
    "lr-scheduler": "inverse_sqrt",
}


def chief_metric(grid: Grid, manifest: AnyManifest) -> str:
    """Return the metric that chooses the best checkpoint."""
    metric, choices = grid.metric or manifest.metric, METRICS[manifest.target]
    if metric not in choices:
        raise InputError(f"metric {metric!r} of {grid.dataset}: choices are {', '.join(choices)}")
    return metric


def total_updates(grid: Grid, cell: Cell, data: PreparedData) -> int:
    """Return the updates of a run: the grid's, or whole epochs with their last batches."""
    system, epochs = cell.system, cell.setting.epochs
    if cell.setting.updates:
        return cell.setting.updates
    options = {"batch-size": grid.batch_size, "update-freq": 1, **_own_options(grid, cell)}
    if data.translates or options.get("max-tokens"):
        raise InputError(
            f"{system}: its batches are made by tokens, so that epochs do not say how many "
            "updates there are: give 'updates' (--updates)"
        )
    for name in ("batch-size", "update-freq"):
        if not isinstance(options[name], int) or options[name] < 1:
            raise InputError(f"option {name!r} of {system}: {options[name]!r} is no number from 1")
    batches = math.ceil(data.examples / options["batch-size"])
    return math.ceil(batches / options["update-freq"]) * epochs


def _own_options(grid: Grid, cell: Cell) -> Options:
    """Return the options of grid, system and choice; later ones win."""
    system = grid.systems[cell.system]
    system = {name: v for name, v in system.items() if name not in (OWN_DATA, OWN_RATE)}
    return {**grid.options, **system, **dict(cell.setting.choice)}


def train_options(grid: Grid, cell: Cell, data: PreparedData) -> Options:
    """Return the options of ``fairseq-train`` that determine the result of a run."""
    own, metric = _own_options(grid, cell), chief_metric(grid, data.manifest)
    task = ASKING if own.get(QUESTIONS) else data.manifest.task
    fine_tuning = {
        "criterion": task,
        "optimizer": "bert_adamw",
        "weight-decay": grid.weight_decay,
        "clip-norm": grid.clip_norm,
        "lr-scheduler": "linear_warmup",
        "warmup-ratio": grid.warmup_ratio,
        "batch-size": grid.batch_size,
        "required-batch-size-multiple": 1,
    }
    every = grid.validate_every
    validation = {"validate-interval-updates": every, "save-interval-updates": every}
    if grid.updates:  # an epoch may be a few batches
        validation |= {"validate-interval": NEVER, "save-interval": NEVER}
    options = {
        "task": task,
        **(TRANSLATING if data.translates else fine_tuning),
        **({"eval-bleu": True} if metric == BLEU else {}),
        "lr": cell.setting.learning_rate,
        "max-update": total_updates(grid, cell, data),
        "seed": cell.seed,
        "best-checkpoint-metric": metric,
        "maximize-best-checkpoint-metric": metric not in LOWER_IS_BETTER,
        **(validation if every else {}),
        **({"valid-subset": SELECT} if grid.select_fraction else {}),
        **own,
    }
    return {name: value for name, value in options.items() if value is not None}


def settings(grid: Grid, cell: Cell, data: PreparedData) -> dict[str, Any]:
    """Return all settings of a run, as recorded with its results.

    Question answering also records the validation file, because systems with other training data,
    such as augmented data, are compared on the same questions.
    """
    target = data.manifest.target
    found = {
        **cell.record,
        "dataset": grid.dataset,
        "target": target,
        "positive": data.manifest.positive,
        "metric": chief_metric(grid, data.manifest),
        "validation": grid.validation,
        "data": data.fingerprint,
        "options": train_options(grid, cell, data),
    }
    if grid.select_fraction:
        found["select_fraction"] = grid.select_fraction
    if data.asks:
        found["validation_data"] = data.file_of(grid.reported)
    if target == TRANSLATION:
        own = {name: getattr(grid, name) for name in ("reference", "average", "generate")}
        found["translated"] = {"split": grid.evaluate, **own}
    return found
