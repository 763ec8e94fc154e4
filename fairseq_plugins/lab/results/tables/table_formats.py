"""Tables of results as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ....evaluation.metrics import deviation
from ...report.model import Cell
from ...report.model import Table as Plain
from ...report.tables import UP
from ..comparisons import Tested
from ..outcomes import Outcomes, Setting
from .paper_tables import LABELS
from .result_table import SIGNIFICANT, Block, Entry, Row, Score, Table
from .variants import Pair, Test, label_of, mark_of, shown

_UNSCALED = ("loss", "mse")  # everything else is shown in %
_CSV = (
    "table size system dataset split metric n mean deviation p untested marked paper parameters "
    "added learning_rate epochs updates fraction choice folder"
).split()
Fields = Sequence[Any]  # one line of the CSV file, in the order of its head


def format_markdown(tables: Sequence[Table], test: str) -> str:
    """Lay tables out in Markdown, each with what one has to know to read it.

    Args:
        tables: with at least one dataset each.
        test: name of the test behind the arrows.
    """
    return "\n".join("\n".join(_lines(table, test)) + "\n" for table in tables)


def _lines(table: Table, test: str) -> Iterator[str]:
    head = ["system", "parameters", *["Avg."] * table.is_whole]
    for block in table.blocks:
        head += [f"{block.column.title} {title}" for title, _ in block.column.metrics] + ["n"]
    yield f"**{table.layout.title}**"
    yield ""
    yield f"| {' | '.join(head)} |"
    yield f"|---|---:|{'---:|' * (len(head) - 2)}"
    for row in table.rows:
        yield f"| {' | '.join(_cells(table, row))} |"
    yield ""
    yield from _notes(table, test)


def _cells(table: Table, row: Row) -> Iterator[str]:
    """Yield the cells of a system."""
    yield row.label + (f" ({row.size})" if len({row.size for row in table.rows}) > 1 else "")
    yield _parameters(table, row)
    if table.is_whole:
        mean = table.average(row)
        paper = table.layout.paper_average(row.size, "" if row.name else row.kind)
        paper = _figure(paper if math.isnan(paper) else round(paper, 1))
        yield "–" if mean is None else f"{mean:.1f}{paper}"
    for block in table.blocks:
        entry = block.entries.get(row)
        arrow = " ↓" if table.layout.marks_worse else " ↑"
        scores = [_score(score, arrow) for score in entry.scores] if entry else []
        yield from scores if entry else ["–"] * len(block.column.metrics)
        yield str(entry.seeds) if entry else "–"


def _score(score: Score, arrow: str) -> str:
    """Show a score: mean (deviation), arrow, [figure of the paper]."""
    scale = 1 if score.metric in _UNSCALED else 100
    text = f"{scale * score.mean:.2f}"
    text += "" if math.isnan(score.deviation) else f" ({scale * score.deviation:.2f})"
    text += arrow * score.marked
    return text + _figure(score.paper)


def _figure(figure: float) -> str:
    """Show a figure of the paper with as many digits as it has, one or two."""
    digits = 1 if math.isclose(figure, round(figure, 1)) else 2
    return "" if math.isnan(figure) else f" [{figure:.{digits}f}]"


def _parameters(table: Table, row: Row) -> str:
    """Show the number of parameters; of what joins BERT's layers, the number that it adds."""
    entries = [block.entries[row] for block in table.blocks if row in block.entries]
    if not entries[0].parameters:
        return "–"
    if LABELS.get(row.kind, "").startswith("+"):
        added = next((entry.added for entry in entries if entry.added is not None), None)
        if added is not None:
            return f"{added / 1e6:+.{2 if abs(added) >= 5000 or not added else 4}f}M"
    return f"{entries[0].parameters / 1e6:.1f}M"


def _notes(table: Table, test: str) -> Iterator[str]:
    """Yield what a reader has to know."""
    first = LABELS[table.layout.baseline]
    scores = [s for block in table.blocks for entry in block.entries.values() for s in entry.scores]
    scale = "" if any(score.metric in _UNSCALED for score in scores) else " × 100"
    yield f"Scores{scale} of the best checkpoint: mean (standard deviation) over n seeds."
    if not all(math.isnan(score.p_value) for score in scores):
        sign = "↓: worse" if table.layout.marks_worse else "↑: better"
        yield f"{sign} than {first} of the same size, p < {SIGNIFICANT}, {test}."
    else:
        yield (
            f"No arrows: nothing could be tested against {first} of the same size (two seeds a "
            "side)."
        )
    if not all(math.isnan(score.paper) for score in scores):
        sizes = table.layout.printed_sizes({row.size for row in table.rows})
        yield f"[In brackets: {table.layout.source}, {sizes or 'the same size'}.]"
    yield from table.layout.notes
    yield (
        "Learning rate, epochs and choices of each system are those with the best mean on the "
        "validation set, among those with most seeds:"
    )
    yield ""
    for block in table.blocks:
        roots = ", ".join(map(str, block.roots))
        split = f"split {block.split!r}"
        if block.column.tested and not block.is_tested:
            split += ", since not every run was tried on the test set"
        yield f"- {block.column.title} ({roots}; {split}): {_settings(block)}"


def _settings(block: Block) -> str:
    rows = sorted(block.entries, key=lambda row: row.order)
    return "; ".join(f"{row.label} {block.entries[row].setting.values}" for row in rows)


def format_csv(lines: Iterable[Fields]) -> str:
    """Return one line for every score under a head, unrounded; empty where there is no value."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_CSV)
    writer.writerows(map(_plain, lines))
    return stream.getvalue()


def csv_lines(tables: Sequence[Table]) -> Iterator[Fields]:
    """Yield the lines of the papers' tables."""
    for table in tables:
        for block in table.blocks:
            for row in sorted(block.entries, key=lambda row: row.order):
                entry = block.entries[row]
                for score in entry.scores:
                    yield _fields(table, block, row, entry, score)


def _fields(table: Table, block: Block, row: Row, entry: Entry, score: Score) -> Fields:
    where = [table.layout.title, row.size, row.label, block.column.dataset, block.split]
    values = [score.mean, score.deviation, score.p_value, score.remark]
    values += [int(score.marked), score.paper]
    model = [entry.parameters or math.nan, math.nan if entry.added is None else entry.added]
    return [
        *where,
        score.metric,
        entry.seeds,
        *values,
        *model,
        *_chosen(entry.setting, entry.folder),
    ]


def _chosen(setting: Setting, folder: Path) -> Fields:
    """Return what a setting is, and where its runs lie."""
    choice = " ".join(f"{name}={value}" for name, value in setting.choice)
    length = [setting.epochs or math.nan, setting.updates or math.nan]
    return [setting.learning_rate, *length, setting.fraction, choice, folder]


def pair_lines(title: str, found: Outcomes, pairs: Iterable[Pair], test: Test) -> Iterator[Fields]:
    """Yield the lines of a table of one dataset.

    Args:
        title: of the table.
        found: the runs.
        pairs: systems with their baselines.
        test: of their difference.
    """
    what = shown(found)
    for summary, baseline, paper in pairs:
        first, values = summary.outcomes[0], what.values(summary)
        compared = baseline and baseline is not summary
        tested = test(baseline, summary, what) if compared else Tested()
        marked = mark_of(tested, what.metric) == UP
        name, parameters = summary.setting.system, first.parameters or math.nan
        where = [title, "", name, label_of(found), what.split, what.metric, len(values)]
        scores = [statistics.fmean(values), deviation(values), tested.p_value, tested.remark]
        scores += [int(marked), paper]
        model = [parameters, math.nan, *_chosen(summary.setting, first.folder.parent)]
        yield [*where, *scores, *model]


def _plain(line: Fields) -> list:
    return ["" if isinstance(value, float) and math.isnan(value) else value for value in line]


def format_table(table: Plain) -> str:
    """Lay a table of one dataset out in Markdown."""
    heads = [
        " ".join(filter(None, (h.text, f"({h.detail})" * bool(h.detail)))) for h in table.headings
    ]
    sides = ["---:" if heading.is_number else "---" for heading in table.headings]
    lines = [f"**{table.title}**", "", f"| {' | '.join(heads)} |", f"|{'|'.join(sides)}|"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in table.rows]
    notes = [f"- {note}" for note in table.notes]
    return "\n".join([*lines, "", table.caption, *([""] if notes else []), *notes]) + "\n"


def _cell(cell: Cell) -> str:
    return " ".join(filter(None, (cell.text, cell.mark, f"({cell.detail})" * bool(cell.detail))))
