"""Paired bootstraps: would another test set of this kind, and other seeds, give the same result?

Examples are drawn with replacement, the same ones for all systems, and each metric is computed
again, so that an observed difference d is compared with differences d* of resamples. The two-sided
p-value is twice the share of resamples in which the other system is at least as good, ties
included: if 0 lies within the 95 % interval, p is not small.

With ``over_seeds`` seeds are drawn too, the same ones for both systems: the multi-bootstrap
(Sellam et al. 2022, "The MultiBERTs", section 4). A bootstrap over examples mistakes a lucky seed
for a difference: equal systems with different seeds differ in 14 to 49 % of cases, with both in 1
to 6 % (RESULTS.md). With three seeds that vary more than test sets it is 11 %, because resampling
finds only two thirds of their variance: combine it with a t-test over seeds.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .example_answers import ExampleCounts

ROUNDING = 1e-9  # scores with a smaller difference are equal
Scored = Callable[[np.ndarray], float]  # weight of each example -> the score of a run


@dataclass(frozen=True)
class Bootstrap:
    """A comparison of two systems."""

    difference: float  # of the system over the baseline, on all examples
    p_value: float  # 1 for equal scores, nan if a score is nan
    # low, high: interval of 95 % of the resampled differences
    low: float
    high: float
    # examples, samples: numbers of each
    examples: int
    samples: int
    # standard deviation of one pair's difference over resampled examples, without the part that all
    # pairs share; nan for runs that are not paired
    run_error: float = math.nan
    shared_error: float = math.nan  # standard deviation of the shared part; may be nan too


def bootstrap(
    baseline: Sequence[ExampleCounts],
    system: Sequence[ExampleCounts],
    *,
    samples: int = 1000,
    seed: int = 12345,
    over_seeds: bool = False,
) -> Bootstrap:
    """Compare two systems by the results of their runs on each example.

    Args:
        baseline, system: runs of each; all of one metric, on the same examples.
        over_seeds: whether to draw runs too; the n-th runs of both systems are pairs.
    """
    _check(baseline, system, samples, over_seeds)
    random, count = np.random.default_rng(seed), baseline[0].count
    runs, cut = [run.score for run in (*system, *baseline)], len(system)
    weights = (random.multinomial(count, _even(count)) for _ in range(samples))
    once, drawn = scores_of(runs, [np.ones(count, np.int64)]), scores_of(runs, weights)
    (observed,), resampled = (
        one[:, :cut].mean(axis=1) - one[:, cut:].mean(axis=1) for one in (once, drawn)
    )
    errors = ()
    if over_seeds:
        gaps = drawn[:, :cut] - drawn[:, cut:]  # (samples, runs)
        parts = random.multinomial(len(system), _even(len(system)), size=samples)
        resampled = np.where(parts > 0, parts * gaps, 0.0).sum(axis=1) / len(system)
        errors = _errors(gaps)
    low, high = np.percentile(resampled, [2.5, 97.5]).tolist()
    p_value = _p_value(float(observed), resampled) if count > 1 else math.nan
    return Bootstrap(float(observed), p_value, low, high, count, samples, *errors)


def _check(
    baseline: Sequence[ExampleCounts],
    system: Sequence[ExampleCounts],
    samples: int,
    over_seeds: bool,
) -> None:
    if not (baseline and system) or samples < 1:
        raise InputError("a bootstrap needs runs of both systems and at least one sample")
    if over_seeds and len(baseline) != len(system):
        raise InputError(f"{len(baseline)} and {len(system)} runs are no pairs")
    first = baseline[0]
    for run in (*baseline, *system):
        if (run.metric, run.examples, run.count) != (first.metric, first.examples, first.count):
            raise InputError(f"{run.source} and {first.source} are predictions of other examples")


def _even(count: int) -> np.ndarray:
    return np.full(count, 1 / count)


def scores_of(runs: Sequence[Scored], weights: Iterable[np.ndarray]) -> np.ndarray:
    """Return the score of each run on each resample, (samples, runs)."""
    return np.array([[run(one) for run in runs] for one in weights])


def _errors(gaps: np.ndarray) -> tuple[float, float]:
    """Return the deviations over samples of pairs' differences (samples, runs): own, shared."""
    runs = gaps.shape[1]
    whole = float(gaps.var(axis=0).mean())  # of one pair: own and shared
    mean = float(gaps.mean(axis=1).var())  # of the mean: own / runs + shared
    own = max(0.0, (whole - mean) * runs / (runs - 1)) if runs > 1 else whole
    return math.sqrt(own), math.sqrt(max(0.0, mean - own / runs))


def _p_value(observed: float, resampled: np.ndarray) -> float:
    """Return twice the share of resamples that contradict the observed difference."""
    if not math.isfinite(observed):
        return math.nan
    if abs(observed) <= ROUNDING:  # equal systems
        return 1.0
    contrary = int((~(np.sign(observed) * resampled > ROUNDING)).sum())  # nan is no evidence
    return min(1.0, 2 * (contrary + 1) / (len(resampled) + 1))
