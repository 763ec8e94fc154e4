"""Runs of several datasets -> the tables of `paper_tables`, filled in.

Every system stands with its best setting on the validation set (`seeds.chosen_settings`); what is
shown may be another split. A score is marked where it is better than BERT's of the same size, or
worse than that of the table's own baseline, with p < 0.05.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain, repeat

from ....evaluation.metrics import LOWER_IS_BETTER, deviation
from ....messages import named
from ...plan.prepared_data import TRANSLATION
from ..comparisons import Tested, over_examples, welch
from ..outcomes import Outcomes
from ..seeds import Summary, chosen_settings, summarize
from ..squad_answers import TUNED
from .paper_tables import LAYOUTS
from .result_table import SIGNIFICANT, Block, Entry, Row, Score, Table, row_of
from .table_layouts import Column, Layout

VALIDATION, EVALUATION = "best", "evaluation"  # fields of an outcome: whose metrics are shown
# Two systems' runs, metric and what is shown -> a test of their difference.
Test = Callable[[Summary, Summary, str, str], Tested]


def make_tables(found: Sequence[Outcomes], layout: str, test: Test) -> list[Table]:
    """Fill the layout in, or, where none is named, all that fit the runs.

    Args:
        found: the runs.
        layout: a key of `LAYOUTS`, or empty.
        test: of significance.

    Raises:
        ValueError: an unknown layout, no run that stands in it, or runs that do not go together.
    """
    if layout and layout not in LAYOUTS:
        raise ValueError(f"--layout {layout!r}: choices are {', '.join(LAYOUTS)}")
    layouts = [LAYOUTS[layout]] if layout else _fitting(found)
    tables = [_table(one, found, test) for one in layouts]
    tables = [table for table in tables if table.blocks]
    if not tables:
        there = named(sorted({one.dataset for one in found}))
        raise ValueError(
            f"--layout {layout!r}: none of these runs stands in it; they are on {there}"
        )
    return tables


def _fitting(found: Sequence[Outcomes]) -> list[Layout]:
    """Return the layouts with a system of their own on one of their datasets.

    A dataset that none of them has is in the first layout that knows it, or in the last of all.
    """
    *papers, others = LAYOUTS.values()
    found = [one for one in found if one.dataset != TRANSLATION]  # whose tables are others
    kinds = {(one.dataset, row_of(run).kind) for one in found for run in one.runs}
    there = {dataset for dataset, _ in kinds}
    chosen = [
        one
        for one in papers
        if any(d in one.datasets and k in (*one.own, *one.asked_by) for d, k in kinds)
    ]
    for dataset in there.difference(others.datasets, *(one.datasets for one in chosen)):
        first = [one for one in papers if dataset in one.datasets and not one.only][:1]
        chosen += [one for one in first if one not in chosen]
    return [*(one for one in papers if one in chosen), _with_unknown(others, found)]


def _shows(layout: Layout, row: Row) -> bool:
    """Tell whether a system stands in a table."""
    if layout.only:
        return row.kind in layout.only
    owners = [one for one in LAYOUTS.values() if row.kind in one.own]
    return not owners or not layout.own or layout in owners


def _with_unknown(layout: Layout, found: Sequence[Outcomes]) -> Layout:
    """Return the layout with the datasets that no layout has, each with its own metric."""
    known = {dataset for one in LAYOUTS.values() for dataset in one.datasets}
    others = {one.dataset: one.metric for one in found if one.dataset not in known}
    own = (Column(name, name, ((metric, metric),)) for name, metric in sorted(others.items()))
    return replace(layout, columns=(*layout.columns, *own))


def _table(layout: Layout, found: Sequence[Outcomes], test: Test) -> Table:
    blocks = []
    for column in layout.columns:
        parts = [one for one in found if one.dataset == column.dataset]
        block = _block(column, parts, layout, test)
        if block.entries and column.split in ("", block.split):
            blocks.append(block)
    rows = {row for block in blocks for row in block.entries}
    return Table(layout, blocks, sorted(rows, key=lambda row: row.order))


def _block(column: Column, parts: Sequence[Outcomes], layout: Layout, test: Test) -> Block:
    """Choose the settings of one dataset's systems, and compare them."""
    summaries = {row: s for row, s in _chosen(parts).items() if _shows(layout, row)}
    splits = {run.evaluated for summary in summaries.values() for run in summary.outcomes}
    wanted = {column.split} if column.split else splits - {""}
    tested = (column.tested or bool(column.split)) and len(splits) == 1 and splits == wanted
    shown = EVALUATION if tested else VALIDATION
    column = _with_metrics(column, summaries.values(), shown)
    entries = {}
    for row, summary in summaries.items():
        kinds = (layout.baseline, layout.smallest)
        first, plain = (_other(summaries, row, kind) for kind in kinds)
        scores = _scores(column, (first, summary), shown, test, worse=layout.marks_worse)
        figures = layout.figures(row.size, row.kind, column) if not row.name else ()
        scores = [replace(s, paper=f) for s, f in zip(scores, chain(figures, repeat(math.nan)))]
        entries[row] = _entry(summary, plain, scores)
    split = splits.pop() if tested else next((part.validation for part in parts), "")
    return Block(column, split, tested, [part.root for part in parts], entries)


def _with_metrics(column: Column, summaries: Iterable[Summary], shown: str) -> Column:
    """Return the column without optional metrics that a run lacks."""
    runs = [run for summary in summaries for run in summary.outcomes]
    lacking = {name for name in column.optional for run in runs if name not in getattr(run, shown)}
    kept = tuple(pair for pair in column.metrics if pair[1] not in lacking)
    return replace(column, metrics=kept)


def _other(summaries: dict[Row, Summary], row: Row, kind: str) -> Summary | None:
    """Return the system of a kind and of the row's size that the row can be compared with."""
    other = Row(row.size, kind)
    return None if row == other else summaries.get(other)


def _chosen(parts: Sequence[Outcomes]) -> dict[Row, Summary]:
    """Choose the setting of every system on one dataset.

    Raises:
        ValueError: a system in two folders; systems of one size that saw other data or were chosen
            in another way.
    """
    summaries: dict[Row, Summary] = {}
    origins: dict[Row, Outcomes] = {}
    for part in parts:
        whole = [run for run in part.runs if run.setting.fraction == 1]
        for summary in chosen_settings(summarize(whole, part.metric), part.metric).values():
            row = row_of(summary.outcomes[0])
            if row in summaries:
                raise ValueError(
                    f"{origins[row].root} and {part.root} both hold runs of {row.label} "
                    f"({row.size}) on {part.dataset}: name one of them"
                )
            summaries[row], origins[row] = summary, part
    _check_sizes(origins)
    return summaries


def _check_sizes(origins: dict[Row, Outcomes]) -> None:
    """Refuse systems of one size that saw other data, or were chosen in another way."""
    first: dict[str, Outcomes] = {}
    for row, part in origins.items():
        other = first.setdefault(row.size, part)
        for key in ("data", "metric", "validation"):
            if getattr(other, key) != getattr(part, key):
                raise ValueError(
                    f"{other.root} and {part.root} differ in their {key}: they cannot be compared"
                )


def _values(summary: Summary, metric: str, shown: str) -> list[float]:
    """Return the metric of every seed.

    Raises:
        ValueError: a run lacks it.
    """
    values = [getattr(run, shown).get(metric) for run in summary.outcomes]
    if None in values:
        raise ValueError(f"{summary.outcomes[0].folder}: no metric {metric!r}")
    return values


def _scores(
    column: Column,
    pair: tuple[Summary | None, Summary],
    shown: str,
    test: Test,
    *,
    worse: bool = False,
) -> list[Score]:
    """Return all metrics of a system, each compared with the baseline's.

    Args:
        column: whose metrics.
        pair: baseline and system.
        shown: field of an outcome.
        test: of significance.
        worse: whether what is worse is marked, and not what is better.
    """
    first, summary = pair
    scores = []
    for title, metric in column.metrics:
        values = _values(summary, metric, shown)
        tested = test(first, summary, metric, shown) if first else Tested()
        is_low = worse != (metric in LOWER_IS_BETTER)
        differs = tested.difference < 0 if is_low else tested.difference > 0
        marked = differs and tested.p_value < SIGNIFICANT
        figures = statistics.fmean(values), deviation(values), tested.p_value, marked, math.nan
        scores.append(Score(title, metric, *figures, tested.remark))
    return scores


def _entry(summary: Summary, plain: Summary | None, scores: list[Score]) -> Entry:
    first = summary.outcomes[0]
    parameters = first.parameters
    known = plain and plain.outcomes[0].parameters
    added = parameters - known if parameters and known else None
    folder = first.folder.parent
    return Entry(summary.setting, summary.count, parameters, added, scores, folder)


def without_paper(table: Table) -> Table:
    """Return the table without the figures of the paper."""

    def strip(entry: Entry) -> Entry:
        return replace(entry, scores=[replace(score, paper=math.nan) for score in entry.scores])

    blocks = [
        replace(block, entries={row: strip(entry) for row, entry in block.entries.items()})
        for block in table.blocks
    ]
    return replace(table, blocks=blocks, layout=replace(table.layout, paper={}))


def over_seeds(plain: Summary, system: Summary, metric: str, shown: str) -> Tested:
    """Test over seeds: Welch's t-test."""
    return welch(*(_values(summary, metric, shown) for summary in (plain, system)))


def over_drawn_examples(samples: int, seed: int) -> Test:
    """Return the test over examples, of runs with the same seeds: a paired bootstrap."""

    def test(plain: Summary, system: Summary, metric: str, shown: str) -> Tested:
        if metric.startswith(TUNED):  # another threshold for each: no examples to compare
            return Tested()
        names = {VALIDATION: "predictions", EVALUATION: "evaluation_predictions"}
        found = over_examples(
            plain,
            system,
            metric,
            samples=samples,
            seed=seed,
            predictions=lambda run: getattr(run, names[shown]),
        )
        return Tested(found.p_value, found.difference) if found else Tested()

    return test
