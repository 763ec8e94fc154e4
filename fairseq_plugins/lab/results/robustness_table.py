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

from ...evaluation.robustness import METRICS, WHOLE, Robustness, SystemAnswers, on_set
from ..plan.grid import SIZES
from .layouts import SIGNIFICANT, Entries, special
from .tables import DOWN, UP, markdown, to_csv

NAMES = {"accuracy": "accuracy", "pearson": "Pearson correlation"}
_COLUMNS = (
    "system arch runs set short dataset split n metric score deviation before change difference "
    "p paper source"
).split()


class Part(Entries):
    """The paper's figures on a dataset: kind of architecture -> one a transformation, in %."""

    dataset: str
    mismatched: bool = False
    columns: tuple[str, ...]
    paper: dict[str, tuple[float, ...]]


class Printed(Entries):
    """The paper's table; `short` is what it calls the transformations, in its order."""

    source: str
    short: dict[str, str]
    parts: tuple[Part, ...]

    def figure(self, arch: str, column: Column) -> float:
        """Return a figure, of whatever size the system is; nan where the paper has none."""
        kind, _, size = arch.rpartition("_")
        where = column.dataset, column.split.endswith("mismatched")
        for part in self.parts:
            row = part.paper.get(kind if size in SIZES else arch, ())
            if (part.dataset, part.mismatched) == where:
                return dict(zip(part.columns, row)).get(column.name, math.nan)
        return math.nan


@cache
def printed() -> Printed:
    """Return the paper's table."""
    return special("robustness", Printed)


@dataclass(frozen=True)
class Column:
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
        cells: (system, column) -> its score.
        samples, seed: of the bootstrap.
    """

    metric: str
    columns: list[Column]
    systems: list[SystemAnswers]
    cells: dict[tuple[str, str], Robustness]
    samples: int = 1000
    seed: int = 12345

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield what is known of every cell; None where there is no value."""
        for system in self.systems:
            for column in self.columns:
                cell = self.cells[system.name, column.name]
                values = (
                    *(system.name, system.arch, len(system.runs)),
                    *(column.name, column.title, column.dataset, column.split, column.examples),
                    *(self.metric, cell.score, cell.deviation, cell.original, cell.change),
                    *(cell.difference, cell.p_value, printed().figure(system.arch, column)),
                    column.source,
                )
                known = (None if isinstance(v, float) and math.isnan(v) else v for v in values)
                yield dict(zip(_COLUMNS, known))


def make_table(
    target: str,
    columns: Sequence[Column],
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
    cells: dict[tuple[str, str], Robustness] = {}
    for system in systems:
        if all(WHOLE in run for run in system.runs):
            cells[system.name, WHOLE] = on_set(system, WHOLE, metric)
        other = None if system is first else first
        for column in ordered:
            options = {"first": other, "samples": samples, "seed": seed}
            cells[system.name, column.name] = on_set(system, column.name, metric, **options)
    if all((system.name, WHOLE) in cells for system in systems):
        answers = first.runs[0][WHOLE]
        sets = next(column for column in ordered if column.split)
        ordered.insert(0, Column(WHOLE, len(answers.ids), sets.dataset, sets.split))
    return RobustnessTable(metric, ordered, list(systems), cells, samples, seed)


def format_markdown(table: RobustnessTable) -> str:
    """Lay the table out in Markdown, with what one has to know to read it."""
    heads = [f"{column.title} (n={column.examples:,})" for column in table.columns]
    lines = [f"**{_title(table)}**", ""]
    rows: dict[str, list[str]] = {}
    for record in table.records():
        start = [record["system"].replace("|", "\\|"), str(record["runs"])]
        rows.setdefault(record["system"], start).append(_text(record))
    lines += markdown(
        ["system", "runs", *heads], rows.values(), [False, True, *[True] * len(heads)]
    )
    return "\n".join([*lines, "", *_notes(table)]) + "\n"


def _title(table: RobustnessTable) -> str:
    places = {(column.dataset, column.split) for column in table.columns if column.dataset}
    of = ", ".join(sorted(f"{name} ({split})" if split else name for name, split in places))
    return f"Robustness{f' on {of}' if of else ''}: {NAMES[table.metric]} × 100"


def _text(cell: dict[str, Any]) -> str:
    """Show a cell: score, deviation over runs, (change), arrow, [figure of the paper]."""
    text = f"{100 * cell['score']:.2f}"
    text += "" if cell["deviation"] is None else f" ± {100 * cell['deviation']:.2f}"
    text += "" if cell["change"] is None else f" ({_signed(100 * cell['change'])})"
    if cell["p"] is not None and cell["p"] < SIGNIFICANT and cell["difference"]:
        text += f" {UP if cell['difference'] > 0 else DOWN}"
    return text if cell["paper"] is None else f"{text} [{cell['paper']:.2f}]"


def _signed(points: float) -> str:
    """Show a change in points with its sign; none where it is nothing."""
    text = f"{points:+.1f}"
    return "0.0" if float(text) == 0 else text


def _notes(table: RobustnessTable) -> Iterator[str]:
    """Yield what a reader has to know."""
    cells = list(table.records())

    def has(name: str) -> bool:
        return any(cell[name] is not None for cell in cells)

    yield "Score on the changed examples" + (
        "; in parentheses its change in points from the same examples before."
        if has("change")
        else "; what they were before is not known."
    )
    if table.columns[0].name == WHOLE:
        yield f"{WHOLE}: the whole split, unchanged."
    if has("deviation"):
        yield "±: standard deviation over runs."
    if has("p"):
        yield (
            f"{UP} {DOWN}: better or worse than {table.systems[0].name} on the changed examples, "
            f"p < {SIGNIFICANT}, paired bootstrap over examples ({table.samples:,} samples, seed "
            f"{table.seed}), which does not see how much runs differ."
        )
    yield from _notes_of_columns(table.columns)
    if has("paper"):
        yield f"[In brackets: {printed().source}.]"
    short = [f"{one.title} {one.name}" for one in table.columns if one.name in printed().short]
    if short:
        yield f"{', '.join(short)}."


def _notes_of_columns(columns: Sequence[Column]) -> Iterator[str]:
    """Yield what a reader has to know of single sets."""
    for label in sorted({column.only_label for column in columns} - {""}):
        titles = ", ".join(column.title for column in columns if column.only_label == label)
        yield (
            f"{titles}: all gold labels are {label}, so a system that says nothing else has 100, "
            "and one that never says it 0."
        )
    for column in columns:
        if column.untouched:
            yield f"{column.title}: {column.untouched:,} of its examples are as they were before."


def format_csv(table: RobustnessTable) -> str:
    """Return one line for every cell, unrounded; empty where there is no value."""
    return to_csv(list(table.records()), _COLUMNS)


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
        "cells": list(table.records()),
    }
    return json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
