"""Layouts of the papers' tables, with the figures that the papers print: one YAML file a table.

To add a table, write a file into the folder ``layouts``: its name is that of the table, its entries
are the fields of `TableLayout` and `Column`. Nothing else has to know of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from itertools import zip_longest
from pathlib import Path
from statistics import fmean
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from ...evaluation.metrics import LOWER_IS_BETTER, NAMES
from ...messages import named, quoted
from ..plan.yaml_file import read_yaml
from . import table_names
from .squad_answers import TUNED

PLAIN = "bert_plain"
UP, DOWN = "↑", "↓"
SIGNIFICANT = 0.05  # largest p-value behind an arrow
_METRICS = {*LOWER_IS_BETTER, *(name for names in NAMES.values() for name in names)}
_Size = Literal["tiny", "minilm", "base", "large"]
_Figures = tuple[float | None, ...]
_Made = TypeVar("_Made", bound=BaseModel)


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
        optional: of the metrics, those that are left out where a run lacks them.
    """

    dataset: str
    title: str
    metrics: dict[str, str]
    tested: bool = False
    split: str = ""
    optional: tuple[str, ...] = ()

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: dict[str, str]) -> dict[str, str]:
        for name in metrics.values():
            if name.removeprefix(TUNED) not in _METRICS:
                choices = named(sorted(_METRICS), most=len(_METRICS))
                raise ValueError(f"no metric {name!r}; choices: {choices}")
        return metrics


class TableLayout(Entries):
    """A table of a paper, or one made like it.

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
        own: kinds that no table of another paper shows; with a run of one of them the table is
            made unasked.
        asked_by: further kinds whose runs make it unasked, though other tables show them as well.
        only: the kinds that it shows; empty for all but other tables' own.
        baseline: kind that the others are compared with.
        marks_worse: whether systems worse than the baseline are marked, and not those better.
        plain_only: whether its kinds mean names of systems with a plain architecture only.
        notes: what else a reader has to know.
    """

    title: str
    columns: tuple[Column, ...]
    order: int = table_names.LAST
    source: str = ""
    average: bool = False
    systems: dict[str, str] = {}
    paper: dict[_Size, dict[str, _Figures]] = {}
    cited: dict[str, _Figures] = {}
    sizeless: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    asked_by: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    baseline: str = PLAIN
    marks_worse: bool = False
    plain_only: bool = False
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _figures_fit(self) -> TableLayout:
        room = sum(len(column.metrics) for column in self.columns)
        for place, rows in [
            *(("paper: " + size, r) for size, r in self.paper.items()),
            ("cited", self.cited),
        ]:
            for name, figures in rows.items():
                if len(figures) > room:
                    raise ValueError(f"{place}: {name}: {len(figures)} figures for {room} metrics")
        return self

    @property
    def datasets(self) -> set[str]:
        """The datasets of all columns."""
        return {column.dataset for column in self.columns}

    @property
    def arrow(self) -> str:
        """What marks a system that differs from the baseline by more than chance."""
        return DOWN if self.marks_worse else UP

    @property
    def smallest(self) -> str:
        """The kind beyond whose parameters those of others are shown."""
        return PLAIN if self.marks_worse else self.baseline

    def figures(self, size: str, kind: str, column: Column) -> dict[str, float]:
        """Return metric -> what the paper found with this size, or else with the base size."""
        return self._of_column(self._printed(size, kind), column)

    def cited_figures(self, name: str, column: Column) -> dict[str, float]:
        """Return metric -> what a cited system is printed with."""
        return self._of_column(self.cited[name], column)

    def paper_average(self, size: str, kind: str) -> float:
        """Return the paper's mean over its datasets; nan where it lacks one."""
        return self._average(self._printed(size, kind))

    def cited_average(self, name: str) -> float:
        """Return the mean of a cited system over the datasets; nan where it lacks one."""
        return self._average(self.cited[name])

    def _printed(self, size: str, kind: str) -> _Figures:
        paper: Mapping[str, dict[str, _Figures]] = {**self.paper}
        return paper.get(size, paper.get("base", {})).get(kind, ())

    def _of_column(self, row: _Figures, column: Column) -> dict[str, float]:
        """Return metric -> figure of a dataset, of those of the whole row; nan for none."""
        places = [(one, metric) for one in self.columns for metric in one.metrics.values()]
        return {
            metric: math.nan if figure is None else figure
            for (one, metric), figure in zip_longest(places, row)
            if (one.dataset, one.split) == (column.dataset, column.split)
        }

    def _average(self, row: _Figures) -> float:
        """Return the mean of the last metrics of all columns; nan where one is missing."""
        return fmean([*self._of_column(row, column).values()][-1] for column in self.columns)

    def printed_sizes(self, sizes: set[str]) -> str:
        """Say which size the figures beside models of these sizes are of; empty for their own."""
        own = sorted(sizes & self.paper.keys())
        if len(own) == len(sizes - {""}):
            return ""
        if "base" not in self.paper:  # nothing stands beside the others
            return f"{' and '.join(own)} size"
        larger = [size for size in own if size != "base"]
        return f"base size; beside {', '.join(larger)}, the same size" if larger else "base size"


def read_entries(path: Path, form: type[_Made]) -> _Made:
    """Read a YAML file in some form.

    Raises:
        FileNotFoundError: there is none.
        ValueError: names the file, each wrong entry, its value and what it should be.
    """
    try:
        return form.model_validate(read_yaml(path))
    except ValidationError as error:
        faults = []
        for one in error.errors():
            own = one["type"] == "value_error"  # a check of ours, which names the value
            said = one["ctx"]["error"] if own else f"{one['msg']}, not {quoted(one['input'])}"
            faults.append(": ".join(map(str, (*one["loc"], said))))
        raise ValueError(f"{path}: {named(faults, between='; ', longest=1000)}") from None


def read_layouts(folder: Path) -> dict[str, TableLayout]:
    """Read all layouts of a folder: name -> layout, in their order.

    Raises:
        ValueError: see `read_entries`; or a kind that no table calls anything.
    """
    found = {path.stem: read_entries(path, TableLayout) for path in folder.glob("*.yaml")}
    found = dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))
    known = [kind for one in found.values() for kind in one.systems]
    for name, one in found.items():
        printed = [kind for rows in one.paper.values() for kind in rows]
        for kind in (*one.own, *one.asked_by, *one.only, *one.sizeless, one.baseline, *printed):
            if kind not in known:
                path = folder / f"{name}.yaml"
                raise ValueError(f"{path}: no system {kind!r}; choices: {named(known, len(known))}")
    return found


@cache
def layouts() -> dict[str, TableLayout]:
    """Return the layouts of all tables over datasets, by their names."""
    return read_layouts(table_names.FOLDER)


@cache
def labels() -> dict[str, str]:
    """Return what kinds are called in tables, in the order of their rows."""
    return {k: label for one in layouts().values() for k, label in one.systems.items()}


@cache
def sizeless() -> frozenset[str]:
    """Return the kinds that come in one size."""
    return frozenset(kind for one in layouts().values() for kind in one.sizeless)


def special(name: str, form: type[_Made]) -> _Made:
    """Read the layout of a table that is not of systems by datasets."""
    return read_entries(table_names.FOLDER / "special" / f"{name}.yaml", form)
