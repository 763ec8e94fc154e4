"""Paired bootstrap over examples: would another test set of this kind have told the same?

The examples are drawn with replacement, the same ones for both systems, and the metric is computed
anew. A system may be several runs (seeds): its score is their mean. The p-value, two-sided, is
twice the share of resamples in which the other system is at least as good, ties included, so that
it agrees with the interval beside it: where 0 lies within the interval, p is not small. (The test
of `significance`, about the mean of the resamples, is for metrics that do not leap: of Matthews
correlation it would be sure after one lucky example among eighty.)

With ``over_seeds`` the seeds are drawn as well, the same ones for both systems: the multi-bootstrap
(Sellam et al. 2022, "The MultiBERTs", section 4), which asks whether other seeds and another test
set would have told the same. Examples alone take the luck of a seed for a difference: of equal
systems whose seeds differ they tell 14 to 49 % apart, both together 1 to 6 % (RESULTS.md). But of
three seeds that differ more than test sets do it is 11 %, as resampling finds but two thirds of
their variance: ask a t-test over seeds too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .example_answers import Answers, ExampleCounts, example_counts

ROUNDING = 1e-9  # scores that differ by less are equal


@dataclass(frozen=True)
class Bootstrap:
    """A comparison of two systems.

    Args:
        difference: of the system over the baseline, on all examples.
        p_value: 1 for equal scores, nan where a score is no number.
        low, high: where 95 % of the resampled differences lie.
        examples, samples: numbers of each.
        run_error: standard deviation of one pair's difference over resampled examples, but for
            what all pairs share; nan where runs are no pairs.
        shared_error: of what all pairs share; nan as well.
    """

    difference: float
    p_value: float
    low: float
    high: float
    examples: int
    samples: int
    run_error: float = math.nan
    shared_error: float = math.nan


def bootstrap(
    baseline: Sequence[Answers],
    system: Sequence[Answers],
    metric: str,
    *,
    positive: str = "",
    samples: int = 1000,
    seed: int = 12345,
    over_seeds: bool = False,
) -> Bootstrap:
    """Compare the answers of two systems on one metric.

    Args:
        baseline, system: runs of each; all on the same examples.
        metric, positive: see `example_answers.example_counts`.
        samples, seed, over_seeds: see `bootstrap_counts`.

    Raises:
        ValueError: see `bootstrap_counts` and `example_answers.example_counts`.
    """
    sides = ([example_counts(run, metric, positive) for run in side] for side in (baseline, system))
    return bootstrap_counts(*sides, samples=samples, seed=seed, over_seeds=over_seeds)


def bootstrap_counts(
    baseline: Sequence[ExampleCounts],
    system: Sequence[ExampleCounts],
    *,
    samples: int = 1000,
    seed: int = 12345,
    over_seeds: bool = False,
) -> Bootstrap:
    """Compare two systems by what their runs did on each example.

    Args:
        baseline, system: runs of each; all of one metric, on the same examples.
        samples: resamples.
        seed: of the resampling.
        over_seeds: whether runs are drawn as well; the n-th runs of both systems are pairs.

    Raises:
        ValueError: runs of other examples, or that are no pairs; no run; fewer than one sample.
    """
    _check(baseline, system, samples, over_seeds)
    random, count = np.random.default_rng(seed), baseline[0].count
    sides, all_once, even = (system, baseline), np.ones(count, dtype=np.int64), _even(count)
    observed = float(np.subtract(*(_scores(side, all_once).mean() for side in sides)))
    weights = (random.multinomial(count, even) for _ in range(samples))
    pairs = [[_scores(side, one) for side in sides] for one in weights]
    drawn = [np.array(side) for side in zip(*pairs)]  # (samples, runs) each
    resampled, errors = np.subtract(*(side.mean(axis=1) for side in drawn)), ()
    if over_seeds:
        gaps = np.subtract(*drawn)  # (samples, runs)
        parts = random.multinomial(len(system), _even(len(system)), size=samples)
        resampled = np.where(parts > 0, parts * gaps, 0.0).sum(axis=1) / len(system)
        errors = _errors(gaps)
    low, high = np.percentile(resampled, [2.5, 97.5]).tolist()
    p_value = _p_value(observed, resampled) if count > 1 else math.nan
    return Bootstrap(observed, p_value, low, high, count, samples, *errors)


def _check(
    baseline: Sequence[ExampleCounts],
    system: Sequence[ExampleCounts],
    samples: int,
    over_seeds: bool,
) -> None:
    """Refuse what cannot be compared; see `bootstrap_counts`."""
    if not (baseline and system) or samples < 1:
        raise ValueError("a bootstrap needs runs of both systems and at least one sample")
    if over_seeds and len(baseline) != len(system):
        raise ValueError(f"{len(baseline)} and {len(system)} runs are no pairs")
    first = baseline[0]
    for run in (*baseline, *system):
        if (run.metric, run.examples, run.count) != (first.metric, first.examples, first.count):
            raise ValueError(f"{run.source} and {first.source} are predictions of other examples")


def _even(count: int) -> np.ndarray:
    return np.full(count, 1 / count)


def _scores(side: Sequence[ExampleCounts], weights: np.ndarray) -> np.ndarray:
    """Return the score of each run of a system on weighted examples."""
    return np.array([run.score(weights) for run in side])


def _errors(gaps: np.ndarray) -> tuple[float, float]:
    """Return how pairs' differences (samples, runs) vary over samples: each alone, and together."""
    runs = gaps.shape[1]
    whole = float(gaps.var(axis=0).mean())  # of one pair: its own and what is shared
    mean = float(gaps.mean(axis=1).var())  # of the mean: own / runs + shared
    own = max(0.0, (whole - mean) * runs / (runs - 1)) if runs > 1 else whole
    return math.sqrt(own), math.sqrt(max(0.0, mean - own / runs))


def _p_value(observed: float, resampled: np.ndarray) -> float:
    """Return twice the share of resamples that speak against the observed difference."""
    if not math.isfinite(observed):
        return math.nan
    if abs(observed) <= ROUNDING:  # equal systems
        return 1.0
    contrary = int((~(np.sign(observed) * resampled > ROUNDING)).sum())  # nan is no evidence
    return min(1.0, 2 * (contrary + 1) / (len(resampled) + 1))
