"""Is a difference between two systems more than chance?

Over seeds: Student's paired t-test and the sign test, which assumes nothing about the distribution,
over the seeds that both have; Welch's t-test over whatever seeds each has. Over examples: a paired
bootstrap.
"""

from __future__ import annotations

import math
import statistics
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy import stats

from ..evaluation.example_bootstrap import Bootstrap, bootstrap, read_answers
from .outcomes import Outcome
from .seeds import Summary


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


def compare(baseline: Summary, system: Summary) -> PairedSeeds:
    """Compare two settings over the seeds they share.

    Raises:
        ValueError: they share none.
    """
    seeds = sorted(baseline.values.keys() & system.values.keys())
    if not seeds:
        raise ValueError(f"{system.setting.system} and {baseline.setting.system} share no seed")
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


def welch(baseline: Sequence[float], system: Sequence[float]) -> float:
    """Return the two-sided p-value of Welch's t-test; nan where a side has one value.

    Values that are all the same on both sides show no chance to compare with: nan as well.
    """
    if min(len(baseline), len(system)) < 2:
        return math.nan
    if len(set(baseline)) == len(set(system)) == 1:
        return math.nan
    with warnings.catch_warnings():  # values that are nearly the same lose digits: it says so
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(stats.ttest_ind(system, baseline, equal_var=False).pvalue)


def over_examples(
    baseline: Summary,
    system: Summary,
    metric: str,
    *,
    samples: int,
    seed: int,
    predictions: Callable[[Outcome], Path] = lambda run: run.predictions,
) -> Bootstrap | None:
    """Resample examples with the seeds that both have; None if a run has no predictions.

    Args:
        baseline, system: their runs.
        metric: to compare.
        samples, seed: of the bootstrap.
        predictions: run -> file of its predictions.
    """
    shared = baseline.values.keys() & system.values.keys()
    sides = [
        [run for run in summary.outcomes if run.seed in shared] for summary in (baseline, system)
    ]
    runs = [run for side in sides for run in side]
    if not runs or not all(predictions(run).is_file() for run in runs):
        return None
    answers = [[read_answers(predictions(run)) for run in side] for side in sides]
    positive = runs[0].positive
    return bootstrap(*answers, metric, positive=positive, samples=samples, seed=seed)
