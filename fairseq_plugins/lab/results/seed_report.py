"""The report on runs: all settings, the chosen ones, and what their differences mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...messages import named
from .comparisons import Comparison, Significance, against, only_plain
from .runs import read_outcomes
from .seeds import Summary, chosen_settings, summarize
from .tables import NONE, markdown, to_csv

_COLUMNS = "system choice lr epochs n mean deviation best last chosen".split()
_PAIRED = "system n difference se t_p untested wins losses sign_p low high bootstrap_p".split()
_HEADS = ("system", "n", "difference", "t-test p", "higher/lower", "sign test p", "95 %")
_HEADS += ("bootstrap p",)


@dataclass(frozen=True)
class SeedReport:
    """Everything that the tables show.

    Args:
        metric: that everything is about.
        summaries: all settings.
        chosen: system -> its best setting.
        baseline: system that the others are compared with; empty without comparison.
        comparisons: of all others with it that have a seed in common with it.
    """

    metric: str
    summaries: list[Summary]
    chosen: dict[str, Summary]
    baseline: str
    comparisons: list[Comparison]

    @property
    def apart(self) -> list[str]:
        """Systems without a seed in common with the baseline."""
        compared = {self.baseline, *(one.summary.setting.system for one in self.comparisons)}
        return [system for system in self.chosen if self.baseline and system not in compared]


def make_report(
    root: str | Path,
    *,
    metric: str = "",
    baseline: str = "",
    samples: int = 1000,
    seed: int = 12345,
) -> SeedReport:
    """Read runs and compare their systems.

    Args:
        root: folder of the runs.
        metric: what to report; empty for the one that chose the checkpoints.
        baseline: system to compare with; empty for the only one called ``bert_plain…``.
        samples, seed: of the bootstrap.

    Raises:
        FileNotFoundError: there is no finished run.
        ValueError: an unknown metric or baseline, or runs that cannot be compared.
    """
    outcomes = read_outcomes(root)
    runs, metric = outcomes.runs, metric or outcomes.metric
    chosen = chosen_settings(runs, metric)
    if baseline and baseline not in chosen:
        raise ValueError(f"--baseline {baseline!r}: choices are {named(chosen)}")
    baseline, drawn = baseline or only_plain(runs), Significance(samples=samples, seed=seed)
    comparisons = list(against(runs, metric, baseline, drawn)) if baseline else []
    return SeedReport(metric, summarize(runs, metric), chosen, baseline, comparisons)


def format_markdown(report: SeedReport) -> str:
    """Lay the report out in Markdown."""
    heads = ["system", "learning rate", "epochs", "n", report.metric, "best", "last"]
    rows = [_texts(report, summary) for summary in report.summaries]
    lines = [
        f"{report.metric} on the validation set: mean ± standard deviation over n seeds of the "
        "best checkpoint, the best seed, and the mean after the last update. * chosen setting.",
        "",
        *markdown(heads, rows, [False] * len(heads)),
    ]
    counts = {summary.count for summary in report.summaries}
    if len(counts) > 1:
        lines += [
            "",
            f"Settings have {min(counts)} to {max(counts)} seeds: only those with most seeds of "
            "their system can be chosen. Finish the grid before you compare.",
        ]
    if report.comparisons:
        lines += ["", *_compared_lines(report)]
    if report.apart:
        lines += ["", f"No seed in common with {report.baseline}: {', '.join(report.apart)}."]
    return "\n".join(lines) + "\n"


def _texts(report: SeedReport, summary: Summary) -> list[str]:
    """Return the cells of a setting."""
    row = _settings_row(report, summary)
    mean = f"{row['mean']:.4f}" + (f" ± {row['deviation']:.4f}" if row["n"] > 1 else "")
    title = f"{summary.setting.title}{' *' if row['chosen'] else ''}"
    texts = [title, f"{row['lr']:g}", str(row["epochs"]), str(row["n"]), mean]
    return [*texts, f"{row['best']:.4f}", f"{row['last']:.4f}"]


def _compared_lines(report: SeedReport) -> Iterator[str]:
    """Yield the table of comparisons."""
    first = next((one.examples for one in report.comparisons if one.examples), None)
    of = f" ({first.examples:,} examples, {first.samples:,} samples)" if first else ""
    yield (
        f"Against {report.baseline}, each system at its chosen setting: mean difference ± standard "
        f"error, paired over seeds; interval and p of a paired bootstrap over examples{of}."
    )
    yield ""
    rows = (_compared_texts(one.row) for one in report.comparisons)
    yield from markdown(_HEADS, rows, [False] * len(_HEADS))


def _compared_texts(row: dict[str, Any]) -> Iterator[str]:
    """Yield the cells of a comparison."""
    error = "" if math.isnan(row["se"]) else f" ± {row['se']:.4f}"
    yield from (row["system"], str(row["n"]), f"{row['difference']:+.4f}{error}")
    yield from (_p(row["t_p"], row["untested"]), f"{row['wins']}/{row['losses']}")
    yield _p(row["sign_p"])
    yield NONE if math.isnan(row["low"]) else f"{row['low']:+.4f} to {row['high']:+.4f}"
    yield _p(row["bootstrap_p"])


def _p(value: float, remark: str = "") -> str:
    return (remark or NONE) if math.isnan(value) else f"{value:.4f}"


def _settings_row(report: SeedReport, summary: Summary) -> dict[str, Any]:
    """Return the columns of a setting."""
    setting = summary.setting
    values = [setting.system, setting.choices, setting.learning_rate, setting.epochs]
    values += [summary.count, summary.mean, summary.deviation, summary.extreme, summary.last]
    return dict(zip(_COLUMNS, [*values, report.chosen[setting.system].setting == setting]))


def settings_csv(report: SeedReport) -> str:
    """Return all settings as CSV."""
    rows = [_settings_row(report, summary) for summary in report.summaries]
    return to_csv(rows, _COLUMNS)


def comparisons_csv(report: SeedReport) -> str:
    """Return the comparisons as CSV; cells without a value are empty."""
    return to_csv([one.row for one in report.comparisons], _PAIRED)
