"""Grids of training runs, their cells, and the YAML file of a grid.

    dataset: cola
    systems:
      - bert_plain_minilm
      - {name: pos_zero, arch: bert_pos_minilm, feature-init: zero}
      - {arch: bert_sla_minilm, tree-threshold: [3, 4]}  # a choice, made on the validation set
      - {name: other, arch: bert_sla_minilm, lr: 1e-5, data: more}  # its own
    learning_rates: [5e-5, 4e-5]
    seeds: [1, 2, 3]
    options: {max-positions: 128, dropout: [0.1, 0.2]}  # of all systems; again a list is a choice

Keys are the fields of `Grid`, values of their types (`grid_values`); what a cell trains with is in
`recipes`, and an experiment of several grids is read by `experiment_file`.

A system is an architecture, or a name for one with options of its own: a variant is a value. An
option that is a list is a choice to be made, as the learning rate is: every value is run. A cell is
one run: system, choice, learning rate, length, share of the training data, seed. Two options of a
system are the grid's own affair: `lr` is its learning rate in place of the grid's, and `data` says
which other prepared folder it is trained on (`prepared_data.read_folders`), with the same
validation set.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import ConfigDict

from ...prep.shares import SELECT
from . import grid_values as of
from .grid_values import OWN_RATE
from .option_values import Options
from .plain_values import closed, filled, read_as
from .prepare_options import TRANSLATION, check_prepare
from .strict_yaml import read_mapping
from .train_options import OWN_DATA

MOST_RUNS = 100_000  # of a grid: more is a mistake, or meant to fill a disk
VALID = "valid"
SIZES = ("tiny", "minilm", "base", "large")  # ends of architectures' names
Choice = tuple[tuple[str, Any], ...]  # the values of a system's options that are lists


@dataclass(frozen=True)
class Grid:
    """What to run; the types are checked where a file is read."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    dataset: of.Name  # in the manifest, that of ``prepare text``; `squad`, or `translation`
    # name -> options of ``fairseq-train``, ``arch`` among them, also `OWN_RATE` and `OWN_DATA`
    systems: of.Systems
    learning_rates: of.Amounts = (5e-5, 4e-5, 3e-5, 2e-5)  # peaks of the schedule
    epochs: of.Lengths = (3,)  # lengths of the training
    # Length of every training, in place of `epochs`; 0 for these. Translation wants it, and so does
    # a comparison of fractions in which all see the same number of batches.
    updates: of.Count = 0
    # shares of the training set, in (0, 1]; of the same seed smaller ones lie within larger ones
    fractions: of.Shares = (1.0,)
    seeds: of.Counts = (1, 2, 3, 4, 5)  # of initialisation, dropout and order
    batch_size: of.Positive = 32  # examples of an update
    warmup_ratio: of.Amount = 0.1  # share of the updates that warm up
    weight_decay: of.Amount = 0.01  # of matrices
    clip_norm: of.Amount = 1.0  # largest norm of the gradient
    # updates between validations, which also follow every epoch; 0 for none
    validate_every: of.Count = 0
    # what chooses the best checkpoint; empty for the dataset's headline metric
    metric: of.Name = ""
    # split that the best checkpoint is tried on at the end, if it has labels; it chooses nothing
    evaluate: of.Name = ""
    # share of the training set that is held out to choose checkpoints and rates on, the same for
    # all; what is reported is then `evaluate`, or the validation set
    select_fraction: of.Amount = 0.0
    prepare: of.Preparation = field(default_factory=dict)  # options; see `prepare_options`
    generate: of.Generation = field(default_factory=dict)  # of ``fairseq-generate``, to translate
    # raw reference of that split, of translation; empty for the prepared folder's target side
    reference: of.Path = ""
    average: of.Count = 0  # last checkpoints that are averaged to translate; 0 for the best one
    note: of.Line = ""  # said wherever results are shown, such as that a corpus is invented
    trial: of.Trial = ""  # mark of runs that are cut short: nothing is tested
    # of ``fairseq-train`` for all systems; True is a bare flag, a list is a choice
    options: of.OptionsOfAll = field(default_factory=dict)

    @property
    def validation(self) -> str:
        """The split that chooses checkpoints and learning rates: the first of ``valid-subset``."""
        usual = SELECT if self.select_fraction else VALID
        return str(self.options.get("valid-subset", usual)).split(",")[0]

    @property
    def reported(self) -> str:
        """The split of a prepared folder whose figures are comparable over folders."""
        return self.evaluate if self.select_fraction else self.validation

    def cells(self) -> Iterator[GridCell]:
        """Yield all runs, seed by seed, so that an interrupted grid has whole comparisons."""
        systems = [
            (name, choice)
            for name, options in self.systems.items()
            for choice in choices({**self.options, **options})
        ]
        lengths = (0,) if self.updates else self.epochs
        most = max(len(self.rates_of(name)) for name in self.systems)
        for seed, fraction, epochs, number, (name, choice) in product(
            self.seeds, self.fractions, lengths, range(most), systems
        ):
            for rate in self.rates_of(name)[number : number + 1]:
                yield GridCell(name, rate, epochs, seed, choice, fraction, self.updates)

    def count(self) -> int:
        """Return the number of runs, without making them."""
        lengths = 1 if self.updates else len(self.epochs)
        return sum(
            len(self.rates_of(name))
            * math.prod(len(v) for v in open_choices({**self.options, **options}).values())
            for name, options in self.systems.items()
        ) * (lengths * len(self.seeds) * len(self.fractions))

    def rates_of(self, system: str) -> tuple[float, ...]:
        """Return a system's learning rates, its own or the grid's."""
        own = self.systems[system].get(OWN_RATE)
        if own is None:
            return self.learning_rates
        return tuple(map(float, own if isinstance(own, list) else [own]))

    def data_of(self, system: str) -> str:
        """Return what a system calls its own prepared folder; empty for the grid's."""
        return str(self.systems[system].get(OWN_DATA, ""))


def variant(system: str, option: str, value: Any) -> str:
    """Return what a system with another value of an option is called."""
    return f"{system}-{option}-{value}"


def choices(options: Options) -> list[Choice]:
    """Return every choice from the options that are lists; one empty choice if none is."""
    open_ = open_choices(options)
    return [tuple(zip(open_, values)) for values in product(*open_.values())]


def open_choices(options: Options) -> dict[str, list[Any]]:
    """Return the options that are lists, with their values."""
    return {
        name: values
        for name, values in options.items()
        if isinstance(values, list) and name != OWN_RATE
    }


@dataclass(frozen=True)
class GridCell:
    """One run of a grid; `epochs` is 0 where `updates` says how long it trains."""

    system: str
    learning_rate: float
    epochs: int
    seed: int
    choice: Choice = ()
    fraction: float = 1.0
    updates: int = 0

    @property
    def folder(self) -> Path:
        """Where it goes, below the grid's own folder."""
        rate = f"{self.learning_rate:g}".replace("e-0", "e-")
        length = f"updates{self.updates}" if self.updates else f"epochs{self.epochs}"
        share = [] if self.fraction == 1 else [f"fraction{self.fraction:g}"]
        parts = [f"lr{rate}", length, *share, *(f"{key}{v}" for key, v in self.choice)]
        return Path(self.system) / "-".join(parts) / f"seed{self.seed}"

    @property
    def record(self) -> dict[str, Any]:
        """What it is, for files; what a cell does not have, such as choices, is left out."""
        usual = {"choice": {}, "fraction": 1.0, "updates": 0}
        own = asdict(self) | {"choice": dict(self.choice)}
        return {key: value for key, value in own.items() if usual.get(key) != value}


KINDS = get_type_hints(Grid, include_extras=True)
SOME = closed("Some", KINDS)  # keys of a grid, none of which has to be there


def read_grid(path: str | Path) -> Grid:
    """Read a YAML file.

    Raises:
        FileNotFoundError: there is none.
        ValueError: an unknown key or a value of another kind; names file, key and choices.
    """
    return grid_of(read_mapping(path), str(path))


def grid_of(content: Mapping[Any, Any], place: str) -> Grid:
    """Return the grid of keys and values as YAML has them, which stand at ``place``; ValueError."""
    return check_grid(read_as(Grid, filled(content), place), place)


def check_grid(grid: Grid, place: str) -> Grid:
    """Return a grid whose values go together; ValueError says which do not."""
    if grid.dataset == TRANSLATION and not grid.updates:
        raise ValueError(f"{place}: translation wants a number of updates (key 'updates')")
    try:
        check_prepare(grid.prepare, grid.dataset)
    except ValueError as error:
        raise ValueError(f"{place}: prepare: {error}") from None
    if grid.select_fraction >= 1:
        raise ValueError(f"{place}: select_fraction {grid.select_fraction}: must be below 1")
    if grid.select_fraction and "valid-subset" in grid.options:
        raise ValueError(f"{place}: select_fraction and option 'valid-subset': choose one of them")
    if grid.select_fraction and not grid.evaluate:
        grid = replace(grid, evaluate=VALID)
    if (count := grid.count()) > MOST_RUNS:
        raise ValueError(f"{place}: {count:,} runs: a file may ask for {MOST_RUNS:,}")
    return grid
