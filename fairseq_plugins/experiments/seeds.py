"""Results of runs -> mean and deviation over seeds, the best setting of each system, comparisons.

A setting is a system with a learning rate and a number of epochs. The setting of a system is chosen
on the validation set, by its mean over seeds; two systems are then compared at their own settings,
paired over the seeds they share: Student's paired t-test, and the sign test, which assumes nothing
about the distribution.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import stats

from ..evaluation.metrics import LOWER_IS_BETTER
from .run import PREDICTIONS, RESULT

Setting = tuple[str, float, int]  # system, learning rate, epochs


@dataclass(frozen=True)
class Outcome:
    """The result of one run.

    Args:
        system, learning_rate, epochs, seed: which run.
        best: metrics at its best validation.
        last: metrics at its last one.
        folder: where it lies.
        positive: label that F1 and error metrics are about; may be empty.
    """

    system: str
    learning_rate: float
    epochs: int
    seed: int
    best: dict[str, float]
    last: dict[str, float]
    folder: Path
    positive: str = ""

    @property
    def setting(self) -> Setting:
        """Everything but the seed."""
        return self.system, self.learning_rate, self.epochs

    @property
    def predictions(self) -> Path:
        """Its predictions of the validation set."""
        return self.folder / PREDICTIONS


@dataclass(frozen=True)
class Summary:
    """One setting over its seeds.

    Args:
        setting: system, learning rate, epochs.
        values: seed -> the metric at the best validation.
        last: mean of the metric at the last validation.
        outcomes: the runs, by seed.
    """

    setting: Setting
    values: dict[int, float]
    last: float
    outcomes: list[Outcome]

    @property
    def count(self) -> int:
        """Number of seeds."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return statistics.fmean(self.values.values())

    @property
    def deviation(self) -> float:
        """Standard deviation of the sample; 0.0 of a single seed."""
        return statistics.stdev(self.values.values()) if self.count > 1 else 0.0

    def extreme(self, metric: str) -> float:
        """Return the best seed's value."""
        return (min if metric in LOWER_IS_BETTER else max)(self.values.values())


@dataclass(frozen=True)
class PairedSeeds:
    """A comparison over the seeds that both systems have.

    Args:
        seeds: how many.
        difference: mean of system minus baseline.
        standard_error: of that mean.
        t_p_value: of the paired t-test, two-sided; nan with fewer than two seeds.
        wins, losses: seeds at which the system is higher, or lower.
        sign_p_value: of the sign test, two-sided.
    """

    seeds: int
    difference: float
    standard_error: float
    t_p_value: float
    wins: int
    losses: int
    sign_p_value: float


def read_outcomes(root: str | Path) -> tuple[list[Outcome], str]:
    """Read all results below a folder of runs.

    Returns:
        The runs, sorted, and the metric that chose their checkpoints.

    Raises:
        FileNotFoundError: there is no finished run.
        ValueError: results on other data, or chosen by another metric, lie among them.
    """
    found: dict[Path, dict[str, Any]] = {
        path.parent: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(Path(root).glob(f"*/*/*/{RESULT}"))
    }
    if not found:
        raise FileNotFoundError(f"{root}: no finished run (no */*/*/{RESULT})")
    for key in ("metric", "data", "validation"):
        values = sorted({result[key] for result in found.values()})
        if len(values) > 1:
            raise ValueError(f"{root}: runs differ in their {key}: {', '.join(values)}")
    names = ("system", "learning_rate", "epochs", "seed", "best", "last", "positive")
    outcomes = [
        Outcome(**{name: result[name] for name in names}, folder=folder)
        for folder, result in found.items()
    ]
    metric = next(iter(found.values()))["metric"]
    return sorted(outcomes, key=lambda run: (*run.setting, run.seed)), metric


def summarize(outcomes: Sequence[Outcome], metric: str) -> list[Summary]:
    """Put the seeds of each setting together, in the order of the runs.

    Raises:
        ValueError: a run lacks the metric; names those it has.
    """
    groups: dict[Setting, list[Outcome]] = defaultdict(list)
    for run in outcomes:
        if metric not in run.best:
            raise ValueError(
                f"{run.folder}: no metric {metric!r}; choices: {', '.join(sorted(run.best))}"
            )
        groups[run.setting].append(run)
    return [
        Summary(
            setting,
            {run.seed: run.best[metric] for run in group},
            statistics.fmean(run.last[metric] for run in group),
            group,
        )
        for setting, group in groups.items()
    ]


def chosen_settings(summaries: Sequence[Summary], metric: str) -> dict[str, Summary]:
    """Return for each system the setting with the best mean.

    Settings with fewer seeds than others of their system are passed over: a mean of one lucky seed
    must not win.
    """
    systems: dict[str, list[Summary]] = defaultdict(list)
    for summary in summaries:
        systems[summary.setting[0]].append(summary)
    choose = min if metric in LOWER_IS_BETTER else max
    chosen = {}
    for system, group in systems.items():
        most = max(summary.count for summary in group)
        whole = [summary for summary in group if summary.count == most]
        chosen[system] = choose(whole, key=lambda summary: summary.mean)
    return chosen


def compare(baseline: Summary, system: Summary) -> PairedSeeds:
    """Compare two settings over the seeds they share.

    Raises:
        ValueError: they share none.
    """
    seeds = sorted(baseline.values.keys() & system.values.keys())
    if not seeds:
        raise ValueError(f"{system.setting[0]} and {baseline.setting[0]} share no seed")
    columns = [[side.values[seed] for seed in seeds] for side in (system, baseline)]
    differences = [one - other for one, other in zip(*columns)]
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    error = statistics.stdev(differences) / math.sqrt(len(seeds)) if len(seeds) > 1 else math.nan
    if error > 0:
        t_p_value = float(stats.ttest_rel(*columns).pvalue)
    else:  # all differences are the same
        t_p_value = 1.0 if not any(differences) else 0.0
    return PairedSeeds(
        seeds=len(seeds),
        difference=statistics.fmean(differences),
        standard_error=error,
        t_p_value=math.nan if len(seeds) < 2 else t_p_value,
        wins=wins,
        losses=losses,
        sign_p_value=float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0,
    )
