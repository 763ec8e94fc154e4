"""Layouts of tables, with the printed figures of papers: one YAML file per table.

A new table is a new file in the folder ``layouts``. The file name is the table's name; its keys are
the fields of `TableLayout` and `Column`, or, with ``rows``, of `PartLayout`. No other code knows a
table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from ...errors import InputError
from ...evaluation.metrics import LOWER_IS_BETTER, NAMES
from ...messages import named
from ...targets.by_label import SCORES
from ..plan.yaml_file import read_as, read_yaml
from .squad_answers import TUNED

FOLDER = Path(__file__).parent / "layouts"
PLAIN = "bert_plain"
SETTINGS = "settings"  # a table without layout
UP, DOWN = "↑", "↓"
SIGNIFICANT = 0.05  # largest p-value of an arrow
SHARE = "share"
_LAST = 100  # default order
_METRICS = {*LOWER_IS_BETTER, *(name for names in NAMES.values() for name in names)}
_Size = Literal["tiny", "minilm", "base", "large"]
_Figures = tuple[float | None, ...]
_Made = TypeVar("_Made", bound=BaseModel)
Place = tuple[str, str, str]  # dataset, fixed split or "", metric


class Entries(BaseModel):
    """Content of a file: closed keys, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(Entries):
    """A dataset in a table."""

    dataset: str  # its name in the prepared folder
    title: str  # its name in the table
    metrics: dict[str, str]  # title -> name; averages use the last
    # whether to show the test set if all runs were evaluated on it; else validation
    tested: bool = False
    split: str = ""  # fixed split, for a second column of the dataset; may be empty

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: dict[str, str]) -> dict[str, str]:
        for name in metrics.values():
            kind, _, label = name.partition("_")
            if name.removeprefix(TUNED) not in _METRICS and not (label and kind in SCORES):
                choices = named(sorted(_METRICS), most=len(_METRICS))
                raise InputError(f"no metric {name!r}; choices: {choices}")
        return metrics

    @property
    def places(self) -> list[Place]:
        """Places of the column's figures in a row."""
        return [(self.dataset, self.split, metric) for metric in self.metrics.values()]


class TableLayout(Entries):
    """A table of a paper, or a similar table: systems by datasets."""

    title: str  # of the table
    columns: tuple[Column, ...]  # all datasets
    order: int = _LAST  # position among the tables
    source: str = ""  # of the printed figures
    average: bool = False  # whether to show averages (if all columns exist)
    # kind of architecture, or of a system's name -> label in all tables, in row order; only kinds
    # that no earlier table has. A label with a plus shows the parameters beyond the baseline's
    systems: dict[str, str] = {}
    # size -> kind -> printed figures, one per metric of the columns; null for none, and the end may
    # be missing
    paper: dict[_Size, dict[str, _Figures]] = {}
    # systems that cannot be trained here -> printed figures in the same form, shown below the other
    # rows
    cited: dict[str, _Figures] = {}
    sizeless: tuple[str, ...] = ()  # kinds with a single size that is none of BERT's
    # kinds that no table of another paper shows. A run of one of these, or else of `systems`, makes
    # the table by default
    own: tuple[str, ...] = ()
    only: tuple[str, ...] = ()  # the shown kinds; empty for all except other tables' own
    baseline: str = PLAIN  # kind to compare with
    notes: tuple[str, ...] = ()  # further information for readers

    @model_validator(mode="after")
    def _figures_fit(self) -> TableLayout:
        rows = {
            f"paper: {size}: {k}": r for size, own in self.paper.items() for k, r in own.items()
        }
        rows |= {f"cited: {name}": row for name, row in self.cited.items()}
        room = sum(len(column.metrics) for column in self.columns)
        for place, row in rows.items():
            if len(row) > room:
                raise InputError(f"{place}: {len(row)} figures for {room} metrics")
        return self

    @property
    def datasets(self) -> set[str]:
        return {column.dataset for column in self.columns}

    def figures(self, size: str, kind: str) -> dict[Place, float]:
        """Return the printed figures of a kind, or of a cited system; nan for none.

        For a missing size, the figures of the base size.
        """
        paper: dict[str, dict[str, _Figures]] = {**self.paper}
        row = self.cited.get(kind) or paper.get(size, paper.get("base", {})).get(kind, ())
        places = [place for column in self.columns for place in column.places]
        padded = [*row, *[None] * (len(places) - len(row))]
        return {p: math.nan if one is None else one for p, one in zip(places, padded)}


class PartLayout(Entries):
    """A table of one dataset: the best setting for each row and column, with its gain."""

    title: str  # what distinguishes the rows
    # the share of the training data, with a column per system; or features of translation
    rows: Literal["share", "features"]
    order: int = _LAST  # position among the tables
    # source, data: of the printed figures, and the prefix of folders with runs on the same data
    source: str = ""
    data: str = ""
    # split, metric: of the printed figures
    split: str = ""
    metric: str = ""
    paper: dict[float, dict[str, float]] = {}  # row -> column -> figure


def _read(form: type[_Made]) -> dict[str, _Made]:
    files = {path: read_yaml(path) for path in FOLDER.glob("*.yaml")}
    own = [path for path, entries in files.items() if ("rows" in entries) == (form is PartLayout)]
    own.sort(key=lambda path: (files[path].get("order", _LAST), path.stem))
    return {path.stem: read_as(form, files[path], str(path)) for path in own}


@cache
def part_layouts() -> dict[str, PartLayout]:
    """Return the layouts of all tables of one dataset, by name."""
    return _read(PartLayout)


@cache
def layouts() -> dict[str, TableLayout]:
    """Return the layouts of all tables over datasets, by name."""
    found = _read(TableLayout)
    known = [kind for one in found.values() for kind in one.systems]
    for name, one in found.items():
        printed = [kind for rows in one.paper.values() for kind in rows]
        for kind in (*one.own, *one.only, *one.sizeless, one.baseline, *printed):
            if kind not in known:
                path = FOLDER / f"{name}.yaml"
                raise InputError(f"{path}: no system {kind!r}; choices: {named(known, len(known))}")
    return found


@cache
def labels() -> dict[str, str]:
    """Return kind -> label in tables, in row order."""
    return {k: label for one in layouts().values() for k, label in one.systems.items()}


@cache
def sizeless() -> frozenset[str]:
    """Return the kinds with a single size."""
    return frozenset(kind for one in layouts().values() for kind in one.sizeless)


def table_names() -> list[str]:
    return [*layouts(), *part_layouts(), SETTINGS]


def check_names(names: Sequence[str]) -> None:
    for name in names:
        if name not in table_names():
            raise InputError(f"table {name!r}: choices are {', '.join(table_names())}")


def special(name: str, form: type[_Made]) -> _Made:
    """Read the layout of a special table."""
    path = FOLDER / "special" / f"{name}.yaml"
    return read_as(form, read_yaml(path), str(path))
