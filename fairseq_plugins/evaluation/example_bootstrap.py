"""Paired bootstraps: would another test set of this kind, and other seeds, have told the same?

Examples are drawn with replacement, the same ones for all systems, and each metric is computed
anew, so that an observed difference d has differences d* of resamples beside it. The two-sided
p-value is twice the share of resamples in which the other system is at least as good, ties
included: where 0 lies within the 95 % interval, p is not small.

With ``over_seeds`` seeds are drawn as well, the same ones for both systems: the multi-bootstrap
(Sellam et al. 2022, "The MultiBERTs", section 4). Examples alone take the luck of a seed for a
difference: of equal systems whose seeds differ they tell 14 to 49 % apart, both together 1 to 6 %
(RESULTS.md). But of three seeds that differ more than test sets do it is 11 %, as resampling finds
but two thirds of their variance: ask a t-test over seeds too.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .example_answers import ExampleCounts

ROUNDING = 1e-9  # scores that differ by less are equal
Scored = Callable[[np.ndarray], float]  # how often each example counts -> the score of a run


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
        InputError: runs of other examples, or that are no pairs; no run; fewer than one sample.
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
    """Refuse what cannot be compared; see `bootstrap`."""
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
