"""Table 3 of Wang et al. (2022), filled in: systems down, transformations across.

A cell is the score on the changed examples, with its change from the same examples before.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from ...evaluation.robustness import METRICS, WHOLE, SystemAnswers, on_set
from ..plan.grid import SIZES
from .layouts import DOWN, SIGNIFICANT, UP, Entries, special
from .tables import Heading, ResultTable, TableCell, format_table, signed, to_csv, words

NAMES = {"accuracy": "accuracy", "pearson": "Pearson correlation"}


class PrintedPart(Entries):
    """The paper's figures on a dataset: kind of architecture -> one a transformation, in %."""

    dataset: str
    mismatched: bool = False
    columns: tuple[str, ...]
    paper: dict[str, tuple[float, ...]]


class PrintedTable(Entries):
    """The paper's table; `short` is what it calls the transformations, in its order."""

    source: str
    short: dict[str, str]
    parts: tuple[PrintedPart, ...]

    def figure(self, arch: str, column: PerturbedSet) -> float:
        """Return a figure, of whatever size the system is; nan where the paper has none."""
        kind, _, size = arch.rpartition("_")
        where = column.dataset, column.split.endswith("mismatched")
        for part in self.parts:
            row = part.paper.get(kind if size in SIZES else arch, ())
            if (part.dataset, part.mismatched) == where:
                return dict(zip(part.columns, row)).get(column.name, math.nan)
        return math.nan


@cache
def printed() -> PrintedTable:
    """Return the paper's table."""
    return special("robustness", PrintedTable)


@dataclass(frozen=True)
class PerturbedSet:
    """A perturbed set, or the whole split (whose name is `WHOLE`).

    Args:
        name: of the transformation.
        examples: how many.
        dataset, split: that was changed; empty if unknown.
        source: folder or file.
        only_label: the gold label of all changed examples, if they have but one.
        untouched: how many of the examples are as they were before.
    """

    name: str
    examples: int
    dataset: str = ""
    split: str = ""
    source: str = ""
    only_label: str = ""
    untouched: int = 0

    @property
    def title(self) -> str:
        """What stands above it: the paper's short name, where it has one."""
        return printed().short.get(self.name, self.name)

    @property
    def order(self) -> tuple[int, str]:
        """Where it stands: as in the paper, the others behind."""
        names = [WHOLE, *printed().short]
        return names.index(self.name) if self.name in names else len(names), self.name


@dataclass(frozen=True)
class RobustnessTable:
    """Systems on sets.

    Args:
        metric: of all cells.
        columns: in their order.
        systems: rows in their order.
        records: what is known of every cell, system by system; None where there is no value.
        samples, seed: of the bootstrap.
    """

    metric: str
    columns: list[PerturbedSet]
    systems: list[SystemAnswers]
    records: list[dict[str, Any]]
    samples: int = 1000
    seed: int = 12345


def make_table(
    target: str,
    columns: Sequence[PerturbedSet],
    systems: Sequence[SystemAnswers],
    *,
    samples: int = 1000,
    seed: int = 12345,
) -> RobustnessTable:
    """Score all systems on all sets, and compare them with the first.

    Args:
        target: ``classes`` or ``score``.
        columns: the perturbed sets.
        systems: what they answered.
        samples: resamples of the bootstrap; 0 for no test.
        seed: of the bootstrap.
    """
    metric, first = METRICS[target], systems[0]
    ordered = sorted(columns, key=lambda column: column.order)
    if all(WHOLE in run for system in systems for run in system.runs):
        sets = next(column for column in ordered if column.split)
        count = len(first.runs[0][WHOLE].ids)
        ordered.insert(0, PerturbedSet(WHOLE, count, sets.dataset, sets.split))
    records = []
    for system in systems:
        options = {"first": None if system is first else first, "samples": samples, "seed": seed}
        for column in ordered:
            compared: dict[str, Any] = {} if column.name == WHOLE else options
            cell = on_set(system, column.name, metric, **compared)
            records.append(_record(system, column, metric, cell))
    return RobustnessTable(metric, ordered, list(systems), records, samples, seed)


def _record(
    system: SystemAnswers, column: PerturbedSet, metric: str, cell: dict[str, float]
) -> dict[str, Any]:
    """Return what is known of a cell."""
    values = {
        "system": system.name,
        "arch": system.arch,
        "runs": len(system.runs),
        "set": column.name,
        "short": column.title,
        "dataset": column.dataset,
        "split": column.split,
        "n": column.examples,
        "metric": metric,
        **cell,
        "paper": printed().figure(system.arch, column),
        "source": column.source,
    }
    return {name: None if value != value else value for name, value in values.items()}  # nan


def format_markdown(table: RobustnessTable) -> str:
    """Lay the table out in Markdown, with what one has to know to read it."""
    heads = (f"{column.title} (n={column.examples:,})" for column in table.columns)
    rows: dict[str, list[TableCell]] = {}
    for record in table.records:
        start = [TableCell(record["system"]), TableCell(str(record["runs"]))]
        rows.setdefault(record["system"], start).append(TableCell(_text(record)))
    places = {(column.dataset, column.split) for column in table.columns if column.dataset}
    of = ", ".join(sorted(f"{name} ({split})" if split else name for name, split in places))
    title = f"Robustness{f' on {of}' if of else ''}: {NAMES[table.metric]} × 100"
    headings = [*words("system"), *map(Heading, ("runs", *heads))]
    return format_table(ResultTable(title, headings, list(rows.values()), "\n".join(_notes(table))))


def _text(cell: dict[str, Any]) -> str:
    """Show a cell: score, deviation over runs, (change), arrow, [figure of the paper]."""
    text = f"{100 * cell['score']:.2f}"
    text += "" if cell["deviation"] is None else f" ± {100 * cell['deviation']:.2f}"
    text += "" if cell["change"] is None else f" ({signed(100 * cell['change'], 1)})"
    if cell["p"] is not None and cell["p"] < SIGNIFICANT and cell["difference"]:
        text += f" {UP if cell['difference'] > 0 else DOWN}"
    return text if cell["paper"] is None else f"{text} [{cell['paper']:.2f}]"


def _notes(table: RobustnessTable) -> Iterator[str]:
    """Yield what a reader has to know."""
    known = {name for one in table.records for name, value in one.items() if value is not None}
    yield "Score on the changed examples" + (
        "; in parentheses its change in points from the same examples before."
        if "change" in known
        else "; what they were before is not known."
    )
    if table.columns[0].name == WHOLE:
        yield f"{WHOLE}: the whole split, unchanged."
    if "deviation" in known:
        yield "±: standard deviation over runs."
    if "p" in known:
        yield (
            f"{UP} {DOWN}: better or worse than {table.systems[0].name} on the changed examples, "
            f"p < {SIGNIFICANT}, paired bootstrap over examples ({table.samples:,} samples, seed "
            f"{table.seed}), which does not see how much runs differ."
        )
    for label in sorted({column.only_label for column in table.columns} - {""}):
        titles = ", ".join(one.title for one in table.columns if one.only_label == label)
        yield (
            f"{titles}: all gold labels are {label}, so a system that says nothing else has 100, "
            "and one that never says it 0."
        )
    for column in (column for column in table.columns if column.untouched):
        yield f"{column.title}: {column.untouched:,} of its examples are as they were before."
    if "paper" in known:
        yield f"[In brackets: {printed().source}.]"
    short = [f"{one.title} {one.name}" for one in table.columns if one.name in printed().short]
    if short:
        yield f"{', '.join(short)}."


def format_csv(table: RobustnessTable) -> str:
    """Return one line for every cell, unrounded; empty where there is no value."""
    return to_csv(table.records)


def format_json(table: RobustnessTable) -> str:
    """Return everything as JSON: the sets, the systems with their checkpoints, the cells."""
    body = {
        "metric": table.metric,
        "bootstrap": {"samples": table.samples, "seed": table.seed},
        "sets": [asdict(column) for column in table.columns],
        "systems": [
            {"name": system.name, "arch": system.arch, "checkpoints": list(system.checkpoints)}
            for system in table.systems
        ],
        "cells": table.records,
    }
    return json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
