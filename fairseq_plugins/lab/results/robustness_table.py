"""Table 3 of Wang et al. (2022), filled in: systems down, transformations across.

A cell is the score on the changed examples, with the difference from the same original examples.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from ...evaluation.robustness import WHOLE, SystemAnswers, on_set
from ...targets.target import Target
from ..plan.grid import SIZES
from .layouts import DOWN, SIGNIFICANT, UP, Entries, special
from .tables import (
    ResultTable,
    TableCell,
    mark_of,
    name_of,
    p_text,
    paper_text,
    score_cell,
    signed,
)

_CAPTION = (
    "Score on the changed examples: mean ± standard deviation over runs; behind it, as far as "
    "known, the change in points from the same examples before, p, and the figure of {}. "
    f"{WHOLE}: the whole split, unchanged. {UP} {DOWN}: better or worse than {{}} on the changed "
    f"examples, p < {SIGNIFICANT}, paired bootstrap over examples ({{}}), which does not see how "
    "much runs differ."
)


class PrintedPart(Entries):
    """The paper's figures on a dataset: kind -> one figure per transformation, in %."""

    columns: tuple[str, ...]
    paper: dict[str, tuple[float, ...]]


class PrintedTable(Entries):
    """The paper's table; `short` maps transformations to its names, in its order."""

    source: str
    short: dict[str, str]
    parts: dict[str, PrintedPart]

    def figure(self, arch: str, column: "PerturbedSet") -> float:
        """Return a figure, whatever the system's size; nan if the paper has none."""
        kind, _, size = arch.rpartition("_")
        mismatched = "_mismatched" * column.split.endswith("mismatched")
        part = self.parts.get(column.dataset + mismatched, PrintedPart(columns=(), paper={}))
        row = part.paper.get(kind if size in SIZES else arch, ())
        return dict(zip(part.columns, row)).get(column.name, math.nan)


@cache
def printed() -> PrintedTable:
    return special("robustness", PrintedTable)


class PerturbedSet(NamedTuple):
    """A perturbed set, or the whole split (named `WHOLE`)."""

    name: str  # of the transformation
    examples: int  # number of examples
    # dataset, split: the original; empty if unknown
    dataset: str = ""
    split: str = ""
    only_label: str = ""  # gold label of all changed examples if there is only one
    untouched: int = 0  # number of unchanged examples

    @property
    def title(self) -> str:
        """The paper's short name, if any."""
        return printed().short.get(self.name, self.name)

    @property
    def order(self) -> tuple[int, str]:
        """Sort key: the paper's order, then the others."""
        names = [WHOLE, *printed().short]
        return names.index(self.name) if self.name in names else len(names), self.name


def robustness_table(
    target: Target,
    columns: Sequence[PerturbedSet],
    systems: Sequence[SystemAnswers],
    *,
    samples: int = 1000,
    seed: int = 12345,
) -> ResultTable:
    """Score all systems on all sets, and compare each with the first system."""
    metric, first = target.metrics[0], systems[0]
    columns = sorted(columns, key=lambda column: column.order)
    places = {f"{one.dataset} ({one.split})" for one in columns if one.dataset}
    if all(WHOLE in run for system in systems for run in system.runs):
        count, where = len(first.runs[0][WHOLE].ids), next(one for one in columns if one.split)
        columns.insert(0, PerturbedSet(WHOLE, count, where.dataset, where.split))
    rows = []
    for system in systems:
        rows.append([TableCell(system.name)])
        for one in columns:
            is_compared = system is not first and one.name != WHOLE
            own = {"first": first if is_compared else None, "samples": samples, "seed": seed}
            found = on_set(system, one.name, metric, **own)
            paper = printed().figure(system.arch, one)
            rows[-1].append(_cell(found, paper, metric))
    heads = [TableCell(one.title, f"n={one.examples:,}") for one in columns]
    return ResultTable(
        f"Robustness{' on ' * bool(places)}{', '.join(sorted(places))}: {name_of(metric)}",
        [TableCell("system"), *heads],
        rows,
        _CAPTION.format(printed().source, first.name, f"{samples:,} samples, seed {seed}"),
        tuple(_notes(columns)),
    )


def _cell(found: dict[str, Any], paper: float, metric: str) -> TableCell:
    """Return a score: mean and deviation over runs, change, p, figure of the paper."""
    change = "" if math.isnan(found["change"]) else signed(100 * found["change"], 1)
    mark = mark_of(found["p"], found["difference"], metric)
    details = (change, p_text(found["p"]), paper_text(paper))
    return score_cell(found["scores"], metric, *details, mark=mark)


def _notes(columns: Sequence[PerturbedSet]) -> Iterator[str]:
    for label in sorted({column.only_label for column in columns} - {""}):
        titles = ", ".join(one.title for one in columns if one.only_label == label)
        yield (
            f"{titles}: all gold labels are {label}, so a system that says nothing else has 100, "
            "and one that never says it 0."
        )
    for column in (column for column in columns if column.untouched):
        yield f"{column.title}: {column.untouched:,} of its examples are as they were before."
    short = [f"{one.title} {one.name}" for one in columns if one.name in printed().short]
    yield from [f"{', '.join(short)}."] if short else []
