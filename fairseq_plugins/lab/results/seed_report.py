"""Gains of systems over a baseline, over seeds and over examples: the report of `compare`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ...errors import InputError
from ...messages import named
from .choice import plain_of, seed_scores, shown_of
from .compare import FEWEST, Significance, against
from .frame import Shown, read_runs
from .remarks import devices_of, remarked
from .setting_tables import settings_table
from .tables import (
    NONE,
    ResultTable,
    TableCell,
    digits_of,
    format_table,
    headings,
    p_cell,
    scale_of,
    score_cell,
    signed,
)
from .verdicts import named_title, on_split, sentences

_HEADS = ("system", "difference", "paired t-test", "bootstrap", "decides", "80 % power")
_BRIEF_HEADS = ("system", "difference", "over seeds", "over both", "p", "detectable")
# how to read the cells of a comparison, with what the bootstrap was drawn from
_READING = (
    "mean ± standard error over the seeds that both have, how many these are, and on how many of "
    "them it is higher / lower; each system at its chosen setting, on every share of the training "
    "data that both were trained on (named where it is not all of it). Both tests with 95 % "
    "intervals, the bootstrap over seeds and examples{}, of one seed over examples alone. Decides: "
    "the larger p of both (without answers the t-test's), by Holm for all rows of at least "
    f"{FEWEST} seeds. 80 % power: a difference that would have been seen four times in "
    "five, were it the surest of all rows. Tests are two-sided, intervals of each row alone."
)
_NO_COUNTS = "No row has counts of examples of {}: compared over seeds alone."
_NO_BASELINE = "No system is known as the plain one, so none is compared: give --baseline {}."
_UNEVEN = "Systems have {} to {} settings, each shown at its best of them: more look better."
_NOT_ALL = "Not every run has been evaluated on {}: {} is compared."


class SeedReport(NamedTuple):
    """The content of a report."""

    settings: ResultTable  # of all systems
    baseline: str  # system to compare with; empty for no comparison
    comparisons: pd.DataFrame  # of all systems that share a seed with the baseline; see `against`
    runs: pd.DataFrame  # all runs
    # system -> the score of each seed at its chosen setting, the baseline first
    scores: dict[str, list[float]]
    shown: Shown  # the metric
    remarks: Sequence[str] = ()  # about all comparisons


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
        metric: empty for the usual one; see `choice.shown_of`.
        baseline: empty for the usual one; see `choice.plain_of`.
        systems: to compare; empty for all.
        samples, seed: of the bootstrap.
    """
    found = read_runs(root)
    known = set(found.system)
    for flag, name in (("--baseline", baseline), *(("--systems", name) for name in systems)):
        if name and name not in known:
            raise InputError(f"{flag} {name!r}: choices are {named(sorted(known))}")
    baseline = baseline or plain_of(found)
    if systems:
        found = found[found.system.isin([baseline, *systems])]
    shown, drawn = shown_of(found, metric), Significance(samples=samples, seed=seed)
    report = SeedReport(
        settings_table(on_split(shown), found, [shown]),
        baseline,
        against(found, shown, baseline, drawn),
        found,
        seed_scores(found, shown, baseline),
        shown,
    )
    return report._replace(remarks=list(_remarks(report, Path(root).is_file())))


def _remarks(report: SeedReport, is_rows: bool) -> Iterator[str]:
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
    """Return the report in Markdown."""
    texts, compared = [format_table(remarked(report.settings, report.runs))], report.comparisons
    if len(compared):
        table = compared_table(f"Against {report.baseline}", report.shown, compared)
        texts.append(format_table(remarked(table, report.runs)))
        told = sentences(compared, report.baseline, report.shown)
        texts.append("".join(f"- {line}\n" for line in told))
    return "\n".join([*texts, *(f"{remark}\n" for remark in report.remarks)])


def compared_table(title: str, shown: Shown, comparisons: pd.DataFrame) -> ResultTable:
    """Return the table of comparisons with a baseline (`against`)."""
    found = comparisons[["examples", "samples"]].dropna().to_numpy()[:1]
    drawn = "".join(f" ({one:,} examples, {samples:,} samples)" for one, samples in found)
    rows = [_compared(one, shown.metric) for one in comparisons.itertuples()]
    caption = f"Difference of {on_split(shown)}: {_READING.format(drawn)}"
    return ResultTable(title, headings(*_HEADS), rows, caption, is_folded=True)


def _compared(one: Any, metric: str) -> list[TableCell]:
    seeds = f"{one.n} seed{'s' * (one.n > 1)} · {one.wins} / {one.losses}"
    difference, over_seeds, over_both, power = _cells(one, metric)
    return [
        TableCell(one.title),
        replace(difference, detail=seeds),
        replace(p_cell(one.t_p, one.untested), detail=over_seeds),
        replace(p_cell(one.bootstrap_p), detail=over_both),
        p_cell(one.corrected_p, one.untested),
        power,
    ]


def brief_table(title: str, report: SeedReport, names: Mapping[str, str]) -> ResultTable:
    """Return the comparisons of a report without the p-values of each test.

    Its caption has the baseline's score on every share, the metric, its split and its examples.

    Args:
        title: of the table.
        names: shown names of systems; see `named_title`.
    """
    compared, shown = report.comparisons, report.shown
    rows = [_in_brief(one, shown.metric, names) for one in compared.itertuples()]
    own = {title: one for title, one in report.scores.items() if title not in {*compared.title}}
    scores = (
        f"{named_title(title, names)} {score_cell(one, shown.metric).text}"
        for title, one in own.items()
    )
    examples = "".join(f", {one:,} examples" for one in compared.examples.dropna()[:1])
    caption = f"{'; '.join(scores)}: {on_split(shown)}{examples}."
    return ResultTable(title, headings(*_BRIEF_HEADS), rows, caption)


def _in_brief(one: Any, metric: str, names: Mapping[str, str]) -> list[TableCell]:
    difference, over_seeds, over_both, power = _cells(one, metric)
    p_value = p_cell(one.corrected_p, one.untested)
    return [
        TableCell(named_title(one.title, names)),
        replace(difference, detail=f"{one.n}, {one.wins}/{one.losses}"),
        TableCell(over_seeds or NONE),
        TableCell(over_both or NONE),
        replace(p_value, text=p_value.text.removeprefix("p ")),
        power,
    ]


def _cells(one: Any, metric: str) -> tuple[TableCell, str, str, TableCell]:
    """Return difference, intervals of the t-test and of the bootstrap, and 80 % power."""
    scale, digits = scale_of(metric), digits_of(metric)
    difference, error, power = (scale * x for x in (one.difference, one.se, one.detectable))
    more = "" if math.isnan(error) else f" ± {error:.{digits}f}"
    over_seeds, over_both = (
        "" if math.isnan(ends[0]) else " to ".join(signed(scale * end, digits) for end in ends)
        for ends in ((one.t_low, one.t_high), (one.low, one.high))
    )
    return (
        TableCell(f"{signed(difference, digits)}{more}", value=difference),
        over_seeds,
        over_both,
        TableCell(NONE if math.isnan(power) else f"{power:.{digits}f}", value=power),
    )
