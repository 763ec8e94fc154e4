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
systems whose seeds differ they tell 15 % apart, both together 1 to 3 % (RESULTS.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .example_answers import Answers, ExampleCounts, example_counts


@dataclass(frozen=True)
class Bootstrap:
    """A comparison of two systems.

    Args:
        difference: of the system over the baseline, on all examples.
        p_value: 1 for equal scores, nan where a score is no number.
        low, high: where 95 % of the resampled differences lie.
        examples, samples: numbers of each.
    """

    difference: float
    p_value: float
    low: float
    high: float
    examples: int
    samples: int


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
        ValueError: runs on other examples, no run, fewer than one sample, or runs that are no
            pairs.
    """
    if not (baseline and system) or samples < 1:
        raise ValueError("a bootstrap needs runs of both systems and at least one sample")
    if over_seeds and len(baseline) != len(system):
        raise ValueError(f"{len(baseline)} and {len(system)} runs are no pairs")
    first, sides = baseline[0], (system, baseline)
    for run in (*baseline, *system):
        if (run.metric, run.examples, run.count) != (first.metric, first.examples, first.count):
            raise ValueError(f"{run.source} and {first.source} are predictions of other examples")
    random, count = np.random.default_rng(seed), first.count
    drawn = random.multinomial(count, np.full(count, 1 / count), size=samples)
    parts = [[np.full(len(side), 1 / len(side)) for side in sides]] * (samples + 1)
    if over_seeds:
        each = random.multinomial(len(system), parts[0][0], size=samples) / len(system)
        parts[1:] = [[row, row] for row in each]
    observed, *resampled = (
        float(np.subtract(*(_score(side, w, own) for side, own in zip(sides, both))))
        for w, both in zip((np.ones(count, dtype=np.int64), *drawn), parts)
    )
    interval = np.percentile(resampled, [2.5, 97.5]).tolist()
    p_value = _p_value(observed, np.array(resampled)) if count > 1 else math.nan
    return Bootstrap(observed, p_value, *interval, count, samples)


def _score(side: Sequence[ExampleCounts], weights: np.ndarray, parts: np.ndarray) -> float:
    """Return the score of a system's runs, each with its part, on weighted examples."""
    there = np.flatnonzero(parts)
    return float(np.dot([side[i].score(weights) for i in there], parts[there]))


def _p_value(observed: float, resampled: np.ndarray) -> float:
    """Return twice the share of resamples that speak against the observed difference."""
    if not math.isfinite(observed):
        return math.nan
    contrary = int((~(np.sign(observed) * resampled > 0)).sum())  # nan is no evidence
    return min(1.0, 2 * (contrary + 1) / (len(resampled) + 1))
