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

Keys are the fields of `Grid`. `recipes` holds the training options of a cell; `experiment_file`
reads experiments of several grids.

A system is an architecture, or a name for an architecture with its own options. An option with a
list is a choice, like the learning rate: every value is run. A cell is one run. The grid itself
reads two options of a system: `lr` replaces the grid's learning rates, and `data` names another
prepared folder to train on (`prepared_data.read_folders`), with the same validation set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, product
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from ...errors import InputError
from ...messages import quoted
from ...prep.shares import SELECT
from ..rows import Choice, Setting
from .allowed import OWN_DATA, OWN_RATE, Options, check_options, of_generation
from .prepare import TRANSLATION, check_prepare
from .systems import read_options_of_all, read_systems
from .values import LINE, NAME, NUMBER, PATH, one_of
from .yaml_file import filled, read_as, read_yaml

MOST_RUNS = 100_000  # of a grid; more is a mistake or an attack on the disk
VALID = "valid"
SIZES = ("tiny", "minilm", "base", "large")  # suffixes of architecture names
_Value = TypeVar("_Value")


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _different(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values or len(set(values)) < len(values):
        raise InputError(f"{quoted(list(values))} is empty or holds a value twice")
    return values


def _of_generation(options: Options) -> Options:
    return check_options(options, of_generation(), is_open=True)


Name, Line, Below = Annotated[str, NAME], Annotated[str, LINE], Annotated[str, PATH]
Count = Annotated[int, Field(strict=True, ge=0, lt=2**53)]
Positive = Annotated[int, Field(strict=True, ge=1, lt=2**53)]
Amount = Annotated[float, BeforeValidator(NUMBER.check), Field(ge=0)]
Part = Annotated[float, BeforeValidator(NUMBER.check), Field(gt=0, le=1)]
Several = Annotated[tuple[_Value, ...], AfterValidator(_different), BeforeValidator(_listed)]


@dataclass(frozen=True)
class Grid:
    """What to run; types are checked when a file is read."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    dataset: Name  # as in the manifest of ``prepare text``; or `squad`, `translation`
    # name -> options of ``fairseq-train`` with ``arch``, also `OWN_RATE` and `OWN_DATA`
    systems: Annotated[dict[str, Options], BeforeValidator(read_systems)]
    learning_rates: Several[Amount] = (5e-5, 4e-5, 3e-5, 2e-5)  # peaks of the schedule
    epochs: Several[Positive] = (3,)  # lengths of the training
    # Length of every training in place of `epochs`; 0 for epochs. Needed by translation and by
    # comparisons of fractions with equal numbers of batches.
    updates: Count = 0
    # shares of the training set, in (0, 1]; with equal seeds larger shares include smaller ones
    fractions: Several[Part] = (1.0,)
    seeds: Several[Count] = (1, 2, 3, 4, 5)  # of initialisation, dropout and order
    batch_size: Positive = 32  # examples of an update
    warmup_ratio: Amount = 0.1  # share of the updates that warm up
    weight_decay: Amount = 0.01  # of matrices
    clip_norm: Amount = 1.0  # largest norm of the gradient
    # updates between validations, in addition to every epoch; 0 for none
    validate_every: Count = 0
    # metric that chooses the best checkpoint; empty for the dataset's headline metric
    metric: Name = ""
    # split for the final evaluation of the best checkpoint, if labelled; chooses nothing
    evaluate: Name = ""
    # share of the training set, the same for all, that is held out to choose checkpoints and rates;
    # results are then reported on `evaluate`, or on the validation set
    select_fraction: Annotated[Amount, Field(lt=1)] = 0.0
    prepare: Options = field(default_factory=dict)  # see `check_prepare`
    # options of ``fairseq-generate`` for translation
    generate: Annotated[Options, AfterValidator(_of_generation)] = field(default_factory=dict)
    # raw reference of the evaluation split, for translation; empty for the prepared target side
    reference: Below = ""
    average: Count = 0  # last checkpoints to average for translation; 0 for the best one
    note: Line = ""  # shown beside all results, for instance that a corpus is invented
    trial: Annotated[str, one_of(("quick", "smoke"))] = (
        ""  # mark of shortened runs, which test nothing
    )
    # of ``fairseq-train`` for all systems; True is a bare flag, a list is a choice
    options: Annotated[Options, AfterValidator(read_options_of_all)] = field(default_factory=dict)

    @property
    def validation(self) -> str:
        """The split that chooses checkpoints and learning rates: the first of ``valid-subset``."""
        usual = SELECT if self.select_fraction else VALID
        return str(self.options.get("valid-subset") or usual).split(",")[0]

    @property
    def reported(self) -> str:
        """The split whose results are comparable over prepared folders."""
        return self.evaluate if self.select_fraction else self.validation

    def cells(self) -> Iterator[Cell]:
        """Yield all runs, seed by seed, so that an interrupted grid has complete comparisons."""
        lengths, usual = (0,) if self.updates else self.epochs, [*self.learning_rates]
        for seed, fraction, epochs in product(self.seeds, self.fractions, lengths):
            for system, own in self.systems.items():
                for rate, choice in _choices({OWN_RATE: usual, **self.options, **own}):
                    setting = Setting(system, rate, epochs, choice, fraction, self.updates)
                    yield Cell(setting, seed)

    def data_of(self, system: str) -> str:
        """Return the name of a system's own prepared folder; empty for the grid's folder."""
        return str(self.systems[system].get(OWN_DATA) or "")


def variant(system: str, option: str, value: Any) -> str:
    """Return the name of a system with another value of an option."""
    return f"{system}-{option}-{value}"


def _choices(options: Options) -> Iterator[tuple[float, Choice]]:
    """Yield every learning rate with every combination of the other options that are lists."""
    lists = {k: v for k, v in options.items() if isinstance(v, list) and k != OWN_RATE}
    for rate, *values in product(_listed(options[OWN_RATE]), *lists.values()):
        yield float(rate), tuple(zip(lists, values))


class Cell(NamedTuple):
    """One run of a grid."""

    setting: Setting
    seed: int

    @property
    def system(self) -> str:
        return self.setting.system

    @property
    def folder(self) -> Path:
        """Folder inside the grid's folder."""
        own = self.setting
        rate = f"{own.learning_rate:g}".replace("e-0", "e-")
        length = f"updates{own.updates}" if own.updates else f"epochs{own.epochs}"
        share = [] if own.fraction == 1 else [f"fraction{own.fraction:g}"]
        parts = [f"lr{rate}", length, *share, *(f"{key}{v}" for key, v in own.choice)]
        return Path(own.system) / "-".join(parts) / f"seed{self.seed}"

    @property
    def record(self) -> dict[str, Any]:
        """The cell as stored in files; empty values are left out."""
        usual = {"choice": {}, "fraction": 1.0, "updates": 0}
        own = {**self.setting._asdict(), "seed": self.seed, "choice": dict(self.setting.choice)}
        return {key: value for key, value in own.items() if usual.get(key) != value}


KEYS = get_type_hints(Grid, include_extras=True)


def read_grid(path: str | Path) -> Grid:
    return grid_of(read_yaml(path), str(path))


def grid_of(content: Mapping[Any, Any], place: str) -> Grid:
    """Return the grid of YAML keys and values; ``place`` stands in error messages."""
    return checked(read_as(Grid, filled(content), place), place)


def changed(grid: Grid, given: Mapping[str, Any], place: str) -> Grid:
    """Return a grid with new values for some keys, as in YAML; see `grid_of`.

    Options are merged into the grid's options; an empty value removes an option. Epochs replace
    updates.
    """
    own = {key: read_as(KEYS[key], value, f"{place}: {key}") for key, value in given.items()}
    own |= {"options": {**grid.options, **own["options"]}} if "options" in own else {}
    own |= {"updates": 0} if "epochs" in own and "updates" not in own else {}
    return checked(replace(grid, **own), place)


def checked(grid: Grid, place: str) -> Grid:
    """Return a grid after checking that its keys fit together."""
    if grid.dataset == TRANSLATION and not grid.updates:
        raise InputError(f"{place}: translation wants a number of updates (key 'updates')")
    try:
        check_prepare(grid.prepare, grid.dataset)
    except InputError as error:
        raise InputError(f"{place}: prepare: {error}") from None
    if grid.select_fraction and grid.options.get("valid-subset"):
        raise InputError(f"{place}: select_fraction and option 'valid-subset': choose one of them")
    if grid.select_fraction and not grid.evaluate:
        grid = replace(grid, evaluate=VALID)
    if next(islice(grid.cells(), MOST_RUNS, None), None):
        raise InputError(f"{place}: more than {MOST_RUNS:,} runs, which is the most of a file")
    return grid
