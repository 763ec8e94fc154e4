"""Every setting of every system, which of them are chosen, and what systems gain over a baseline.

The table of settings on a page and in Markdown, and the report on seeds, which has its own with all
that is compared over seeds and over examples.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd

from ...evaluation.choices import SENTENCE_METRICS
from ...evaluation.metrics import deviation
from ...messages import named
from ..rows import Setting
from .choice import (
    best_of,
    chosen_by_share,
    chosen_finished,
    plain_of,
    seed_scores,
    shown_of,
)
from .compare import FEWEST, Significance, against
from .frame import Shown, read_runs
from .remarks import devices_of, remarked
from .tables import (
    NONE,
    Heading,
    ResultTable,
    TableCell,
    digits_of,
    format_table,
    millions,
    number_cell,
    p_cell,
    scale_of,
    score_cell,
    share_cell,
    signed,
    to_csv,
    with_best,
    words,
)
from .verdicts import on_split, sentences

FOLDED = 30  # rows from which a table is folded
_COLUMNS = "system choice lr epochs updates n mean deviation best last chosen".split()
_COMPARED = ("seeds of both", "difference", "paired t-test", "95 % over seeds", "higher / lower")
_COMPARED += ("95 % over both", "bootstrap", "decides", "80 % power")
_COMPARED_CAPTION = (
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
_CAPTION = (
    "Mean ± standard deviation over seeds; shares in %, BLEU and chrF in points. ✓: the system's "
    "best by {} ({}), among its settings with most seeds."
)


def shown_metrics(runs: pd.DataFrame) -> list[Shown]:
    """Return what there is to show of runs: the metric that chose, and those of the evaluation."""
    done = runs[runs.done.astype(bool)]
    if done.empty:
        return []
    first = done.iloc[0]
    found = [Shown(first.metric, first.validation)]
    for split in dict.fromkeys(filter(None, done.evaluated)):
        tried = [Shown(name, split) for name in (*SENTENCE_METRICS, first.metric)]
        there = [one for one in tried if _there(done, one)]
        found += [one for one in there if one.metric in SENTENCE_METRICS] or there
    return found


def settings_table(title: str, runs: pd.DataFrame, *, is_folded: bool = False) -> list[ResultTable]:
    """Return one line a setting, the chosen ones marked; no table before a run is finished.

    Args:
        title: of the table.
        runs: of one part.
        is_folded: whether it is folded though it is short.
    """
    done, shown = runs[runs.done.astype(bool)], shown_metrics(runs)
    groups = dict(iter(done.groupby("setting", sort=False)))
    if not groups:
        return []
    chosen = [chosen_finished(some).values() for _, some in runs.groupby("fraction")]
    best = {own.setting.iloc[0] for by_share in chosen for own in by_share}
    parted = bool((done.fraction != 1).any())
    choices = {tuple(name for name, _ in setting.choice) for setting in groups}
    names = choices.pop() if len(choices) == 1 else ()  # that all settings choose, and no others
    headings = [*words("system"), *map(Heading, names)]
    headings += map(Heading, ("learning rate", "length", *["data"] * parted))
    headings += [Heading(one.metric, one.split) for one in shown]
    headings += [Heading("parameters"), *words("chosen")]
    rows = [
        [
            *_setting_cells(setting, names, parted, group.trial.iloc[0]),
            *(score_cell(_there(group, one), one.metric) for one in shown),
            millions(group.parameters.iloc[0]),
            TableCell("✓" if setting in best else ""),
        ]
        for setting, group in groups.items()
    ]
    for place, one in enumerate(shown, start=len(headings) - len(shown) - 2):
        with_best(rows, place, one.metric)
    caption = _CAPTION.format(*shown[0]) + " Bold: best of the column." * (len(rows) > 1)
    folded = is_folded or len(rows) >= FOLDED
    return [remarked(ResultTable(title, headings, rows, caption, is_folded=folded), runs)]


def _there(runs: pd.DataFrame, shown: Shown) -> list[float]:
    """Return a metric of those runs that have it."""
    return [value for value in shown.found(runs) if value is not None]


def _setting_cells(
    setting: Setting, names: Sequence[str], parted: bool, mark: str
) -> list[TableCell]:
    """Return what a setting is; choices without a column stand below the system's name."""
    choice, share = dict(setting.choice), setting.fraction
    own = "" if names else ", ".join(f"{name} {value}" for name, value in setting.choice)
    cells = [
        TableCell(setting.system, ", ".join(filter(None, (own, mark)))),
        *(_value(choice[name]) for name in names),
    ]
    length = _length_cell(setting)
    return [*cells, _value(setting.learning_rate), length, *[share_cell(share)] * parted]


def _length_cell(trained: Any) -> TableCell:
    """Show how long a setting trains: its updates, or else its epochs."""
    if trained.updates:
        return number_cell(trained.updates, "{:,} updates")
    return number_cell(trained.epochs, f"{{}} epoch{'s' * (trained.epochs != 1)}")


def _value(value: Any) -> TableCell:
    """Show a value of an option."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return TableCell(NONE if value is None else str(value))
    text = f"{value:g}".replace("e-0", "e-")
    return TableCell(NONE if math.isnan(value) else text, value=float(value))


class SeedReport(NamedTuple):
    """Everything that the tables show.

    Args:
        settings: a row a setting, with its title and the columns of ``settings.csv``.
        baseline: system that the others are compared with; empty without comparison.
        comparisons: of all others with it that have a seed in common with it; see `against`.
        runs: all runs.
        scores: system -> the score of each seed at its chosen setting, the baseline first.
        shown: what everything is about.
        remarks: what is said of all that is compared.
    """

    settings: pd.DataFrame
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
        metric: what to report; empty for the usual; see `seeds.shown_of`.
        baseline: system to compare with; empty for the usual one; see `seeds.plain_of`.
        systems: the others; empty for all.
        samples, seed: of the bootstrap.

    Raises:
        FileNotFoundError: there is no finished run.
        ValueError: an unknown metric or system, or runs that cannot be compared.
    """
    is_rows = Path(root).is_file()
    found = read_runs(root)
    _check_names({"--baseline": [baseline] * bool(baseline), "--systems": systems}, found)
    baseline = baseline or plain_of(found)
    if systems:
        found = found[found.system.isin([baseline, *systems])]
    shown, drawn = shown_of(found, metric), Significance(samples=samples, seed=seed)
    settings, scores = _settings(found, shown), seed_scores(found, shown, baseline)
    compared = against(found, shown, baseline, drawn)
    report = SeedReport(settings, baseline, compared, found, scores, shown)
    return report._replace(remarks=list(_remarks(report, is_rows)))


def _check_names(names: Mapping[str, Sequence[str]], found: pd.DataFrame) -> None:
    """Refuse a system that has no run; flag -> systems."""
    known = set(found.system)
    for flag, name in ((flag, name) for flag, several in names.items() for name in several):
        if name not in known:
            raise ValueError(f"{flag} {name!r}: choices are {named(sorted(known))}")


def _remarks(report: SeedReport, is_rows: bool) -> Iterator[str]:
    """Say what a reader might miss."""
    compared, shown = report.comparisons, report.shown
    untested = len(compared) and compared.examples.isna().all()
    if is_rows and untested and not any(report.runs.trial):  # trials are never tested
        yield _NO_COUNTS.format(on_split(shown))
    if not report.baseline and len(names := sorted({*report.settings.system})) > 1:
        yield _NO_BASELINE.format(" | ".join(names))
    is_validation = {*report.runs.validation} == {shown.split}
    if is_validation and (others := sorted({*report.runs.evaluated} - {""})):
        yield _NOT_ALL.format(named(others), on_split(shown))
    yield from devices_of(report.runs)
    tried = report.settings.groupby("system").size()
    if is_validation and tried.nunique() > 1:
        yield _UNEVEN.format(tried.min(), tried.max())


def _settings(found: pd.DataFrame, shown: Shown) -> pd.DataFrame:
    """Return a row a setting; see `SeedReport`."""
    rows, shares = [], chosen_by_share(found, shown).values()
    chosen = {one.setting.iloc[0] for share in shares for one in share.values()}
    for setting, runs in found.groupby("setting", sort=False):
        scores, lasts = (
            shown.values(runs),
            [row.last.get(shown.metric, math.nan) for row in runs.row],
        )
        best = best_of(shown.metric)(filter(math.isfinite, scores), default=math.nan)
        values = [setting.title, setting.system, setting.choices, setting.learning_rate]
        values += [setting.epochs or None, setting.updates or None, len(scores), fmean(scores)]
        values += [deviation(scores) if len(scores) > 1 else None, best]
        values += [fmean(lasts) if shown.split == runs.validation.iloc[0] else math.nan]
        rows.append([*values, setting in chosen])
    return pd.DataFrame(rows, columns=["title", *_COLUMNS], dtype=object)


def format_markdown(report: SeedReport) -> str:
    """Lay the report out in Markdown."""
    tables, compared = [_settings_table(report)], report.comparisons
    if len(compared):
        title = f"Against {report.baseline}"
        tables.append(compared_table(title, report.shown, compared))
    tables = [remarked(table, report.runs) for table in tables]
    texts, known = list(map(format_table, tables)), {report.baseline, *compared.system}
    if len(compared):
        told = sentences(compared, report.baseline, report.shown, {})
        texts.append("".join(f"- {line}\n" for line in told))
    texts += [f"{remark}\n" for remark in report.remarks]
    apart = [one for one in dict.fromkeys(report.settings.system) if one not in known]
    if apart and report.baseline:
        texts.append(f"No seed in common with {report.baseline}: {', '.join(apart)}.\n")
    return "\n".join(texts)


def csv_files(report: SeedReport) -> dict[str, str]:
    """Return name -> text of the same as CSV; cells without a value are empty."""
    compared = report.comparisons.drop(columns=["examples", "samples", "level"])
    return {"settings.csv": to_csv(report.settings), "comparisons.csv": to_csv(compared)}


def _settings_table(report: SeedReport) -> ResultTable:
    """Lay all settings out."""
    metric, rows = report.shown.metric, []
    scale, digits = scale_of(metric), digits_of(metric)
    for one in report.settings.itertuples():
        error = f" ± {scale * one.deviation:.{digits}f}" if one.n > 1 else ""
        texts = [one.title + " *" * one.chosen, f"{one.lr:g}", _length_cell(one).text, str(one.n)]
        shown = (one.mean, error), (one.best, ""), (one.last, "")
        cells = [_number_or_none(scale * value, f"{{:.{digits}f}}{more}") for value, more in shown]
        rows.append([*map(TableCell, texts), *cells])
    heads = ("learning rate", "length", "n", metric, "best", "last")
    caption = (
        "Mean ± standard deviation over n seeds of the best checkpoint, the best seed, and the "
        "mean after the last update. * chosen setting."
    )
    counts = set(report.settings.n)
    if len(counts) > 1:
        caption += (
            f" Settings have {min(counts)} to {max(counts)} seeds: only those with most seeds of "
            "their system can be chosen. Finish the grid before you compare."
        )
    title = on_split(report.shown)
    return ResultTable(title, [*words("system"), *map(Heading, heads)], rows, caption)


def compared_table(title: str, shown: Shown, comparisons: pd.DataFrame) -> ResultTable:
    """Lay out what systems are compared with a baseline, over seeds and over examples.

    Args:
        title: of the table.
        shown: what is compared.
        comparisons: of each system; see `against`.
    """
    found = comparisons[["examples", "samples"]].dropna().to_numpy()[:1]
    drawn = "".join(f" ({one:,} examples, {samples:,} samples)" for one, samples in found)
    scale, digits = scale_of(shown.metric), digits_of(shown.metric)
    rows = [list(_compared(one, scale, digits)) for one in comparisons.itertuples()]
    caption = _COMPARED_CAPTION.format(on_split(shown), drawn)
    return ResultTable(
        title, [*words("system"), *map(Heading, _COMPARED)], rows, caption, is_folded=True
    )


def _compared(one: Any, scale: int, digits: int) -> Iterator[TableCell]:
    """Yield the cells of a comparison."""
    error = "" if math.isnan(one.se) else f" ± {scale * one.se:.{digits}f}"
    yield TableCell(one.title)
    yield number_cell(one.n)
    text = f"{signed(scale * one.difference, digits)}{error}"
    yield TableCell(text, value=scale * one.difference)
    yield p_cell(one.t_p, one.untested)
    yield _interval(scale * one.t_low, scale * one.t_high, digits)
    yield TableCell(f"{one.wins} / {one.losses}", value=one.wins)
    yield _interval(scale * one.low, scale * one.high, digits)
    yield p_cell(one.bootstrap_p)
    yield p_cell(one.corrected_p, one.untested)
    yield _number_or_none(scale * one.detectable, f"{{:.{digits}f}}")


def _interval(low: float, high: float, digits: int) -> TableCell:
    """Show from where to where something reaches, or a dash."""
    text = f"{signed(low, digits)} to {signed(high, digits)}"
    return TableCell(NONE if math.isnan(low) else text, value=low)


def _number_or_none(value: float, form: str) -> TableCell:
    """Show a number, or a dash."""
    return TableCell(NONE, value=value) if math.isnan(value) else number_cell(value, form)
