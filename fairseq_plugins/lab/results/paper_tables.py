"""Fill the tables of `layouts` with runs of several datasets: systems down, datasets across.

Every system has its best setting on the validation set (`choice.chosen_at`), possibly shown on
another split, and is compared with the table's baseline of the same size.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd

from ...errors import InputError
from ...messages import named
from ..plan.grid import SIZES, variant
from ..plan.prepare import TRANSLATION
from .choice import chosen_at
from .compare import Significance
from .frame import Shown, compared
from .layouts import Column, Place, TableLayout, labels, layouts, sizeless
from .scores import Score, compared_with, how_to_read, laid_out
from .tables import NONE, ResultTable, TableCell, headings, millions, paper_text


class Row(NamedTuple):
    """A system of a table."""

    size: str  # of its architecture; empty for kinds with a single size
    kind: str  # of its architecture, such as ``bert_sla``, with its ablation
    name: str = ""  # the system's, if different; else empty

    @property
    def label(self) -> str:
        return self.name or labels().get(self.kind, self.kind)

    @property
    def order(self) -> tuple:
        """Sort key: small models first, kinds as in the layouts."""
        kinds = [*labels(), self.kind]
        size = SIZES.index(self.size) if self.size in SIZES else -1
        return size, kinds.index(self.kind), self.name


def row_of(run: Any) -> Row:
    """Return the row of a run: of its architecture, or of the kind in its name."""
    size, kind = _parts(run.arch)
    ablated = variant(kind, "ablate", run.ablated) if run.ablated else ""
    called = _parts(run.system)
    if called[1] in labels() and ablated in ("", called[1]):
        return Row(*called)
    own = [run.arch, *[variant(run.arch, "ablate", run.ablated)] * bool(ablated)]
    if ablated and ablated not in labels():
        return Row(size, ablated, own[-1] if run.system in own else run.system)
    return Row(size, ablated or kind, "" if run.system in own else run.system)


def _parts(arch: str) -> tuple[str, str]:
    if arch in sizeless():
        return "", arch
    kind, _, size = arch.rpartition("_")
    if arch in labels() and not (kind in labels() and size in SIZES):  # BERT's own size
        return "base", arch
    return size, kind


def paper_tables(
    found: Sequence[pd.DataFrame], name: str, test: Significance, *, paper: bool = True
) -> list[ResultTable]:
    """Fill a layout by name; with an empty name, all layouts that fit the runs."""
    tables = []
    for layout in [layouts()[name]] if name else _fitting(found):
        shown = layout if paper else layout.model_copy(update={"paper": {}, "cited": {}})
        if blocks := list(_blocks(shown, found)):
            tables.append(_table(shown, blocks, test))
    if not tables:
        there = named(sorted({one.dataset.iloc[0] for one in found}))
        raise InputError(f"table {name!r}: none of these runs stands in it; they are on {there}")
    return tables


def _fitting(found: Sequence[pd.DataFrame]) -> list[TableLayout]:
    """Return the layouts with a system of their own on one of their datasets, and the general one.

    The general layout, the last, also gets datasets that no layout has.
    """
    *papers, others = layouts().values()
    runs = [run for one in found for run in one.itertuples() if run.dataset != TRANSLATION]
    kinds = {(run.dataset, row_of(run).kind) for run in runs}
    chosen = [
        one
        for one in papers
        if any(d in one.datasets and k in (one.own or one.systems) for d, k in kinds)
    ]
    known = {dataset for one in (*chosen, others) for dataset in one.datasets}
    metrics = {run.dataset: run.metric for run in runs if run.dataset not in known}
    own = (
        Column.model_construct(dataset=name, title=name, metrics={metric: metric})
        for name, metric in sorted(metrics.items())
    )
    return [*chosen, others.model_copy(update={"columns": (*others.columns, *own)})]


@dataclass(frozen=True)
class _Block:
    """A dataset of a table: its metrics and split, and the chosen runs of each system."""

    column: Column  # with the metrics that every run has
    lacking: list[str]  # names of the other metrics
    split: str
    is_tested: bool
    parts: list[pd.DataFrame]
    chosen: dict[Row, pd.DataFrame]

    def origin(self) -> str:
        """Describe the source and the choice of settings."""
        lacks = self.column.tested and not self.is_tested
        why = ", since not every run was tried on the test set" if lacks else ""
        why += f"; not every run has {named(self.lacking)}" if self.lacking else ""
        roots = ", ".join(str(one.root.iloc[0]) for one in self.parts)
        settings = ((row.label, one.setting.iloc[0].values) for row, one in self.chosen.items())
        chosen = "; ".join(map(" ".join, settings))
        return f"{self.column.title} ({roots}; split {self.split!r}{why}): {chosen}"


def _blocks(layout: TableLayout, found: Sequence[pd.DataFrame]) -> Iterator[_Block]:
    """Yield the available datasets of a layout; metrics that a run lacks are left out."""
    for column in layout.columns:
        parts = [one for one in found if one.dataset.iloc[0] == column.dataset]
        chosen = [(row, one) for row, one in _chosen(parts).items() if _shows(layout, row)]
        splits = {split for _, one in chosen for split in one.evaluated}
        wanted = {column.split} if column.split else splits - {""}
        tested = (column.tested or bool(column.split)) and len(splits) == 1 and splits == wanted
        split = splits.pop() if tested else "".join(one.validation.iloc[0] for one in parts[:1])
        metrics = {
            title: name
            for title, name in column.metrics.items()
            if not any(None in Shown(name, split).found(one) for _, one in chosen)
        }
        if chosen and column.split in ("", split):
            if not metrics:  # name the first run without a metric
                for name in column.metrics.values():
                    Shown(name, split).values(pd.concat([one for _, one in chosen]))
            lacking = [name for name in column.metrics.values() if name not in metrics.values()]
            column = column.model_copy(update={"metrics": metrics})
            chosen = dict(sorted(chosen, key=lambda item: item[0].order))
            yield _Block(column, lacking, split, tested, parts, chosen)


def _shows(layout: TableLayout, row: Row) -> bool:
    if layout.only:
        return row.kind in layout.only
    owners = [one.own for one in layouts().values() if row.kind in one.own]
    return not owners or not layout.own or layout.own in owners


def _chosen(parts: Sequence[pd.DataFrame]) -> dict[Row, pd.DataFrame]:
    """Return the systems of a dataset, each with its best setting on all of the training data."""
    chosen: dict[Row, pd.DataFrame] = {}
    for whole in (part[part.fraction == 1] for part in parts):
        for runs in chosen_at(whole, whole.system).values():
            one = runs.iloc[0]
            row = row_of(one)
            if row in chosen:
                raise InputError(
                    f"{chosen[row].root.iloc[0]} and {one.root} both hold runs of {row.label} "
                    f"({row.size}) on {one.dataset}: name one of them"
                )
            chosen[row] = runs
    for size in {row.size for row in chosen}:
        compared(pd.concat([runs for row, runs in chosen.items() if row.size == size]))
    return chosen


def _scores(layout: TableLayout, block: _Block, test: Significance) -> Iterator[Score]:
    for row, one in block.chosen.items():
        base, figures = block.chosen.get(Row(row.size, layout.baseline)), _figures(layout, row)
        for place in block.column.places:
            shown = Shown(place[2], block.split)
            own = compared_with(base, one, shown, test) | {"paper": figures[place]}
            yield Score(row, place, shown, one, **own)
    for row in _cited(layout):
        for place, figure in _figures(layout, row).items():
            if place in block.column.places and not math.isnan(figure):
                yield Score(row, place, Shown(place[2], ""), paper=figure)


def _cited(layout: TableLayout) -> list[Row]:
    return [Row("", name) for name in layout.cited]


def _figures(layout: TableLayout, row: Row) -> dict[Place, float]:
    """Return the paper's figures of a system; none for a system with its own name."""
    return layout.figures(row.size, "" if row.name else row.kind)


def _table(layout: TableLayout, blocks: Sequence[_Block], test: Significance) -> ResultTable:
    scores = [score for block in blocks for score in _scores(layout, block, test)]
    ours = sorted({row for block in blocks for row in block.chosen}, key=lambda row: row.order)
    several = len({row.size for row in ours}) > 1
    rows: dict[Row, list[TableCell]] = {}
    for row in (*ours, *_cited(layout)):
        if own := [one for one in scores if one.row == row]:
            size = "cited" if own[0].runs.empty else row.size * several
            average = _average(layout, own, _figures(layout, row))
            rows[row] = [TableCell(row.label, size), _parameters(own), average]
    heads, places = headings("system", "parameters", "average"), []
    if not layout.average or len(blocks) < len(layout.columns):
        heads, rows = heads[:2], {row: cells[:2] for row, cells in rows.items()}
    for block in blocks:
        heads += [TableCell(block.column.title, title) for title in block.column.metrics]
        places += block.column.places
    source = f"{layout.source}, of the same size, or else of the base size"
    first = f"{labels()[layout.baseline]} of the same size"
    return ResultTable(
        layout.title,
        heads,
        laid_out(rows, places, scores, bold=True),
        f"{how_to_read(first, test, scores, source)} Bold: best of the column.",
        (*layout.notes, *(block.origin() for block in blocks)),
    )


def _average(layout: TableLayout, own: Sequence[Score], figures: dict[Place, float]) -> TableCell:
    """Return a system's mean over all datasets in %; empty unless every one is there."""
    last = [column.places[-1] for column in layout.columns]
    below = paper_text(round(fmean(figures[place] for place in last), 1))
    means = [fmean(one.values) for one in own if one.values and one.column in last]
    mean = 100 * fmean(means) if len(means) == len(last) else math.nan
    return TableCell(NONE if math.isnan(mean) else f"{mean:.2f}", below, mean)


def _parameters(own: Sequence[Score]) -> TableCell:
    """Return the number of parameters, and the difference from the baseline."""
    sides = [(sum(one.runs.parameters[:1]), sum(one.base.parameters[:1])) for one in own]
    added = (f"{(count - plain) / 1e6:+.2g}M" for count, plain in sides if 0 < plain != count)
    return millions(sides[0][0], next(added, ""))
