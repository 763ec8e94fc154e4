"""A table as a value, its cells, and its Markdown.

All cells are plain text; a page escapes them.
"""

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...evaluation.metrics import deviation
from ...evaluation.score_report import HEADINGS
from ...evaluation.shown_text import as_markdown_cell
from .choice import best_of, scale_of
from .layouts import DOWN, SIGNIFICANT, UP

NONE = "–"
_ROUNDING = 1e-12  # of means of equal scores, relative
_CORRELATIONS = ("mcc", "pearson", "spearman")  # -1 to 1; the other metrics are shares
_CALLED = {**HEADINGS, "mcc": "MCC", "pearson": "Pearson's r"}


@dataclass(frozen=True)
class TableCell:
    """One cell of a table."""

    text: str  # main text
    detail: str = ""  # small text below
    value: float = math.nan  # sort key; nan to sort by text
    mark: str = ""  # an arrow at a significant difference, or empty
    is_best: bool = False  # whether the cell is the best of its column


@dataclass(frozen=True)
class ResultTable:
    """A table."""

    title: str  # of the table
    # headings, rows: every row has as many cells as there are headings
    headings: list[TableCell]
    rows: list[list[TableCell]]
    caption: str = ""  # how to read the cells: split, seeds, test
    notes: tuple[str, ...] = ()  # one per line: the source of each column
    is_folded: bool = False  # whether a page folds the table
    told: tuple[str, ...] = ()  # its results as sentences, which begin the page

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers."""
        places = range(len(self.headings))
        return [any(not math.isnan(row[one].value) for row in self.rows) for one in places]


def headings(*names: str) -> list[TableCell]:
    return list(map(TableCell, names))


def called(metric: str) -> str:
    """Return the name of a metric in prose."""
    return _CALLED.get(metric) or re.sub(r"\bf(?=\d)", "F", metric.replace("_", " "))


def name_of(metric: str) -> str:
    """Return name and unit of a metric as shown."""
    unit = " × 100" if metric in _CORRELATIONS else " in %"
    return called(metric) + unit * (scale_of(metric) > 1)


def digits_of(metric: str) -> int:
    """Return the number of decimals of a metric: losses may be small."""
    return 4 if metric.endswith(("loss", "mse")) else 2


def signed(value: float, digits: int) -> str:
    """Return a difference with its sign; +0 if it rounds to zero."""
    text = f"{value:+.{digits}f}"
    return text if float(text) else text.replace("-", "+")


def number_cell(value: float, form: str = "{}") -> TableCell:
    return TableCell(form.format(value), value=value)


def share_cell(share: float) -> TableCell:
    return TableCell(f"{100 * share:g} %", value=share)


def millions(count: float, added: str = "") -> TableCell:
    """Return a number of parameters in millions; a dash if unknown."""
    return TableCell(f"{count / 1e6:.2f}M", added, count) if count else TableCell(NONE)


def score_cell(values: Sequence[float], metric: str, *details: str, mark: str = "") -> TableCell:
    """Return a metric over seeds: mean, deviation, number of seeds, and details."""
    if not values:
        return TableCell(NONE, " · ".join(filter(None, details)))
    scale, digits, several = scale_of(metric), digits_of(metric), len(values) > 1
    mean = scale * statistics.fmean(values)
    text = f"{mean:.{digits}f}"
    text += f" ± {scale * deviation(values):.{digits}f}" if several else ""
    counted = f"{len(values)} seed{'s' * several}"
    return TableCell(text, " · ".join(filter(None, (counted, *details))), mean, mark)


def with_best(rows: list[list[TableCell]], column: int, metric: str) -> None:
    """Mark the best cell of a column, in place, if there are several values."""
    values = [row[column].value for row in rows if not math.isnan(row[column].value)]
    if len(values) > 1:
        best = best_of(metric)(values)
        for row in rows:
            is_best = math.isclose(row[column].value, best, rel_tol=_ROUNDING)
            row[column] = replace(row[column], is_best=is_best)


def paper_text(figure: float) -> str:
    """Return a figure of a paper with its own one or two digits; empty for nan."""
    digits = 1 if math.isclose(figure, round(figure, 1)) else 2
    return "" if math.isnan(figure) else f"paper {figure:.{digits}f}"


def p_text(value: float) -> str:
    """Return a p-value; empty for nan."""
    if math.isnan(value):
        return ""
    return "p < 0.001" if value < 0.001 else f"p {value:.3f}"


def p_cell(value: float, remark: str = "") -> TableCell:
    """Return a p-value, or a remark in its place."""
    return TableCell(p_text(value) or remark or NONE, value=value)


def mark_of(p_value: float, difference: float, metric: str) -> str:
    """Return an arrow for a significant difference: up for better."""
    if not p_value < SIGNIFICANT or not difference:
        return ""
    return UP if (difference > 0) == (best_of(metric) is max) else DOWN


def table_lines(table: ResultTable) -> list[str]:
    """Return the lines of a table in Markdown, without title and caption."""
    rules = ("---:" if is_number else "---" for is_number in table.numeric)
    rows = (table.headings, *table.rows)
    first, *others = (f"| {' | '.join(map(_shown, row))} |" for row in rows)
    return [first, f"|{'|'.join(rules)}|", *others]


def _shown(cell: TableCell) -> str:
    text, below = as_markdown_cell(cell.text), as_markdown_cell(cell.detail)
    text = f"**{text}**" if cell.is_best else text
    return " ".join(filter(None, (text, cell.mark, f"({below})" if below else "")))


def format_table(table: ResultTable) -> str:
    """Return a table in Markdown, with title, caption and notes."""
    notes = [f"- {note}" for note in table.notes]
    below = [table.caption, *([""] if notes else []), *notes] if table.caption else notes
    return "\n".join([f"**{table.title}**", "", *table_lines(table), "", *below]) + "\n"
