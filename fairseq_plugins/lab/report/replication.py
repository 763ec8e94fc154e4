"""A page of claims: what papers say, what was run, every seed as a dot, what may be concluded.

All figures, tables and sentences about them are made of kept rows; the texts are those of the file
of claims.
"""

import logging
import math
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ...evaluation.metrics import LOWER_IS_BETTER
from ...evaluation.templates import render
from ...files import write_text
from ...messages import quoted
from ..figures.drawing import save
from ..figures.seeds import plot_seeds
from ..plan.claims_file import Compared, read_claims
from ..results.compare import interval
from ..results.frame import read_runs
from ..results.layouts import SIGNIFICANT
from ..results.seed_report import SeedReport, make_report
from ..results.tables import (
    NONE,
    Heading,
    ResultTable,
    TableCell,
    called,
    digits_of,
    format_table,
    number_cell,
    p_cell,
    scale_of,
    score_cell,
    signed,
    words,
)
from ..results.verdicts import on_split, sentences
from ..safe_files import refuse_links
from .page import PAGES

logger = logging.getLogger(__name__)

_HEADS = ("seeds", "score", "difference", "95 %", "p", "80 % power")
_CAPTION = (
    "Score: {}, mean ± standard deviation over seeds. Difference: the row less the first row, over "
    "the seeds that both have. 95 % (of each row alone) and p (raised by Holm's rule for several "
    "rows): {}, two-sided. 80 % power: a difference that so many seeds show four times in "
    "five, if its p is the smallest of the table. With few seeds these are rough guesses."
)
_OUTCOMES = ("better", "worse", "without a significant difference", "with too little to test")
_TESTS = (
    "paired t-test over seeds",
    "bootstrap over examples alone (one seed has no p)",
    "the outer ends and the larger p-value of two tests, the paired t-test over seeds and the "
    "multi-bootstrap over seeds and examples",
)


class _Shown(NamedTuple):
    """A comparison as it is shown: its title alone where its rows are not there yet."""

    title: str
    picture: Path
    report: SeedReport | None = None
    table: str = ""
    told: Sequence[str] = ()
    command: str = ""


def write_page(file: str | Path, page: str | Path) -> list[Path]:
    """Write the page of a file of claims and its pictures.

    Args:
        file: of claims; see `plan.claims_file`.
        page: Markdown file; pictures go to a folder beside it that is called as it is.

    Returns:
        All files that were written, the page first.

    Raises:
        FileNotFoundError, ValueError: see `read_claims` and `make_report`; or a page that is no
            ``.md``, or whose pictures would go through a link. Nothing is written then.
    """
    file, page = Path(file), Path(page)
    if page.suffix != ".md":
        raise ValueError(f"{page}: a page is a file .md")
    refuse_links(page.parent, page.with_suffix(""))
    claims, chapters, drawn = read_claims(file), [], []
    for number, claim in enumerate(claims.claims, 1):
        pictures = (page.with_suffix("") / f"claim{number}-{k}.png" for k in count(1))
        asked = zip(claim.comparisons, pictures)
        shown = [_shown(file, one, claims.names, picture) for one, picture in asked]
        chapters.append((claim, shown, _verdict(claims.names, shown)))
    text = render("claims.md", PAGES, claims=claims, chapters=chapters)
    for one in (one for _, shown, _ in chapters for one in shown):
        if one.report:
            scores = {_called(claims.names, name): v for name, v in one.report.scores.items()}
            drawn += save(plot_seeds(scores, one.report.shown), one.picture, ["png"])
    write_text(page, text)
    return [page, *drawn]


def _shown(file: Path, asked: Compared, names: Mapping[str, str], picture: Path) -> _Shown:
    """Compare what is asked for, as far as its rows are there."""
    rows = file.parent / asked.rows
    if not rows.is_file():
        logger.warning("comparison %s: no file %s yet", quoted(asked.title), rows)
        return _Shown(asked.title, picture)
    try:
        return _compared(asked, rows, names, _Shown(asked.title, picture))
    except ValueError as error:
        raise ValueError(f"{file}: comparison {quoted(asked.title)}: {error}") from None


def _compared(asked: Compared, rows: Path, names: Mapping[str, str], nothing: _Shown) -> _Shown:
    """Compare the systems that have rows; others that have a name may wait."""
    known, baseline = set(read_runs(rows).system), asked.baseline
    systems = [name for name in asked.systems if name in known or name not in names]
    if (asked.systems and not systems) or baseline in {*names} - known:
        return nothing
    report = make_report(rows, metric=asked.metric, baseline=baseline, systems=systems)
    told = [*sentences(report.comparisons, baseline, report.shown, names), *report.remarks]
    if later := sorted({*asked.systems} - {*systems}):
        told.append(f"Not run yet: {', '.join(_called(names, name) for name in later)}.")
    command = ["fairseq-plugins", "results", "compare", rows.as_posix(), "--baseline", baseline]
    command += [*["--systems", *systems] * bool(systems), *["--metric"] * bool(asked.metric)]
    command += [*[asked.metric] * bool(asked.metric), "--output", "seeds"]
    table = format_table(_table(names, asked.title, report))
    return nothing._replace(report=report, table=table, told=told, command=shlex.join(command))


def _called(names: Mapping[str, str], title: str) -> str:
    """Return what a system is called; a share of the data or an option may stand behind it."""
    system, space, rest = title.partition(" ")
    return names.get(system, system) + space + rest


def _verdict(names: Mapping[str, str], shown: Sequence[_Shown]) -> str:
    """Say by rule what the comparisons of a claim come to: how many tell what, and the largest."""
    kinds, sizes, told = Counter(), {}, []
    for one, report in ((one, one.report) for one in shown if one.report):
        metric, other = report.shown.metric, _called(names, report.baseline)
        for row in report.comparisons.itertuples():
            kinds[_outcome(row, metric)] += 1
            difference, ends, p, _ = (cell.text for cell in _difference(row, metric))
            seen = f"{_called(names, row.title)} less {other}, {difference} of {called(metric)}"
            size = abs(scale_of(metric) * row.difference)
            sizes[f"{seen} ({one.title}: 95 % {ends}, {p})"] = size if size == size else -1.0
    if sizes:
        counts = ", ".join(f"{kinds[kind]} {kind}" for kind in _OUTCOMES if kinds[kind])
        told.append(f"Of {len(sizes)} comparisons with the first row of a table: {counts}.")
        told.append(f"The largest difference: {max(sizes, key=sizes.__getitem__)}.")
    if waiting := [one.title for one in shown if one.report is None]:
        told.append(f"Not run yet: {'; '.join(waiting)}.")
    return " ".join(told)


def _outcome(row: Any, metric: str) -> str:
    """Return which of `_OUTCOMES` a comparison tells."""
    if math.isnan(row.corrected_p):
        return _OUTCOMES[3]
    if row.corrected_p >= SIGNIFICANT:
        return _OUTCOMES[2]
    return _OUTCOMES[(row.difference > 0) == (metric in LOWER_IS_BETTER)]


def _table(names: Mapping[str, str], title: str, report: SeedReport) -> ResultTable:
    """Lay a comparison out."""
    found, metric, rows = report.comparisons, report.shown.metric, []
    compared = {row.title: row for row in found.itertuples()}
    for name, scores in report.scores.items():
        row, seeds = compared.get(name), len(scores)
        shared = f"{seeds}, {row.n} shared" if row and row.n < seeds else f"{seeds}"
        texts = [_called(names, name), shared, score_cell(scores, metric).text]
        cells = _difference(row, metric) if row else [TableCell("")] * 4
        rows.append([*map(TableCell, texts), *cells])
    is_single, without = (one.all() for one in (found.n == 1, found.bootstrap_p.isna()))
    tests = _TESTS[0 if without else 1 if is_single else 2]
    caption = _CAPTION.format(on_split(report.shown), tests)
    return ResultTable(title, [*words("system"), *map(Heading, _HEADS)], rows, caption)


def _difference(row: Any, metric: str) -> Iterator[TableCell]:
    """Yield the cells of a comparison."""
    scale, digits = scale_of(metric), digits_of(metric)
    low, high = (scale * end for end in interval(row))
    yield TableCell(signed(scale * row.difference, digits), value=scale * row.difference)
    yield TableCell(NONE if math.isnan(low) else f"{signed(low, digits)} to {signed(high, digits)}")
    yield p_cell(row.corrected_p, row.untested)
    power = scale * row.detectable
    yield TableCell(NONE) if math.isnan(power) else number_cell(power, f"{{:.{digits}f}}")
