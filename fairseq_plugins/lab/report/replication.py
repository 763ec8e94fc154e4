"""A page of claims: what papers say, what was run, every seed as a dot, what may be concluded.

All figures, tables and sentences about them are made of kept rows; the texts are those of the file
of claims.
"""

import logging
import math
import re
import shlex
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from ...evaluation.metrics import LOWER_IS_BETTER, deviation
from ...files import write_text
from ...messages import quoted
from ..figures.drawing import save
from ..figures.seeds import plot_seeds
from ..plan.claims_file import Claim, ClaimsFile, Compared, read_claims
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
    signed,
    words,
)
from ..results.verdicts import on_split, sentences
from ..safe_files import refuse_links

logger = logging.getLogger(__name__)

_HEADS = ("seeds", "score", "difference", "95 %", "p", "80 % power")
_CAPTION = (
    "Score: {}, mean ± standard deviation over seeds. Difference: the row less the first row, over "
    "the seeds that both have. 95 % (of each row alone) and p (raised by Holm's rule for several "
    "rows): {}, two-sided. 80 % power: a difference that so many seeds show four times in "
    "five, if its p is the smallest of the table. With few seeds these are rough guesses."
)
_BOTH = (
    "the outer ends and the larger p-value of two tests, the paired t-test over seeds and the "
    "multi-bootstrap over seeds and examples"
)
_OUTCOMES = ("better", "worse", "without a significant difference", "with too little to test")
_PICTURE = re.compile(r"claim\d+-\d+\.png")
_OF_SEEDS = "paired t-test over seeds"
_OF_EXAMPLES = "bootstrap over examples alone (one seed has no p)"


class _Result(NamedTuple):
    """A comparison with what its rows tell; no report where there is nothing to compare yet."""

    asked: Compared
    rows: Path
    picture: Path
    systems: Sequence[str] = ()  # that are compared with the baseline; empty for all
    waiting: Sequence[str] = ()  # those that have no rows yet
    report: SeedReport | None = None


def write_page(file: str | Path, page: str | Path) -> list[Path]:
    """Write the page of a file of claims and its pictures.

    Args:
        file: of claims; see `plan.claims_file`.
        page: Markdown file; pictures go to a folder beside it that is called as it is. Those of an
            earlier page of this file that are no longer shown are removed.

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
    claims, lines, drawn = read_claims(file), [], []
    shown = _results(file, claims, page.with_suffix(""))
    for claim, own in zip(claims.claims, shown):
        lines += _chapter(claims.names, claim, own)
    reports = ((one.picture, one.report) for own in shown for one in own if one.report)
    for picture, report in reports:
        scores = {_called(claims.names, name): own for name, own in report.scores.items()}
        drawn += save(plot_seeds(scores, report.shown), picture, ["png"])
    text = "\n".join([f"# {claims.title}", "", claims.intro.strip(), "", *lines])
    write_text(page, text.rstrip() + "\n")
    for old in {*page.with_suffix("").glob("claim*.png")} - {*drawn}:
        if _PICTURE.fullmatch(old.name) and old.is_file():
            old.unlink()
    return [page, *drawn]


def _results(file: Path, claims: ClaimsFile, pictures: Path) -> list[list[_Result]]:
    """Make every comparison, claim by claim; in a terminal a bar shows how far it is."""
    asked = [(n, one) for n, claim in enumerate(claims.claims) for one in claim.comparisons]
    shown: list[list[_Result]] = [[] for _ in claims.claims]
    for n, one in tqdm(asked, desc="compare", unit=" comparisons", disable=None):
        picture = pictures / f"claim{n + 1}-{len(shown[n]) + 1}.png"
        try:
            shown[n].append(_result(_Result(one, file.parent / one.rows, picture), claims.names))
        except ValueError as error:
            raise ValueError(f"{file}: comparison {quoted(one.title)}: {error}") from None
    return shown


def _result(found: _Result, names: Mapping[str, str]) -> _Result:
    """Compare what is asked for, as far as its rows are there: systems with a name may wait."""
    one = found.asked
    if not found.rows.is_file():
        logger.warning("comparison %s: no file %s yet", quoted(one.title), found.rows)
        return found
    known = set(read_runs(found.rows).system)
    systems = [name for name in one.systems if name in known or name not in names]
    found = found._replace(systems=systems, waiting=sorted({*one.systems} - {*systems}))
    if (one.systems and not systems) or one.baseline in {*names} - known:
        return found
    asked = {"metric": one.metric, "baseline": one.baseline, "systems": systems}
    return found._replace(report=make_report(found.rows, **asked))


def _called(names: Mapping[str, str], title: str) -> str:
    """Return what a system is called; a share of the data or an option may stand behind it."""
    system, space, rest = title.partition(" ")
    return names.get(system, system) + space + rest


def _chapter(names: Mapping[str, str], claim: Claim, shown: Sequence[_Result]) -> Iterator[str]:
    """Yield the lines of a claim."""
    yield from (f"## {claim.title}", "", f"**Claim.** {claim.claim.strip()}", "")
    yield from (f"**Found.** {' '.join(_verdict(names, shown))}", "")
    yield from (f"**What was run.** {claim.ran.strip()}", "")
    for one in shown:
        yield from _compared(names, one)
    yield from (f"**What this does not say.** {claim.limits.strip()}", "")


def _verdict(names: Mapping[str, str], shown: Sequence[_Result]) -> Iterator[str]:
    """Say by rule what the comparisons of a claim come to: how many tell what, and the largest."""
    kinds, sizes = Counter(), {}
    for title, report in ((one.asked.title, one.report) for one in shown if one.report):
        metric, other = report.shown.metric, _called(names, report.baseline)
        for row in report.comparisons.itertuples():
            kinds[_outcome(row, metric)] += 1
            difference, ends, p, _ = (cell.text for cell in _difference(row, metric))
            told = f"{_called(names, row.title)} less {other}, {difference} of {called(metric)}"
            size = abs(scale_of(metric) * row.difference)
            sizes[f"{told} ({title}: 95 % {ends}, {p})"] = size if math.isfinite(size) else -1.0
    if sizes:
        counts = ", ".join(f"{kinds[kind]} {kind}" for kind in _OUTCOMES if kinds[kind])
        yield f"Of {len(sizes)} comparisons with the first row of a table: {counts}."
        yield f"The largest difference: {max(sizes, key=sizes.__getitem__)}."
    if waiting := [one.asked.title for one in shown if one.report is None]:
        yield f"Not run yet: {'; '.join(waiting)}."


def _outcome(row: Any, metric: str) -> str:
    """Return which of `_OUTCOMES` a comparison tells."""
    if math.isnan(row.corrected_p):
        return _OUTCOMES[3]
    if row.corrected_p >= SIGNIFICANT:
        return _OUTCOMES[2]
    return _OUTCOMES[(row.difference > 0) == (metric in LOWER_IS_BETTER)]


def _compared(names: Mapping[str, str], one: _Result) -> Iterator[str]:
    """Yield the lines of a comparison: picture, table, sentences, and what makes them again."""
    asked, report, picture = one.asked, one.report, one.picture
    if report is None:
        yield from (f"**{asked.title}**: not run yet.", "")
        return
    yield from (f"![{asked.title}: a dot a seed]({picture.parent.name}/{picture.name})", "")
    yield format_table(_table(names, asked, report))
    told = sentences(report.comparisons, report.baseline, report.shown, names)
    later = ", ".join(_called(names, name) for name in one.waiting)
    told = [*told, *report.remarks, *[f"Not run yet: {later}."] * bool(later)]
    yield from (f"- {line}" for line in told)
    command = ["fairseq-plugins", "results", "compare", one.rows.as_posix()]
    command += ["--baseline", asked.baseline, *["--systems", *one.systems] * bool(one.systems)]
    command += [*["--metric", asked.metric] * bool(asked.metric), "--output", "seeds"]
    yield from ("", "```bash", shlex.join(command), "```", "")


def _table(names: Mapping[str, str], asked: Compared, report: SeedReport) -> ResultTable:
    """Lay a comparison out."""
    compared = {row.title: row for row in report.comparisons.itertuples()}
    rows, metric = [], report.shown.metric
    for title, scores in report.scores.items():
        values, digits = [scale_of(metric) * value for value in scores], digits_of(metric)
        text = f"{statistics.fmean(values):.{digits}f}"
        text += f" ± {deviation(values):.{digits}f}" if len(values) > 1 else ""
        row = compared.get(title)
        shared = f", {row.n} shared" if row and row.n < len(values) else ""
        count = TableCell(f"{len(values)}{shared}", value=len(values))
        cells = [TableCell(_called(names, title)), count, TableCell(text)]
        rows.append([*cells, *(_difference(row, metric) if row else ())])
    width = max(map(len, rows))
    rows = [[*cells, *[TableCell("")] * (width - len(cells))] for cells in rows]
    heads = _HEADS[: width - 1]
    caption = _CAPTION.format(on_split(report.shown), _tests(report.comparisons))
    return ResultTable(asked.title, [*words("system"), *map(Heading, heads)], rows, caption)


def _tests(compared: Any) -> str:
    """Say what the intervals and p-values of comparisons are of."""
    if compared.bootstrap_p.isna().all():
        return _OF_SEEDS
    return _OF_EXAMPLES if (compared.n == 1).all() else _BOTH


def _difference(row: Any, metric: str) -> Iterator[TableCell]:
    """Yield the cells of a comparison."""
    scale, digits = scale_of(metric), digits_of(metric)
    low, high = (scale * end for end in interval(row))
    yield TableCell(signed(scale * row.difference, digits), value=scale * row.difference)
    yield TableCell(NONE if math.isnan(low) else f"{signed(low, digits)} to {signed(high, digits)}")
    yield p_cell(row.corrected_p, row.untested)
    power = scale * row.detectable
    yield TableCell(NONE) if math.isnan(power) else number_cell(power, f"{{:.{digits}f}}")
