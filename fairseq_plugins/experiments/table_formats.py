"""Tables of results as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence

from .paper_tables import LABELS
from .result_table import SIGNIFICANT, Block, Entry, Row, Score, Table

_UNSCALED = ("loss", "mse")  # everything else is shown in %
_CSV = (
    "table size system dataset split metric n mean deviation p marked paper parameters added "
    "learning_rate epochs choice folder"
).split()


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
        sizes, printed = {row.size for row in table.rows}, table.layout.paper.keys()
        whose = "the same" if sizes <= printed else "base"
        if whose == "base" and sizes & printed - {"base"}:
            whose = f"base size; beside {', '.join(sorted(sizes & printed))}, the same"
        yield f"[In brackets: {table.layout.source}, {whose} size.]"
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


def format_csv(tables: Sequence[Table]) -> str:
    """Return one line for every score, unrounded; empty where there is no value."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_CSV)
    for table in tables:
        for block in table.blocks:
            for row in sorted(block.entries, key=lambda row: row.order):
                entry = block.entries[row]
                for score in entry.scores:
                    writer.writerow(map(_plain, _fields(table, block, row, entry, score)))
    return stream.getvalue()


def _fields(table: Table, block: Block, row: Row, entry: Entry, score: Score) -> list:
    setting = entry.setting
    choice = " ".join(f"{name}={value}" for name, value in setting.choice)
    where = [table.layout.title, row.size, row.label, block.column.dataset, block.split]
    values = [score.mean, score.deviation, score.p_value, int(score.marked), score.paper]
    model = [entry.parameters or math.nan, math.nan if entry.added is None else entry.added]
    chosen = [setting.learning_rate, setting.epochs, choice, entry.folder]
    return [*where, score.metric, entry.seeds, *values, *model, *chosen]


def _plain(value):
    return "" if isinstance(value, float) and math.isnan(value) else value
