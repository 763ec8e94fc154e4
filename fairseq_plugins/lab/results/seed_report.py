"""What systems gain over a baseline, over seeds and over examples: the report of `compare`."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ...messages import named
from .choice import chosen_by_share, plain_of, seed_scores, shown_of
from .compare import FEWEST, Significance, against
from .frame import Shown, read_runs
from .remarks import devices_of, remarked
from .setting_tables import settings_table
from .tables import (
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
    to_csv,
    words,
)
from .verdicts import on_split, sentences

_COMPARED = ("seeds of both", "difference", "paired t-test", "95 % over seeds", "higher / lower")
_COMPARED += ("95 % over both", "bootstrap", "decides", "80 % power")
_CAPTION = (
    "Difference of {}: mean ± standard error over the seeds that both have, each system at its "
    "chosen setting, on every share of the training data that both were trained on (named where it "
    "is not all of it). 95 % over seeds: of the paired t-test. Over both, and bootstrap: over "
    "seeds and examples{}; of one seed over examples alone. Decides: the larger p of both tests "
    f"(without answers the t-test's), by Holm for all rows of at least {FEWEST} seeds. 80 "
    "% power: a difference that would have been seen four times in "
    "five, were it the surest of all rows. Tests are two-sided, intervals of each row alone."
)
_NO_COUNTS = "No row has counts of examples of {}: compared over seeds alone."
_NO_BASELINE = "No system is known as the plain one, so none is compared: give --baseline {}."
_UNEVEN = "Systems have {} to {} settings, each shown at its best of them: more look better."
_NOT_ALL = "Not every run has been evaluated on {}: {} is compared."


class SeedReport(NamedTuple):
    """Everything that is shown.

    Args:
        settings: of all systems.
        baseline: system that the others are compared with; empty without comparison.
        comparisons: of all others with it that have a seed in common with it; see `against`.
        runs: all runs.
        scores: system -> the score of each seed at its chosen setting, the baseline first.
        shown: what everything is about.
        remarks: what is said of all that is compared.
    """

    settings: ResultTable
    baseline: str
    comparisons: pd.DataFrame
    runs: pd.DataFrame
    scores: dict[str, list[float]]
    shown: Shown
    remarks: Sequence[str] = ()


def make_report(
    root: str | Path,
    *,
    metric: str = "",
    baseline: str = "",
    systems: Sequence[str] = (),
    samples: int = 1000,
    seed: int = 12345,
) -> SeedReport:
    """Read runs and compare their systems.

    Args:
        root: folder of the runs, or file of rows.
        metric: what to report; empty for the usual; see `choice.shown_of`.
        baseline: system to compare with; empty for the usual one; see `choice.plain_of`.
        systems: the others; empty for all.
        samples, seed: of the bootstrap.

    Raises:
        FileNotFoundError: there is no finished run.
        ValueError: an unknown metric or system, or runs that cannot be compared.
    """
    found = read_runs(root)
    known = set(found.system)
    for flag, name in (("--baseline", baseline), *(("--systems", name) for name in systems)):
        if name and name not in known:
            raise ValueError(f"{flag} {name!r}: choices are {named(sorted(known))}")
    baseline = baseline or plain_of(found)
    if systems:
        found = found[found.system.isin([baseline, *systems])]
    shown, drawn = shown_of(found, metric), Significance(samples=samples, seed=seed)
    chosen = {one.setting.iloc[0] for one in chosen_by_share(found, shown).values()}
    report = SeedReport(
        settings_table(on_split(shown), found, [shown], chosen),
        baseline,
        against(found, shown, baseline, drawn),
        found,
        seed_scores(found, shown, baseline),
        shown,
    )
    return report._replace(remarks=list(_remarks(report, Path(root).is_file())))


def _remarks(report: SeedReport, is_rows: bool) -> Iterator[str]:
    """Say what a reader might miss."""
    compared, shown = report.comparisons, report.shown
    untested = len(compared) and compared.examples.isna().all()
    if is_rows and untested and not any(report.runs.trial):  # trials are never tested
        yield _NO_COUNTS.format(on_split(shown))
    systems = sorted({*report.runs.system})
    if not report.baseline and len(systems) > 1:
        yield _NO_BASELINE.format(" | ".join(systems))
    is_validation = {*report.runs.validation} == {shown.split}
    if is_validation and (others := sorted({*report.runs.evaluated} - {""})):
        yield _NOT_ALL.format(named(others), on_split(shown))
    yield from devices_of(report.runs)
    tried = report.runs.groupby("system").setting.nunique()
    if is_validation and tried.nunique() > 1:
        yield _UNEVEN.format(tried.min(), tried.max())
    apart = [one for one in systems if one not in {report.baseline, *compared.system}]
    if apart and report.baseline:
        yield f"No seed in common with {report.baseline}: {', '.join(apart)}."


def format_markdown(report: SeedReport) -> str:
    """Lay the report out in Markdown."""
    texts, compared = [format_table(remarked(report.settings, report.runs))], report.comparisons
    if len(compared):
        table = compared_table(f"Against {report.baseline}", report.shown, compared)
        texts.append(format_table(remarked(table, report.runs)))
        told = sentences(compared, report.baseline, report.shown, {})
        texts.append("".join(f"- {line}\n" for line in told))
    return "\n".join([*texts, *(f"{remark}\n" for remark in report.remarks)])


def csv_files(report: SeedReport) -> dict[str, str]:
    """Return name -> text of the same as CSV; cells without a value are empty."""
    compared = report.comparisons.drop(columns=["examples", "samples"])
    return {"settings.csv": to_csv(report.settings.scores), "comparisons.csv": to_csv(compared)}


def compared_table(title: str, shown: Shown, comparisons: pd.DataFrame) -> ResultTable:
    """Lay out what systems are compared with a baseline, over seeds and over examples.

    Args:
        title: of the table.
        shown: what is compared.
        comparisons: of each system; see `against`.
    """
    found = comparisons[["examples", "samples"]].dropna().to_numpy()[:1]
    drawn = "".join(f" ({one:,} examples, {samples:,} samples)" for one, samples in found)
    rows = [list(_compared(one, shown.metric)) for one in comparisons.itertuples()]
    caption = _CAPTION.format(on_split(shown), drawn)
    headings = [*words("system"), *map(Heading, _COMPARED)]
    return ResultTable(title, headings, rows, caption, is_folded=True)


def _compared(one: Any, metric: str) -> Iterator[TableCell]:
    """Yield the cells of a comparison."""
    scale, digits = scale_of(metric), digits_of(metric)
    difference, error, power = (scale * x for x in (one.difference, one.se, one.detectable))
    more = "" if math.isnan(error) else f" ± {error:.{digits}f}"
    yield TableCell(one.title)
    yield number_cell(one.n)
    yield TableCell(f"{signed(difference, digits)}{more}", value=difference)
    yield p_cell(one.t_p, one.untested)
    yield _interval(scale * one.t_low, scale * one.t_high, digits)
    yield TableCell(f"{one.wins} / {one.losses}", value=one.wins)
    yield _interval(scale * one.low, scale * one.high, digits)
    yield p_cell(one.bootstrap_p)
    yield p_cell(one.corrected_p, one.untested)
    yield TableCell(NONE if math.isnan(power) else f"{power:.{digits}f}", value=power)


def _interval(low: float, high: float, digits: int) -> TableCell:
    """Show from where to where something reaches, or a dash."""
    text = f"{signed(low, digits)} to {signed(high, digits)}"
    return TableCell(NONE if math.isnan(low) else text, value=low)
