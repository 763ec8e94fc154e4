"""Layouts of tables, with the figures that the papers print: one YAML file a table.

To add a table, write a file into the folder ``layouts``: its name is that of the table, its entries
are the fields of `TableLayout` and `Column`, or, with ``rows``, of `PartLayout`. Nothing else has
to know of it.
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
from ..plan.yaml_file import read_as, read_yaml
from .squad_answers import TUNED

FOLDER = Path(__file__).parent / "layouts"
PLAIN = "bert_plain"
SETTINGS = "settings"  # table that is no layout
UP, DOWN = "↑", "↓"
SIGNIFICANT = 0.05  # largest p-value behind an arrow
SHARE = "share"
_LAST = 100  # place of a table that says none
_METRICS = {*LOWER_IS_BETTER, *(name for names in NAMES.values() for name in names)}
_Size = Literal["tiny", "minilm", "base", "large"]
_Figures = tuple[float | None, ...]
_Made = TypeVar("_Made", bound=BaseModel)
Place = tuple[str, str, str]  # dataset, the only split that is shown or "", metric


class Entries(BaseModel):
    """What a file says: known entries only, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(Entries):
    """A dataset in a table.

    Args:
        dataset: its name in the prepared folder.
        title: its name in the table.
        metrics: title -> name; the last is the one that averages take.
        tested: whether the test set is shown where all runs were tried on it; else validation.
        split: the only split that is shown, for a second column of the dataset; may be empty.
    """

    dataset: str
    title: str
    metrics: dict[str, str]
    tested: bool = False
    split: str = ""

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: dict[str, str]) -> dict[str, str]:
        for name in metrics.values():
            if name.removeprefix(TUNED) not in _METRICS:
                choices = named(sorted(_METRICS), most=len(_METRICS))
                raise InputError(f"no metric {name!r}; choices: {choices}")
        return metrics

    @property
    def places(self) -> list[Place]:
        """Where its figures stand among those of a row."""
        return [(self.dataset, self.split, metric) for metric in self.metrics.values()]


class TableLayout(Entries):
    """A table of a paper, or one made like it: systems by datasets.

    Args:
        title: what it is.
        columns: all of them.
        order: its place among the tables.
        source: where the printed figures are from.
        average: whether there is a column of averages (when all columns are there).
        systems: kind of architecture, or of a system's name -> what it is called in all tables, in
            the order of their rows: those that no table before has. Of a label with a plus the
            parameters beyond the baseline's are shown.
        paper: size -> kind -> the printed figures, one for each metric of the columns in turn; null
            for none, and those that are missing at the end are not printed.
        cited: systems that nobody can train here -> their printed figures, in the same form. They
            stand below the others.
        sizeless: kinds that come in one size, which belongs to none of BERT's.
        own: kinds that no table of another paper shows. With a run of one of them, or else of one
            of `systems`, the table is made unasked.
        only: the kinds that it shows; empty for all but other tables' own.
        baseline: kind that the others are compared with.
        notes: what else a reader has to know.
    """

    title: str
    columns: tuple[Column, ...]
    order: int = _LAST
    source: str = ""
    average: bool = False
    systems: dict[str, str] = {}
    paper: dict[_Size, dict[str, _Figures]] = {}
    cited: dict[str, _Figures] = {}
    sizeless: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    baseline: str = PLAIN
    notes: tuple[str, ...] = ()

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
        """The datasets of all columns."""
        return {column.dataset for column in self.columns}

    def figures(self, size: str, kind: str) -> dict[Place, float]:
        """Return what the paper prints of a kind, or of a cited system; nan for none.

        Of a size that it does not have, the figures of the base size.
        """
        paper: dict[str, dict[str, _Figures]] = {**self.paper}
        row = self.cited.get(kind) or paper.get(size, paper.get("base", {})).get(kind, ())
        places = [place for column in self.columns for place in column.places]
        padded = [*row, *[None] * (len(places) - len(row))]
        return {p: math.nan if one is None else one for p, one in zip(places, padded)}


class PartLayout(Entries):
    """A table of one dataset: at each row and column the best setting, with what it gains.

    Args:
        title: what its rows differ in.
        rows: the share of the training data, with a column a system; or features of translation.
        order: its place among the tables.
        source, data: of the printed figures, and how folders of runs on the same data begin.
        split, metric: of the printed figures.
        paper: row -> column -> figure.
    """

    title: str
    rows: Literal["share", "features"]
    order: int = _LAST
    source: str = ""
    data: str = ""
    split: str = ""
    metric: str = ""
    paper: dict[float, dict[str, float]] = {}


def _read(form: type[_Made]) -> dict[str, _Made]:
    """Read all layouts of a form, in their order."""
    files = {path: read_yaml(path) for path in FOLDER.glob("*.yaml")}
    own = [path for path, entries in files.items() if ("rows" in entries) == (form is PartLayout)]
    own.sort(key=lambda path: (files[path].get("order", _LAST), path.stem))
    return {path.stem: read_as(form, files[path], str(path)) for path in own}


@cache
def part_layouts() -> dict[str, PartLayout]:
    """Return the layouts of all tables of one dataset, by their names."""
    return _read(PartLayout)


@cache
def layouts() -> dict[str, TableLayout]:
    """Return the layouts of all tables over datasets, by their names."""
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
    """Return what kinds are called in tables, in the order of their rows."""
    return {k: label for one in layouts().values() for k, label in one.systems.items()}


@cache
def sizeless() -> frozenset[str]:
    """Return the kinds that come in one size."""
    return frozenset(kind for one in layouts().values() for kind in one.sizeless)


def table_names() -> list[str]:
    """Return the names of all tables, in their order."""
    return [*layouts(), *part_layouts(), SETTINGS]


def check_names(names: Sequence[str]) -> None:
    """Refuse names that no table has."""
    for name in names:
        if name not in table_names():
            raise InputError(f"table {name!r}: choices are {', '.join(table_names())}")


def special(name: str, form: type[_Made]) -> _Made:
    """Read the layout of a table that is neither of the above."""
    path = FOLDER / "special" / f"{name}.yaml"
    return read_as(form, read_yaml(path), str(path))
