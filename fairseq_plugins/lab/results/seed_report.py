"""The report on runs: all settings, the chosen ones, and what their differences mean."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...evaluation.example_bootstrap import Bootstrap
from ...messages import named
from .comparisons import PairedSeeds, compare, over_examples
from .outcomes import read_outcomes
from .seeds import Summary, chosen_settings, summarize

_COLUMNS = "system choice lr epochs n mean deviation best last chosen".split()
_PAIRED = "system n difference se t_p untested wins losses sign_p low high bootstrap_p".split()


@dataclass(frozen=True)
class Comparison:
    """One system against the baseline, each at its chosen setting.

    Args:
        system: its name.
        seeds: paired over seeds.
        examples: bootstrap over examples; None where a run has no predictions.
    """

    system: str
    seeds: PairedSeeds
    examples: Bootstrap | None


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
        compared = {self.baseline, *(found.system for found in self.comparisons)}
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
    metric = metric or outcomes.metric
    summaries = summarize(outcomes.runs, metric)
    chosen = chosen_settings(summaries, metric)
    if baseline and baseline not in chosen:
        raise ValueError(f"--baseline {baseline!r}: choices are {named(chosen)}")
    plain = [system for system in chosen if system.startswith("bert_plain")]
    baseline = baseline or (plain[0] if len(plain) == 1 else "")
    comparisons = []
    for system, summary in chosen.items() if baseline else ():
        if system != baseline and chosen[baseline].values.keys() & summary.values.keys():
            pair = chosen[baseline], summary
            examples = over_examples(*pair, metric, samples=samples, seed=seed)
            comparisons.append(Comparison(system, compare(*pair), examples))
    return SeedReport(metric, summaries, chosen, baseline, comparisons)


def format_markdown(report: SeedReport) -> str:
    """Lay the report out in Markdown."""
    lines = [
        f"{report.metric} on the validation set: mean ± standard deviation over n seeds of the "
        "best checkpoint, the best seed, and the mean after the last update. * chosen setting.",
        "",
        f"| system | learning rate | epochs | n | {report.metric} | best | last |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in _rows(report):
        mean = f"{row['mean']:.4f}" + (f" ± {row['deviation']:.4f}" if row["n"] > 1 else "")
        lines.append(
            f"| {row['title']}{' *' if row['chosen'] else ''} | {row['lr']:g} | {row['epochs']} "
            f"| {row['n']} | {mean} | {row['best']:.4f} | {row['last']:.4f} |"
        )
    counts = {row["n"] for row in _rows(report)}
    if len(counts) > 1:
        lines += [
            "",
            f"Settings have {min(counts)} to {max(counts)} seeds: only those with most seeds of "
            "their system can be chosen. Finish the grid before you compare.",
        ]
    if report.comparisons:
        lines += ["", *_paired_lines(report)]
    if report.apart:
        lines += ["", f"No seed in common with {report.baseline}: {', '.join(report.apart)}."]
    return "\n".join(lines) + "\n"


def _paired_lines(report: SeedReport) -> Iterator[str]:
    """Yield the table of comparisons."""
    first = next((c.examples for c in report.comparisons if c.examples), None)
    of = f" ({first.examples:,} examples, {first.samples:,} samples)" if first else ""
    yield (
        f"Against {report.baseline}, each system at its chosen setting: mean difference ± standard "
        f"error, paired over seeds; interval and p of a paired bootstrap over examples{of}."
    )
    yield ""
    yield "| system | n | difference | t-test p | higher/lower | sign test p | 95 % | bootstrap p |"
    yield "|---|---|---|---|---|---|---|---|"
    for comparison in report.comparisons:
        seeds, examples = comparison.seeds, comparison.examples
        error = "" if math.isnan(seeds.standard_error) else f" ± {seeds.standard_error:.4f}"
        interval = f"{examples.low:+.4f} to {examples.high:+.4f}" if examples else "–"
        drawn = examples.p_value if examples else math.nan
        yield (
            f"| {comparison.system} | {seeds.seeds} | {seeds.difference:+.4f}{error} "
            f"| {_p(seeds.t_p_value, seeds.remark)} | {seeds.wins}/{seeds.losses} "
            f"| {_p(seeds.sign_p_value)} | {interval} | {_p(drawn)} |"
        )


def _p(value: float, remark: str = "") -> str:
    return (remark or "–") if math.isnan(value) else f"{value:.4f}"


def settings_csv(report: SeedReport) -> str:
    """Return all settings as CSV."""
    return _csv(_COLUMNS, ([row[name] for name in _COLUMNS] for row in _rows(report)))


def comparisons_csv(report: SeedReport) -> str:
    """Return the comparisons as CSV; cells without a value are empty."""
    rows = []
    for comparison in report.comparisons:
        seeds, examples = comparison.seeds, comparison.examples
        row = [comparison.system, seeds.seeds, seeds.difference, seeds.standard_error]
        row += [seeds.t_p_value, seeds.remark, seeds.wins, seeds.losses, seeds.sign_p_value]
        row += [examples.low, examples.high, examples.p_value] if examples else [math.nan] * 3
        rows.append(["" if isinstance(x, float) and math.isnan(x) else x for x in row])
    return _csv(_PAIRED, rows)


def _rows(report: SeedReport) -> Iterator[dict]:
    """Yield the columns of each setting."""
    for summary in report.summaries:
        setting = summary.setting
        yield {
            "title": setting.title,
            "system": setting.system,
            "choice": " ".join(f"{name}={value}" for name, value in setting.choice),
            "lr": setting.learning_rate,
            "epochs": setting.epochs,
            "n": summary.count,
            "mean": summary.mean,
            "deviation": summary.deviation,
            "best": summary.extreme(report.metric),
            "last": summary.last,
            "chosen": report.chosen[setting.system] is summary,
        }


def _csv(header: Sequence[str], rows) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()
