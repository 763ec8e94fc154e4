"""Runs of several datasets -> the tables of `layouts`, filled in: systems down, datasets across.

Every system stands with its best setting on the validation set (`seeds.chosen_settings`); what is
shown may be another split. A score is marked where it is better than BERT's of the same size, or
worse than that of the table's own baseline, with p < 0.05.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ...evaluation.metrics import deviation
from ...messages import named
from ..plan.grid import SIZES, variant
from ..plan.prepare import TRANSLATION
from .choice import chosen_at
from .compare import Difference
from .frame import Shown
from .layouts import PLAIN, Column, TableLayout, labels, layouts, sizeless
from .tables import mark_of

# Two systems' runs and what is shown of them -> a test of their difference.
Test = Callable[[pd.DataFrame, pd.DataFrame, Shown], Difference]
CSV = (  # columns of the scores that a file shows
    "table size system dataset split metric n mean deviation p untested marked paper parameters "
    "added learning_rate epochs updates fraction choice folder"
).split()


class Row(NamedTuple):
    """A system of a table.

    Args:
        size: of its architecture; empty for kinds that come in one size.
        kind: of its architecture, such as ``bert_sla``, with what was taken out of it.
        name: the system's, if it is called otherwise; else empty.
    """

    size: str
    kind: str
    name: str = ""

    @property
    def label(self) -> str:
        """What stands in the table."""
        return self.name or labels().get(self.kind, self.kind)

    @property
    def sized_label(self) -> str:
        """The same, with the size."""
        return f"{self.label} ({self.size})" if self.size else self.label

    @property
    def order(self) -> tuple:
        """Small models first, kinds as in the layouts."""
        kinds = [*labels()]
        place = kinds.index(self.kind) if self.kind in kinds else len(kinds)
        return SIZES.index(self.size) if self.size in SIZES else -1, place, self.name


class DatasetBlock(NamedTuple):
    """A dataset of a table.

    Args:
        column: what is shown.
        split: the split it is shown on.
        is_tested: whether that is the one of the evaluation, which chose nothing.
        roots: folders of the runs.
    """

    column: Column
    split: str
    is_tested: bool
    roots: list[Path]


@dataclass(frozen=True)
class Filled:
    """A layout, filled in.

    Args:
        layout: with all its columns.
        blocks: the columns that are there.
        scores: a line for every score, in order: the columns of `CSV`, `row`, `block` (its place),
            `setting`, `of_seeds` (the values).
    """

    layout: TableLayout
    blocks: list[DatasetBlock]
    scores: pd.DataFrame

    @property
    def rows(self) -> list[Row]:
        """The systems, in order."""
        return sorted(set(self.scores.row), key=lambda row: row.order)

    @property
    def is_whole(self) -> bool:
        """Whether averages can be shown: the layout has them, and no dataset is missing."""
        return self.layout.average and len(self.blocks) == len(self.layout.columns)

    def entry(self, row: Row | None, place: int) -> list[Any]:
        """Return the scores of a system on a dataset; of no row those of all systems."""
        found = self.scores[self.scores.block == place]
        found = found if row is None else found.loc[[one == row for one in found.row]]
        return list(found.itertuples())

    def entries(self, row: Row) -> list[list[Any]]:
        """Return the same of all datasets; empty where the system was not run."""
        return [self.entry(row, place) for place in range(len(self.blocks))]

    @property
    def cited(self) -> dict[str, list[dict[str, float]]]:
        """Cited systems -> their figures of each dataset, those with a figure in these datasets."""
        columns = [block.column for block in self.blocks]
        found = {
            name: [
                {m: self.layout.cited_figures(name, one)[m] for m in one.metrics.values()}
                for one in columns
            ]
            for name in self.layout.cited
        }
        return {
            name: entries
            for name, entries in found.items()
            if not all(math.isnan(figure) for one in entries for figure in one.values())
        }

    def average(self, row: Row) -> float | None:
        """Return a system's mean over all datasets in %; None unless every one is there."""
        entries = self.entries(row)
        is_whole = self.is_whole and all(entries)
        return 100 * statistics.fmean(entry[-1].mean for entry in entries) if is_whole else None

    def paper_average(self, row: Row) -> float:
        """Return the paper's; nan where it has none."""
        return self.layout.paper_average(row.size, "" if row.name else row.kind)


def make_tables(
    found: Sequence[pd.DataFrame], layout: str, test: Test, *, paper: bool = True
) -> list[Filled]:
    """Fill the layout in, or, where none is named, all that fit the runs.

    Args:
        found: the runs.
        layout: a key of `layouts`, or empty.
        test: of significance.
        paper: whether the paper's figures stand beside ours.

    Raises:
        ValueError: an unknown layout, no run that stands in it, or runs that do not go together.
    """
    if layout and layout not in layouts():
        raise ValueError(f"--layout {layout!r}: choices are {', '.join(layouts())}")
    chosen = [layouts()[layout]] if layout else _fitting(found)
    if not paper:
        chosen = [one.model_copy(update={"paper": {}, "cited": {}}) for one in chosen]
    tables = [table for one in chosen if (table := _fill(one, found, test)).blocks]
    if not tables:
        there = named(sorted({one.dataset.iloc[0] for one in found}))
        raise ValueError(
            f"--layout {layout!r}: none of these runs stands in it; they are on {there}"
        )
    return tables


def row_of(run: Any) -> Row:
    """Return the row that a run belongs to: of its architecture, or the one it is called after."""
    size, kind = _parts(run.arch)
    called = _parts(run.system)
    if called[1] in labels() and _is_called_after(called[1], kind, run.ablated):
        return Row(*called)
    own = [run.arch]
    if run.ablated:
        own.append(variant(run.arch, "ablate", run.ablated))
        kind = variant(kind, "ablate", run.ablated)
        if kind not in labels():
            return Row(size, kind, own[-1] if run.system in own else run.system)
    return Row(size, kind, "" if run.system in own else run.system)


def _is_called_after(name: str, kind: str, ablated: str) -> bool:
    """Tell whether a system of a kind may stand for the kind that its name says."""
    if ablated:
        return name == variant(kind, "ablate", ablated)
    return kind == PLAIN or not any(
        name in one.systems for one in layouts().values() if one.plain_only
    )


def _parts(arch: str) -> tuple[str, str]:
    """Return size and kind of an architecture."""
    if arch in sizeless():
        return "", arch
    kind, _, size = arch.rpartition("_")
    if arch in labels() and not (kind in labels() and size in SIZES):  # BERT's own size
        return "base", arch
    return size, kind


def _fitting(found: Sequence[pd.DataFrame]) -> list[TableLayout]:
    """Return the layouts with a system of their own on one of their datasets.

    A dataset that none of them has is in the first layout that knows it, or in the last of all;
    there with its own metric if no layout has it. A layout of certain systems only has a dataset
    where one of them is.
    """
    *papers, others = layouts().values()
    found = [one for one in found if one.dataset.iloc[0] != TRANSLATION]  # whose tables are others
    kinds = {(run.dataset, row_of(run).kind) for one in found for run in one.itertuples()}
    there = {dataset for dataset, _ in kinds}
    chosen = [
        one
        for one in papers
        if any(d in one.datasets and k in (*one.own, *one.asked_by) for d, k in kinds)
    ]
    for dataset in there.difference(others.datasets, *(one.datasets for one in chosen)):
        first = [one for one in papers if dataset in one.datasets and not one.only][:1]
        chosen += [one for one in first if one not in chosen]
    open_to_all = [one for one in layouts().values() if one in chosen or not one.only]
    known = {dataset for one in open_to_all for dataset in one.datasets}
    about = [one.iloc[0] for one in found]
    metrics = {one.dataset: one.metric for one in about if one.dataset not in known}
    own = (
        Column.model_construct(dataset=name, title=name, metrics={metric: metric})
        for name, metric in sorted(metrics.items())
    )
    others = others.model_copy(update={"columns": (*others.columns, *own)})
    return [*(one for one in papers if one in chosen), others]


def _shows(layout: TableLayout, row: Row) -> bool:
    """Tell whether a system stands in a table."""
    if layout.only:
        return row.kind in layout.only
    owners = [one for one in layouts().values() if row.kind in one.own]
    return not owners or not layout.own or layout.own in [one.own for one in owners]


def _fill(layout: TableLayout, found: Sequence[pd.DataFrame], test: Test) -> Filled:
    """Choose the settings of every dataset's systems, and compare them."""
    blocks: list[DatasetBlock] = []
    lines: list[dict[str, Any]] = []
    for column in layout.columns:
        parts = [one for one in found if one.dataset.iloc[0] == column.dataset]
        summaries = {row: s for row, s in _chosen(parts).items() if _shows(layout, row)}
        block = _block(column, parts, [*summaries.values()])
        if summaries and column.split in ("", block.split):
            scores = _scores(layout, block, summaries, test)
            ordered = sorted(scores, key=lambda score: score["row"].order)
            lines += ({**score, "block": len(blocks)} for score in ordered)
            blocks.append(block)
    columns = [*CSV, "row", "block", "setting", "of_seeds"]
    return Filled(layout, blocks, pd.DataFrame(lines, columns=columns, dtype=object))


def _block(
    column: Column, parts: Sequence[pd.DataFrame], runs: Sequence[pd.DataFrame]
) -> DatasetBlock:
    """Choose the split that is shown, and the metrics that all runs have there."""
    splits = {split for one in runs for split in one.evaluated}
    wanted = {column.split} if column.split else splits - {""}
    tested = (column.tested or bool(column.split)) and len(splits) == 1 and splits == wanted
    split = splits.pop() if tested else next((part.validation.iloc[0] for part in parts), "")
    shown = {name: Shown(name, split) for name in column.optional}
    lacking = {name for name, one in shown.items() if any(None in one.found(own) for own in runs)}
    metrics = {title: name for title, name in column.metrics.items() if name not in lacking}
    column = column.model_copy(update={"metrics": metrics})
    return DatasetBlock(column, split, tested, [part.root.iloc[0] for part in parts])


def _chosen(parts: Sequence[pd.DataFrame]) -> dict[Row, pd.DataFrame]:
    """Return the systems of a dataset, each with its best setting on all of the training data."""
    summaries: dict[Row, pd.DataFrame] = {}
    firsts: dict[str, Any] = {}
    for part in parts:
        whole = part[part.fraction == 1]
        for runs in chosen_at(whole, whole.system).values():
            one = runs.iloc[0]
            row = row_of(one)
            if row in summaries:
                raise ValueError(
                    f"{summaries[row].root.iloc[0]} and {one.root} both hold runs of {row.label} "
                    f"({row.size}) on {one.dataset}: name one of them"
                )
            summaries[row], other = runs, firsts.setdefault(row.size, one)
            for key in ("data", "metric", "validation"):
                if other[key] != one[key]:
                    raise ValueError(
                        f"{other.root} and {one.root} differ in their {key}: they cannot be "
                        "compared"
                    )
    return summaries


def _scores(
    layout: TableLayout, block: DatasetBlock, summaries: dict[Row, pd.DataFrame], test: Test
) -> Iterator[dict[str, Any]]:
    """Yield the scores of a dataset, each compared with the baseline's of the same size."""
    for row, summary in summaries.items():
        others = (summaries.get(Row(row.size, kind)) for kind in (layout.baseline, layout.smallest))
        first, plain = (None if other is summary else other for other in others)
        figures = layout.figures(row.size, "" if row.name else row.kind, block.column)
        counts: list[Any] = [
            None if one is None else one.parameters.iloc[0] for one in (summary, plain)
        ]
        for metric in block.column.metrics.values():
            shown = Shown(metric, block.split)
            tested = Difference() if first is None else test(first, summary, shown)
            yield {
                **score_line(layout.title, row.label, summary, shown, tested),
                "size": row.size,
                "dataset": block.column.dataset,
                "marked": int(mark_of(tested, shown) == layout.arrow),
                "paper": figures.get(metric, math.nan),
                "added": counts[0] - counts[1] if all(counts) else math.nan,
                "row": row,
                "setting": summary.setting.iloc[0],
                "of_seeds": shown.values(summary),
            }


def score_line(
    title: str, system: str, runs: pd.DataFrame, shown: Shown, tested: Difference
) -> dict[str, Any]:
    """Return what the CSV file says of a score, but for the paper's figure and its like."""
    run, values = runs.iloc[0], shown.values(runs)
    setting = run.setting
    return {
        "table": title,
        "system": system,
        "split": shown.split,
        "metric": shown.metric,
        "n": len(values),
        "mean": statistics.fmean(values),
        "deviation": deviation(values),
        "p": tested.p_value,
        "untested": tested.untested,
        "parameters": run.parameters or math.nan,
        "learning_rate": setting.learning_rate,
        "epochs": setting.epochs or math.nan,
        "updates": setting.updates or math.nan,
        "fraction": setting.fraction,
        "choice": setting.choices,
        "folder": run.folder.parent,
    }
