"""A page of claims: what papers say, what was run, every seed as a dot, what may be concluded.

All figures, tables and sentences about them are made of kept rows; the texts are those of the file
of claims.
"""

import logging
import math
import re
import shlex
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from ...evaluation.metrics import deviation
from ...files import write_text
from ...messages import quoted
from ..figures.drawing import save
from ..figures.seeds import plot_seeds
from ..plan.claims_file import Claim, ClaimsFile, Compared, read_claims
from ..results.compare import interval
from ..results.frame import read_runs
from ..results.seed_report import SeedReport, make_report
from ..results.tables import (
    NONE,
    Heading,
    ResultTable,
    TableCell,
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
_PICTURE = re.compile(r"claim\d+-\d+\.png")
_OF_SEEDS = "paired t-test over seeds"
_OF_EXAMPLES = "bootstrap over examples alone (one seed has no p)"


class _Result(NamedTuple):
    """A comparison with what its rows tell; no report where there is nothing to compare yet."""

    asked: Compared
    rows: Path
    picture: Path
    systems: list[str] = []  # that are compared with the baseline; empty for all
    waiting: list[str] = []  # those that have no rows yet
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
    claims = read_claims(file)
    shown = _results(file, claims, page.with_suffix(""))
    lines = [f"# {claims.title}", "", claims.intro.strip(), ""]
    for claim, own in zip(claims.claims, shown):
        lines += _chapter(claims.names, claim, own)
    pictures = [(one, one.report) for own in shown for one in own if one.report]
    for one, report in pictures:
        scores = {_called(claims.names, name): v for name, v in report.scores.items()}
        save(plot_seeds(scores, report.shown), one.picture, ["png"])
    write_text(page, "\n".join(lines).rstrip() + "\n")
    drawn = [one.picture for one, _ in pictures]
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
        shown[n].append(_result(file, claims.names, one, picture))
    return shown


def _result(file: Path, names: Mapping[str, str], one: Compared, picture: Path) -> _Result:
    """Compare what is asked for, as far as its rows are there: systems with a name may wait."""
    found = _Result(one, file.parent / one.rows, picture)
    if not found.rows.is_file():
        logger.warning("%s: comparison %s: no file %s yet", file, quoted(one.title), found.rows)
        return found
    try:
        known = set(read_runs(found.rows).system)
        systems = [name for name in one.systems if name in known or name not in names]
        found = found._replace(systems=systems, waiting=sorted({*one.systems} - {*systems}))
        if (one.systems and not systems) or one.baseline in {*names} - known:
            return found
        asked = {"metric": one.metric, "baseline": one.baseline, "systems": systems}
        return found._replace(report=make_report(found.rows, **asked))
    except ValueError as error:
        raise ValueError(f"{file}: comparison {quoted(one.title)}: {error}") from None


def _called(names: Mapping[str, str], title: str) -> str:
    """Return what a system is called; a share of the data or an option may stand behind it."""
    system, space, rest = title.partition(" ")
    return names.get(system, system) + space + rest


def _chapter(names: Mapping[str, str], claim: Claim, shown: Sequence[_Result]) -> Iterator[str]:
    """Yield the lines of a claim."""
    yield from (f"## {claim.title}", "", f"**Claim.** {claim.claim.strip()}", "")
    yield from (f"**What was run.** {claim.ran.strip()}", "")
    for one in shown:
        yield from _compared(names, one)
    yield from (f"**Verdict.** {claim.verdict.strip()}", "")
    yield from (f"**What this does not say.** {claim.limits.strip()}", "")


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
    command = [
        "fairseq-plugins",
        "results",
        "compare",
        one.rows.as_posix(),
        "--baseline",
        asked.baseline,
    ]
    command += ["--systems", *one.systems] * bool(one.systems)
    command += ["--metric", asked.metric] * bool(asked.metric)
    yield from ("", "```bash", shlex.join([*command, "--output", "seeds"]), "```", "")


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
