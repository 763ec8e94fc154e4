"""A page of claims: statements of papers, runs, every seed as a dot, and conclusions.

All figures, tables and their sentences come from kept rows; the other texts come from the file of
claims.
"""

import logging
import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import InputError
from ...evaluation.metrics import LOWER_IS_BETTER
from ...evaluation.templates import render
from ...files import write_text
from ...messages import quoted
from ..figures.drawing import save
from ..figures.seeds import plot_seeds
from ..results.compare import FEWEST
from ..results.frame import read_runs
from ..results.layouts import SIGNIFICANT
from ..results.origins import made_of_rows
from ..results.seed_report import SeedReport, brief_table, make_report
from ..results.tables import format_table
from ..results.verdicts import named_title, sentences
from ..safe_files import refuse_links
from .claims_file import Compared, read_claims
from .page import PAGES

logger = logging.getLogger(__name__)

_OUTCOMES = ("better", "worse", "without a significant difference", "with too little to test")


class _Shown(NamedTuple):
    """A comparison as shown; only its title while its rows are missing."""

    title: str
    picture: Path
    report: SeedReport | None = None
    table: str = ""
    told: Sequence[str] = ()
    command: str = ""
    made_of: str = ""  # name and SHA-256 of its rows


def write_page(file: str | Path, page: str | Path) -> list[Path]:
    """Write the page of a file of claims and its pictures.

    Args:
        file: of claims; see `claims_file`.
        page: Markdown file; its pictures go to a folder beside it with the same name.

    Returns:
        All written files, the page first.
    """
    file, page = Path(file), Path(page)
    if page.suffix != ".md":
        raise InputError(f"{page}: a page is a file .md")
    refuse_links(page.parent, page.with_suffix(""))
    claims, chapters, drawn = read_claims(file), [], []
    for number, claim in enumerate(claims.claims, 1):
        pictures = (page.with_suffix("") / f"claim{number}-{k}.png" for k in count(1))
        asked = zip(claim.comparisons, pictures)
        shown = [_shown(file, one, claims.names, picture) for one, picture in asked]
        chapters.append((claim, shown, _verdict(shown)))
    text = render("claims.md", PAGES, claims=claims, chapters=chapters, fewest=FEWEST)
    for one in (one for _, shown, _ in chapters for one in shown):
        if one.report:
            scores = {named_title(name, claims.names): v for name, v in one.report.scores.items()}
            drawn += save(plot_seeds(scores, one.report.shown), one.picture, ["png"], one.made_of)
    write_text(page, text)
    return [page, *drawn]


def _shown(file: Path, asked: Compared, names: Mapping[str, str], picture: Path) -> _Shown:
    rows = file.parent / asked.rows
    if not rows.is_file():
        logger.warning("comparison %s: no file %s yet", quoted(asked.title), rows)
        return _Shown(asked.title, picture)
    try:
        return _compared(asked, rows, names, _Shown(asked.title, picture))
    except InputError as error:
        raise InputError(f"{file}: comparison {quoted(asked.title)}: {error}") from None


def _compared(asked: Compared, rows: Path, names: Mapping[str, str], nothing: _Shown) -> _Shown:
    """Compare the systems that have rows; a missing system with a name is skipped."""
    known, baseline = set(read_runs(rows).system), asked.baseline
    systems = [name for name in asked.systems if name in known or name not in names]
    if (asked.systems and not systems) or baseline in {*names} - known:
        return nothing
    report = make_report(rows, metric=asked.metric, baseline=baseline, systems=systems)
    certain = report.comparisons[report.comparisons.corrected_p < SIGNIFICANT]
    told = [*sentences(certain, baseline, report.shown, names), *report.remarks]
    if later := sorted({*asked.systems} - {*systems}):
        told.append(f"Not run yet: {', '.join(named_title(name, names) for name in later)}.")
    command = ["fairseq-plugins", "results", "compare", rows.as_posix(), "--baseline", baseline]
    command += [*["--systems", *systems] * bool(systems), *["--metric"] * bool(asked.metric)]
    command += [*[asked.metric] * bool(asked.metric), "--output", "seeds"]
    table = format_table(brief_table(asked.title, report, names))
    shown = {"report": report, "table": table, "told": told, "command": shlex.join(command)}
    return nothing._replace(**shown, made_of=made_of_rows(rows))


def _verdict(shown: Sequence[_Shown]) -> str:
    kinds = Counter(
        _outcome(row, one.report.shown.metric)
        for one in shown
        if one.report
        for row in one.report.comparisons.itertuples()
    )
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in _OUTCOMES if kinds[kind])
    told = [f"Of {kinds.total()} comparisons: {counts}."] * bool(kinds)
    if waiting := [one.title for one in shown if one.report is None]:
        told.append(f"Not run yet: {'; '.join(waiting)}.")
    return " ".join(told)


def _outcome(row: Any, metric: str) -> str:
    if math.isnan(row.corrected_p):
        return _OUTCOMES[3]
    if row.corrected_p >= SIGNIFICANT:
        return _OUTCOMES[2]
    return _OUTCOMES[(row.difference > 0) == (metric in LOWER_IS_BETTER)]
