"""Papers' tables in the form of the papers, and in that of a report's page."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from .compare import Significance
from .layouts import SIGNIFICANT, labels
from .paper_tables import CSV, Filled, Row
from .tables import (
    NONE,
    Heading,
    ResultTable,
    TableCell,
    millions,
    p_text,
    scale_of,
    score_cell,
    with_best,
    words,
)


def paper_table(table: Filled, test: Significance) -> ResultTable:
    """Lay a table with a dataset out as papers do; the test is that behind its arrows.

    A cell is mean (deviation), arrow, [figure of the paper]; beside those of a dataset its seeds.
    """
    heads = ["parameters", *["Avg."] * table.is_whole]
    for block in table.blocks:
        heads += [f"{block.column.title} {title}" for title in block.column.metrics] + ["n"]
    caption = [
        *_how_to_read(table, test, "(standard deviation)", "[In brackets: {}.]"),
        *table.layout.notes,
        "Learning rate, epochs and choices of each system are those with the best mean on the "
        "validation set, among those with most seeds:",
    ]
    return ResultTable(
        table.layout.title,
        [*words("system"), *map(Heading, heads)],
        [
            *(list(map(TableCell, _texts(table, row))) for row in table.rows),
            *(list(map(TableCell, _cited_texts(table, name))) for name in table.cited),
        ],
        "\n".join(caption),
        tuple(_origins(table)),
        scores=(*table.scores[CSV].to_dict("records"), *_cited_scores(table)),
    )


def _texts(table: Filled, row: Row) -> Iterator[str]:
    """Yield the cells of a system."""
    entries, several = table.entries(row), len({one.size for one in table.rows}) > 1
    yield row.sized_label if several else row.label
    yield _parameters(row, entries)
    if table.is_whole:
        mean = table.average(row)
        yield NONE if mean is None else f"{mean:.1f}{_rounded(table.paper_average(row))}"
    for block, entry in zip(table.blocks, entries):
        yield from (_score(score, table) for score in entry)
        yield from [] if entry else [NONE] * len(block.column.metrics)
        yield str(entry[0].n) if entry else NONE


def _cited_texts(table: Filled, name: str) -> Iterator[str]:
    """Yield the cells of a cited system, which has figures of the paper alone."""
    yield from (f"{name}, cited", NONE)
    if table.is_whole:
        yield _rounded(table.layout.cited_average(name)).strip() or NONE
    for entry in table.cited[name]:
        yield from (_in_brackets(figure).strip() or NONE for figure in entry.values())
        yield NONE


def _cited_scores(table: Filled) -> Iterator[dict[str, Any]]:
    """Yield what a file says of cited systems: no runs, the paper's figures."""
    for name, entries in table.cited.items():
        for block, entry in zip(table.blocks, entries):
            for metric, figure in entry.items():
                if not math.isnan(figure):
                    yield {
                        **dict.fromkeys(CSV, math.nan),
                        "table": table.layout.title,
                        "system": name,
                        "dataset": block.column.dataset,
                        "metric": metric,
                        "n": 0,
                        "paper": figure,
                    }


def _score(score: Any, table: Filled) -> str:
    """Show a score."""
    scale = scale_of(score.metric)
    text = f"{scale * score.mean:.2f}"
    text += "" if math.isnan(score.deviation) else f" ({scale * score.deviation:.2f})"
    return text + f" {table.layout.arrow}" * score.marked + _in_brackets(score.paper)


def printed(figure: float) -> str:
    """Show a figure of a paper with as many digits as it has, one or two; empty for none."""
    digits = 1 if math.isclose(figure, round(figure, 1)) else 2
    return "" if math.isnan(figure) else f"{figure:.{digits}f}"


def _in_brackets(figure: float) -> str:
    return "" if math.isnan(figure) else f" [{printed(figure)}]"


def _rounded(average: float) -> str:
    """Show an average of a paper, which has one digit."""
    return _in_brackets(average if math.isnan(average) else round(average, 1))


def _added(row: Row, entries: Sequence[Sequence[Any]]) -> float:
    """Return how many parameters are added to BERT's by what joins its layers; else nan."""
    joins = labels().get(row.kind, "").startswith("+")
    added = (entry[0].added for entry in entries if entry and not math.isnan(entry[0].added))
    return next(added, math.nan) if joins else math.nan


def _count(entries: Sequence[Sequence[Any]]) -> float:
    """Return the number of parameters on the first dataset; nan where nothing tells."""
    return next(entry[0].parameters for entry in entries if entry)


def _parameters(row: Row, entries: Sequence[Sequence[Any]]) -> str:
    """Show the number of parameters; of what joins BERT's layers, the number that it adds."""
    count, added = _count(entries), _added(row, entries)
    if math.isnan(count):
        return NONE
    if not math.isnan(added):
        return f"{added / 1e6:+.{2 if abs(added) >= 5000 or not added else 4}f}M"
    return f"{count / 1e6:.1f}M"


def _how_to_read(table: Filled, test: Significance, spread: str, source: str) -> Iterator[str]:
    """Yield what a reader has to know of the cells, a sentence each.

    Args:
        table: that is shown.
        test: behind the arrows.
        spread: how the standard deviation stands beside the mean.
        source: what is said of the paper's figures, with a place for it.
    """
    layout, first = table.layout, labels()[table.layout.baseline]
    in_points = any(scale_of(metric) == 1 for metric in table.scores.metric)
    scale = "" if in_points else " × 100"
    yield f"Scores{scale} of the best checkpoint: mean {spread} over n seeds."
    if table.scores.p.notna().any():
        sign = f"{layout.arrow}: {'worse' if layout.marks_worse else 'better'}"
        yield f"{sign} than {first} of the same size, p < {SIGNIFICANT}, {test.name}."
    else:
        yield (
            f"No arrows: nothing could be tested against {first} of the same size (two seeds a "
            "side)."
        )
    if table.scores.paper.notna().any() or table.cited:
        sizes = layout.printed_sizes({row.size for row in table.rows})
        yield source.format(f"{layout.source}, {sizes or 'the same size'}")


def _origins(table: Filled) -> Iterator[str]:
    """Say where each column comes from, and at which settings its systems stand."""
    for place, block in enumerate(table.blocks):
        lacks = block.column.tested and not block.is_tested
        why = ", since not every run was tried on the test set" if lacks else ""
        where = f"{', '.join(map(str, block.roots))}; split {block.split!r}{why}"
        chosen = {score.row: score.setting for score in table.entry(None, place)}
        settings = "; ".join(f"{row.label} {one.values}" for row, one in chosen.items())
        yield f"{block.column.title} ({where}): {settings}"


def page_table(table: Filled, test: Significance) -> ResultTable:
    """Lay the same out for a page: cells with deviation, seeds, p-value, the paper's figure."""
    headings = [*words("system"), *[Heading("average")] * table.is_whole]
    for block in table.blocks:
        headings += [Heading(block.column.title, title) for title in block.column.metrics]
    rows = [list(_cells(table, row)) for row in table.rows]
    cited = [list(_cited_cells(table, name)) for name in table.cited]
    metrics = [name for block in table.blocks for name in block.column.metrics.values()]
    for place, name in enumerate(metrics, start=len(headings) - len(metrics)):
        with_best(rows, place, name)
    headings.append(Heading("parameters"))
    how = _how_to_read(table, test, "± standard deviation", "Paper: {}.")
    caption, notes = " ".join([*how, "Bold: best of the column."]), table.layout.notes
    notes = (*notes, *_origins(table))
    return ResultTable(table.layout.title, headings, [*rows, *cited], caption, notes)


def _cells(table: Filled, row: Row) -> Iterator[TableCell]:
    """Yield the cells of a system."""
    entries, several = table.entries(row), len({one.size for one in table.rows}) > 1
    yield TableCell(row.label, row.size * several)
    if table.is_whole:
        mean, paper = table.average(row), table.paper_average(row)
        below = "" if math.isnan(paper) else f"paper {paper:.1f}"
        yield TableCell(NONE, below) if mean is None else TableCell(f"{mean:.2f}", below, mean)
    for block, entry in zip(table.blocks, entries):
        for score in entry:
            paper = "" if math.isnan(score.paper) else f"paper {printed(score.paper)}"
            details, mark = (p_text(score.p) or score.untested, paper), table.layout.arrow
            yield score_cell(score.of_seeds, score.metric, *details, mark=mark * score.marked)
        yield from [] if entry else [TableCell(NONE)] * len(block.column.metrics)
    count, added = _count(entries), _added(row, entries)
    more = "" if math.isnan(added) else f"{added / 1e6:+.2g}M"
    yield millions(0 if math.isnan(count) else count, more)


def _cited_cells(table: Filled, name: str) -> Iterator[TableCell]:
    """Yield the cells of a cited system on a page."""
    yield TableCell(name, "cited")
    figures = [figure for entry in table.cited[name] for figure in entry.values()]
    for figure in [table.layout.cited_average(name)] * table.is_whole + figures:
        yield TableCell(NONE, "" if math.isnan(figure) else f"paper {figure:.1f}")
    yield TableCell(NONE)
