"""Table 3 of Wang et al. (2022), filled in: systems down, transformations across.

A cell is the score on the changed examples, with its change from the same examples before.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ....evaluation.robustness import METRICS, Robustness, SystemAnswers, on_set, on_whole
from .result_table import SIGNIFICANT
from .robustness_figures import SHORT, paper_figure

WHOLE = "original"
NAMES = {"accuracy": "accuracy", "pearson": "Pearson correlation"}
_CSV = (
    "system arch runs set short dataset split n metric score deviation before change difference "
    "p paper source"
).split()


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
        return SHORT.get(self.name, self.name)

    @property
    def order(self) -> tuple[int, str]:
        """Where it stands: as in the paper, the others behind."""
        names = [WHOLE, *SHORT]
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
    cells: Mapping[tuple[str, str], Robustness] = field(default_factory=dict)
    samples: int = 1000
    seed: int = 12345

    def figure(self, system: SystemAnswers, column: Column) -> float:
        """Return the paper's figure of a cell; nan where it has none."""
        return paper_figure(column.dataset, column.split, system.arch, column.name)


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
        whole = on_whole(system, metric)
        if whole is not None:
            cells[system.name, WHOLE] = whole
        other = None if system is first else first
        for column in ordered:
            options = {"first": other, "samples": samples, "seed": seed}
            cells[system.name, column.name] = on_set(system, column.name, metric, **options)
    if all((system.name, WHOLE) in cells for system in systems):
        answers = first.runs[0].whole
        sets = next(column for column in ordered if column.split)
        ordered.insert(0, Column(WHOLE, len(answers.ids), sets.dataset, sets.split))
    return RobustnessTable(metric, ordered, list(systems), cells, samples, seed)


def format_markdown(table: RobustnessTable) -> str:
    """Lay the table out in Markdown, with what one has to know to read it."""
    heads = [f"{column.title} (n={column.examples:,})" for column in table.columns]
    lines = [f"**{_title(table)}**", "", f"| system | runs | {' | '.join(heads)} |"]
    lines.append(f"|---|---:|{'---:|' * len(heads)}")
    for system in table.systems:
        cells = [_cell(table, system, column) for column in table.columns]
        lines.append(f"| {_escaped(system.name)} | {len(system.runs)} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *_notes(table)]) + "\n"


def _title(table: RobustnessTable) -> str:
    places = {(column.dataset, column.split) for column in table.columns if column.dataset}
    of = ", ".join(sorted(f"{name} ({split})" if split else name for name, split in places))
    return f"Robustness{f' on {of}' if of else ''}: {NAMES[table.metric]} × 100"


def _cell(table: RobustnessTable, system: SystemAnswers, column: Column) -> str:
    """Show a cell: score, deviation over runs, (change), arrow, [figure of the paper]."""
    found = table.cells.get((system.name, column.name))
    if found is None:
        return "–"
    text = f"{100 * found.score:.2f}"
    text += "" if math.isnan(found.deviation) else f" ± {100 * found.deviation:.2f}"
    text += "" if math.isnan(found.change) else f" ({_signed(100 * found.change)})"
    if found.p_value < SIGNIFICANT and found.difference:
        text += " ↑" if found.difference > 0 else " ↓"
    figure = table.figure(system, column)
    return text if math.isnan(figure) else f"{text} [{figure:.2f}]"


def _signed(points: float) -> str:
    """Show a change in points with its sign; none where it is nothing."""
    text = f"{points:+.1f}"
    return "0.0" if float(text) == 0 else text


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _notes(table: RobustnessTable) -> Iterator[str]:
    """Yield what a reader has to know."""
    shown = list(table.cells.values())
    yield "Score on the changed examples" + (
        "; in parentheses its change in points from the same examples before."
        if not all(math.isnan(cell.change) for cell in shown)
        else "; what they were before is not known."
    )
    if table.columns[0].name == WHOLE:
        yield f"{WHOLE}: the whole split, unchanged."
    if not all(math.isnan(cell.deviation) for cell in shown):
        yield "±: standard deviation over runs."
    if not all(math.isnan(cell.p_value) for cell in shown):
        yield (
            f"↑ ↓: better or worse than {table.systems[0].name} on the changed examples, "
            f"p < {SIGNIFICANT}, paired bootstrap over examples ({table.samples:,} samples, seed "
            f"{table.seed}), which does not see how much runs differ."
        )
    for label in sorted({column.only_label for column in table.columns} - {""}):
        titles = ", ".join(c.title for c in table.columns if c.only_label == label)
        yield (
            f"{titles}: all gold labels are {label}, so a system that says nothing else has 100, "
            "and one that never says it 0."
        )
    for column in table.columns:
        if column.untouched:
            yield f"{column.title}: {column.untouched:,} of its examples are as they were before."
    figures = [table.figure(s, column) for s in table.systems for column in table.columns]
    if not all(map(math.isnan, figures)):
        yield "[In brackets: Wang et al. (2022), Table 3.]"
    named = [f"{column.title} {column.name}" for column in table.columns if column.name in SHORT]
    if named:
        yield f"{', '.join(named)}."


def format_csv(table: RobustnessTable) -> str:
    """Return one line for every cell, unrounded; empty where there is no value."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_CSV)
    for system, column, cell in _cells(table):
        writer.writerow(
            _empty_for_none(_fields(table, system, column, cell)[name] for name in _CSV)
        )
    return stream.getvalue()


def format_json(table: RobustnessTable) -> str:
    """Return everything as JSON: the sets, the systems with their checkpoints, the cells."""
    cells = [_fields(table, *found) for found in _cells(table)]
    body = {
        "metric": table.metric,
        "bootstrap": {"samples": table.samples, "seed": table.seed},
        "sets": [asdict(column) for column in table.columns],
        "systems": [
            {"name": system.name, "arch": system.arch, "checkpoints": list(system.checkpoints)}
            for system in table.systems
        ],
        "cells": cells,
    }
    return json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _cells(table: RobustnessTable) -> Iterator[tuple[SystemAnswers, Column, Robustness]]:
    for system in table.systems:
        for column in table.columns:
            yield system, column, table.cells[system.name, column.name]


def _fields(
    table: RobustnessTable, system: SystemAnswers, column: Column, cell: Robustness
) -> dict[str, Any]:
    """Return what is known of a cell, by the names of `_CSV`; None where there is no value."""
    values = (
        *(system.name, system.arch, len(system.runs)),
        *(column.name, column.title, column.dataset, column.split, column.examples),
        *(table.metric, cell.score, cell.deviation, cell.original, cell.change),
        *(cell.difference, cell.p_value, table.figure(system, column), column.source),
    )
    unknown = (
        None if isinstance(value, float) and math.isnan(value) else value for value in values
    )
    return dict(zip(_CSV, unknown))


def _empty_for_none(values: Iterator[Any]) -> list[Any]:
    return ["" if value is None else value for value in values]
