"""Tables of a report: the papers', with ours beside theirs, and comparisons with a baseline."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from ...evaluation.metrics import LOWER_IS_BETTER, deviation
from ..results.comparisons import compare, over_examples
from ..results.outcomes import Outcomes
from ..results.seeds import Summary, chosen_settings, summarize
from ..results.tables.paper_tables import LABELS
from ..results.tables.result_table import SIGNIFICANT, Block, Entry, Row, Score
from ..results.tables.result_table import Table as ResultTable
from .model import Cell, Heading, Table

NONE = "–"
UP, DOWN = "↑", "↓"
_COMPARED = ("system", "seeds of both", "difference", "paired t-test", "higher / lower")
_COMPARED += ("sign test", "95 % over examples", "bootstrap")
_IN_POINTS = ("loss", "mse", "ppl", "bleu", "chrf", "ter")  # all else is a share, shown in %


def scale_of(metric: str) -> int:
    """Return by what a metric is multiplied to be shown."""
    return 1 if metric.rpartition("_")[2] in _IN_POINTS else 100


def score_cell(values: Sequence[float], metric: str, *details: str, mark: str = "") -> Cell:
    """Show a metric over seeds: mean, deviation, and below them how many and what else."""
    if not values:
        return Cell(NONE)
    mean = scale_of(metric) * statistics.fmean(values)
    text = f"{mean:.2f}"
    if len(values) > 1:
        text += f" ± {scale_of(metric) * deviation(values):.2f}"
    seeds = f"{len(values)} seed{'s' * (len(values) > 1)}"
    return Cell(text, " · ".join([seeds, *details]), mean, mark)


def with_best(rows: list[list[Cell]], column: int, metric: str) -> None:
    """Mark the best cell of a column, in place, if there is something to choose."""
    values = [row[column].value for row in rows if not math.isnan(row[column].value)]
    if len(values) > 1:
        best = (min if metric in LOWER_IS_BETTER else max)(values)
        for row in rows:
            row[column] = replace(row[column], is_best=row[column].value == best)


def p_text(value: float) -> str:
    """Show a p-value; empty where there is none."""
    if math.isnan(value):
        return ""
    return "p < 0.001" if value < 0.001 else f"p {value:.3f}"


def paper_table(table: ResultTable, test: str) -> Table:
    """Lay a paper's table out: every cell with deviation, seeds, p-value and the paper's figure.

    Args:
        table: with at least one dataset.
        test: name of the test behind the arrows.
    """
    headings = [Heading("system", is_number=False)]
    headings += [Heading("average")] if table.is_whole else []
    for block in table.blocks:
        headings += [Heading(block.column.title, title) for title, _ in block.column.metrics]
    rows = [list(_cells(table, row)) for row in table.rows]
    metrics = [name for block in table.blocks for _, name in block.column.metrics]
    for place, name in enumerate(metrics, start=len(headings) - len(metrics)):
        with_best(rows, place, name)
    headings.append(Heading("parameters"))
    return Table(
        table.layout.title,
        headings,
        rows,
        _caption(table, test),
        (*table.layout.notes, *map(_origin, table.blocks)),
    )


def _cells(table: ResultTable, row: Row) -> Iterator[Cell]:
    """Yield the cells of a system."""
    several = len({row.size for row in table.rows}) > 1
    yield Cell(row.label, row.size if several else "")
    entries = [block.entries[row] for block in table.blocks if row in block.entries]
    if table.is_whole:
        mean = table.average(row)
        paper = table.layout.paper_average(row.size, "" if row.name else row.kind)
        below = "" if math.isnan(paper) else f"paper {paper:.1f}"
        yield Cell(NONE, below) if mean is None else Cell(f"{mean:.2f}", below, mean)
    for block in table.blocks:
        entry = block.entries.get(row)
        if entry is None:
            yield from (Cell(NONE) for _ in block.column.metrics)
        else:
            mark = DOWN if table.layout.marks_worse else UP
            yield from (_score(score, entry.seeds, mark) for score in entry.scores)
    yield _parameters(row, entries)


def _score(score: Score, seeds: int, mark: str) -> Cell:
    scale = scale_of(score.metric)
    text = f"{scale * score.mean:.2f}"
    text += "" if math.isnan(score.deviation) else f" ± {scale * score.deviation:.2f}"
    details = [f"{seeds} seed{'s' * (seeds > 1)}", p_text(score.p_value) or score.remark]
    details += [] if math.isnan(score.paper) else [f"paper {_printed(score.paper)}"]
    below = " · ".join(filter(None, details))
    return Cell(text, below, scale * score.mean, mark if score.marked else "")


def _printed(figure: float) -> str:
    """Show a figure of a paper with as many digits as it has, one or two."""
    return f"{figure:.{1 if math.isclose(figure, round(figure, 1)) else 2}f}"


def _parameters(row: Row, entries: Sequence[Entry]) -> Cell:
    """Show the number of parameters, and how many are added to BERT's."""
    count = entries[0].parameters
    if not count:
        return Cell(NONE)
    added = next((entry.added for entry in entries if entry.added is not None), None)
    joins = LABELS.get(row.kind, "").startswith("+") and added is not None
    return Cell(f"{count / 1e6:.2f}M", f"{added / 1e6:+.2g}M" if joins else "", count)


def _caption(table: ResultTable, test: str) -> str:
    """Say how to read the cells."""
    first, layout = LABELS.get(table.layout.baseline, table.layout.baseline), table.layout
    scores = [s for b in table.blocks for entry in b.entries.values() for s in entry.scores]
    text = "Mean ± standard deviation over seeds of each run's best checkpoint, in %"
    text += " (errors as they are)." if any(scale_of(s.metric) == 1 for s in scores) else "."
    if all(math.isnan(score.p_value) for score in scores):
        text += f" Nothing could be tested against {first} of the same size."
    else:
        sign = f"{DOWN} worse" if layout.marks_worse else f"{UP} better"
        text += f" {sign} than {first} of the same size with p < {SIGNIFICANT} ({test})."
    if not all(math.isnan(score.paper) for score in scores):
        size = layout.printed_sizes({row.size for row in table.rows})
        text += f" Paper: {layout.source}{f', models of {size}' * bool(size)}."
    return text + " Bold: best of the column."


def _origin(block: Block) -> str:
    """Say where a column comes from."""
    split = block.split
    if block.column.tested and not block.is_tested:
        split += ", since not every run was tried on the test set"
    rows = sorted(block.entries, key=lambda row: row.order)
    settings = "; ".join(f"{row.label}: {block.entries[row].setting.values}" for row in rows)
    return f"{block.column.title} (split {split}): chosen on validation: {settings}"


def comparison_table(
    outcomes: Outcomes, baseline: str = "", *, samples: int = 1000, seed: int = 12345
) -> Table | None:
    """Compare each system with a baseline over seeds and over examples, on the validation set.

    Args:
        outcomes: runs on one dataset.
        baseline: a system; empty for the only one called ``bert_plain…``.
        samples: of the bootstrap over examples.
        seed: of the bootstrap.

    Returns:
        The table; None without baseline or without anything to compare it with.
    """
    metric = outcomes.metric
    systems = list(dict.fromkeys(run.setting.system for run in outcomes.runs))
    plain = [system for system in systems if system.startswith("bert_plain")]
    baseline = baseline or (plain[0] if len(plain) == 1 else "")
    if baseline not in systems or len(systems) == 1:
        return None
    rows = []
    for system in systems:
        first, summary = _at_one_share(outcomes, baseline, system)
        if system != baseline and first and first.values.keys() & summary.values.keys():
            rows.append(list(_compared(first, summary, metric, samples, seed)))
    if not rows:
        return None
    return Table(
        f"{outcomes.dataset}: every system against {baseline}",
        [Heading(name, is_number=name != "system") for name in _COMPARED],
        rows,
        f"Difference of {metric} on the validation set: mean ± standard error over the seeds that "
        "both have, each system at its chosen setting on the largest share of the training data "
        "that both were trained on (named where it is not all of it). Interval and last p-value: "
        f"paired bootstrap over examples ({samples:,} samples).",
        is_folded=True,
    )


def _at_one_share(outcomes: Outcomes, *names: str) -> tuple[Summary, ...] | tuple[None, ...]:
    """Return systems at their chosen settings on the largest share of the data that all have."""
    shares = [
        {run.setting.fraction for run in outcomes.runs if run.setting.system == name}
        for name in names
    ]
    shared = set.intersection(*shares)
    if not shared:
        return tuple(None for _ in names)
    runs = [run for run in outcomes.runs if run.setting.fraction == max(shared)]
    chosen = chosen_settings(summarize(runs, outcomes.metric), outcomes.metric)
    return tuple(chosen[name] for name in names)


def _compared(
    first: Summary, summary: Summary, metric: str, samples: int, seed: int
) -> Iterator[Cell]:
    """Yield the cells of a comparison."""
    scale, pair = scale_of(metric), compare(first, summary)
    drawn = over_examples(first, summary, metric, samples=samples, seed=seed)
    difference = scale * pair.difference
    error = "" if math.isnan(pair.standard_error) else f" ± {scale * pair.standard_error:.2f}"
    yield Cell(summary.setting.title)
    yield Cell(str(pair.seeds), value=pair.seeds)
    yield Cell(f"{difference:+.2f}{error}", value=difference)
    yield _p_cell(pair.t_p_value, pair.remark)
    yield Cell(f"{pair.wins} / {pair.losses}", value=pair.wins)
    yield _p_cell(pair.sign_p_value)
    if drawn:
        low, high = scale * drawn.low, scale * drawn.high
        yield Cell(f"{low:+.2f} to {high:+.2f}", value=low)
    else:
        yield Cell(NONE)
    yield _p_cell(drawn.p_value if drawn else math.nan)


def _p_cell(value: float, remark: str = "") -> Cell:
    return Cell(p_text(value) or remark or NONE, value=value)


def has_repeated(found: Sequence[Outcomes]) -> bool:
    """Tell whether some setting has two seeds, so that seeds can be tested."""
    runs = chain.from_iterable(one.runs for one in found)
    seen = set()
    for run in runs:
        key = (run.folder.parent, run.setting)
        if key in seen:
            return True
        seen.add(key)
    return False
