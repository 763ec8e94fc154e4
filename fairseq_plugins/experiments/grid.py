"""Grids of fine-tuning runs: their cells, and the options of ``fairseq-train`` for each.

A system is an architecture, or a name for one with options of its own: a variant is a value. An
option that is a list is a choice to be made, as the learning rate is: every value is run. A cell is
one run: system, choice, learning rate, number of epochs, seed. The number of updates follows from
the size of the training set, since warm-up and decay are laid out over all of them. Two options of
a system are the grid's own affair: `lr` is its learning rate in place of the grid's, and `data`
says which other prepared folder it is trained on (`prepared_data.read_folders`), with the same
validation set.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from ..evaluation.metrics import LOWER_IS_BETTER, NAMES
from .prepared_data import SPANS, PreparedData

SIZES = ("tiny", "minilm", "base", "large")  # ends of architectures' names

OWN_DATA, OWN_RATE = "data", "lr"  # options of a system that the grid reads itself

Options = dict[str, Any]
Choice = tuple[tuple[str, Any], ...]  # the values of a system's options that are lists


@dataclass(frozen=True)
class Grid:
    """What to run.

    Args:
        dataset: its name in the manifest, that of ``scripts/prepare_text.py``.
        systems: name -> options of ``fairseq-train``, ``arch`` among them; a list is a choice.
            `OWN_RATE` and `OWN_DATA` may be among them.
        learning_rates: peaks of the schedule.
        epochs: lengths of the training.
        seeds: of initialisation, dropout and order.
        batch_size: examples of an update.
        warmup_ratio: share of the updates that warm up.
        weight_decay: of matrices.
        clip_norm: largest norm of the gradient.
        validate_every: updates between validations beside those after every epoch; 0 for none.
        metric: what chooses the best checkpoint; empty for the dataset's headline metric.
        evaluate: split that the best checkpoint is tried on at the end, if it has labels; empty for
            none. It chooses nothing.
        prepare: options of ``scripts/prepare_text.py`` that the dataset needs.
        options: further options of ``fairseq-train`` for all systems; True is a bare flag, a list
            is a choice.
    """

    dataset: str
    systems: Mapping[str, Options]
    learning_rates: tuple[float, ...] = (5e-5, 4e-5, 3e-5, 2e-5)
    epochs: tuple[int, ...] = (3,)
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    batch_size: int = 32
    warmup_ratio: float = 0.1
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    validate_every: int = 0
    metric: str = ""
    evaluate: str = ""
    prepare: str = ""
    options: Options = field(default_factory=dict)

    @property
    def validation(self) -> str:
        """The split that chooses checkpoints and learning rates: the first of ``valid-subset``."""
        return str(self.options.get("valid-subset", "valid")).split(",")[0]

    def cells(self) -> Iterator[Cell]:
        """Yield all runs, seed by seed, so that an interrupted grid has whole comparisons."""
        systems = [
            (name, choice)
            for name, options in self.systems.items()
            for choice in choices({**self.options, **options})
        ]
        for seed, epochs, rate, (name, choice) in product(
            self.seeds, self.epochs, self.learning_rates, systems
        ):
            own = self.systems[name].get(OWN_RATE)
            if not isinstance(own, (int, float)):  # none, or a choice
                yield Cell(name, rate, epochs, seed, choice)
            elif rate == self.learning_rates[0]:
                yield Cell(name, float(own), epochs, seed, choice)

    def data_of(self, system: str) -> str:
        """Return what a system calls its own prepared folder; empty for the grid's."""
        return str(self.systems[system].get(OWN_DATA, ""))


def variant(system: str, option: str, value: Any) -> str:
    """Return what a system with another value of an option is called."""
    return f"{system}-{option}-{value}"


def choices(options: Options) -> list[Choice]:
    """Return every choice from the options that are lists; one empty choice if none is."""
    open_ = {name: values for name, values in options.items() if isinstance(values, list)}
    return [tuple(zip(open_, values)) for values in product(*open_.values())]


@dataclass(frozen=True)
class Cell:
    """One run of a grid."""

    system: str
    learning_rate: float
    epochs: int
    seed: int
    choice: Choice = ()

    @property
    def folder(self) -> Path:
        """Where it goes, below the grid's own folder."""
        rate = f"{self.learning_rate:g}".replace("e-0", "e-")
        parts = [f"lr{rate}", f"epochs{self.epochs}", *(f"{key}{v}" for key, v in self.choice)]
        return Path(self.system) / "-".join(parts) / f"seed{self.seed}"

    @property
    def record(self) -> dict[str, Any]:
        """What it is, for files; a cell without choices tells of none."""
        own = asdict(self) | {"choice": dict(self.choice)}
        return own if self.choice else {key: own[key] for key in own if key != "choice"}


def chief_metric(grid: Grid, manifest: Mapping[str, Any]) -> str:
    """Return the metric that chooses the best checkpoint.

    Raises:
        ValueError: the grid's metric does not go with the dataset.
    """
    metric, choices = grid.metric or manifest["metric"], NAMES[manifest["target"]]
    if metric not in choices:
        raise ValueError(f"metric {metric!r} of {grid.dataset}: choices are {', '.join(choices)}")
    return metric


def total_updates(grid: Grid, cell: Cell, data: PreparedData) -> int:
    """Return the number of updates of a run: whole epochs, the last batch of each included.

    Raises:
        ValueError: the option ``batch-size`` or ``update-freq`` (batches of an update) of this run
            is no such number.
    """
    options = {"batch-size": grid.batch_size, "update-freq": 1, **_own_options(grid, cell)}
    for name in ("batch-size", "update-freq"):
        if not isinstance(options[name], int) or options[name] < 1:
            raise ValueError(
                f"option {name!r} of {cell.system}: {options[name]!r} is no number from 1 on"
            )
    batches = math.ceil(data.examples / options["batch-size"])
    return math.ceil(batches / options["update-freq"]) * cell.epochs


def _own_options(grid: Grid, cell: Cell) -> Options:
    """Return what the grid, the system and the choice say, the last of them weighing most."""
    system = grid.systems[cell.system]
    system = {name: v for name, v in system.items() if name not in (OWN_DATA, OWN_RATE)}
    return {**grid.options, **system, **dict(cell.choice)}


def train_options(grid: Grid, cell: Cell, data: PreparedData) -> Options:
    """Return the options of ``fairseq-train`` that decide what comes out of a run."""
    task, metric = data.manifest["task"], chief_metric(grid, data.manifest)
    options: Options = {
        "task": task,
        "criterion": task,
        "optimizer": "bert_adamw",
        "lr": cell.learning_rate,
        "weight-decay": grid.weight_decay,
        "clip-norm": grid.clip_norm,
        "lr-scheduler": "linear_warmup",
        "warmup-ratio": grid.warmup_ratio,
        "batch-size": grid.batch_size,
        "required-batch-size-multiple": 1,
        "max-update": total_updates(grid, cell, data),
        "seed": cell.seed,
        "best-checkpoint-metric": metric,
        "maximize-best-checkpoint-metric": metric not in LOWER_IS_BETTER,
    }
    if grid.validate_every:
        every = grid.validate_every
        options |= {"validate-interval-updates": every, "save-interval-updates": every}
    options |= _own_options(grid, cell)
    return {name: value for name, value in options.items() if value is not None}


def command_line(options: Options) -> list[str]:
    """Spell options out; True is a bare flag, False and None are left out."""
    words = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append(f"--{name}")
        if value is not True:
            words.append(str(value))
    return words


def settings(grid: Grid, cell: Cell, data: PreparedData) -> dict[str, Any]:
    """Return everything that decides a run, as it is recorded beside its results.

    Of question answering the validation file is recorded as well, since systems may be trained on
    other data, such as augmented ones, and be compared on the same questions.
    """
    found = {
        **cell.record,
        "dataset": grid.dataset,
        "target": data.manifest["target"],
        "positive": data.manifest["positive"],
        "metric": chief_metric(grid, data.manifest),
        "validation": grid.validation,
        "data": data.fingerprint,
        "options": train_options(grid, cell, data),
    }
    if data.manifest["target"] == SPANS:
        found["validation_data"] = data.file_of(grid.validation)
    return found
