"""What scores over seeds can tell: how sure several comparisons are, and how small a difference.

`holm` corrects the p-values of comparisons that are made together (Holm 1979). `detectable` is the
power of tests, the other way round: the difference that so many seeds would have shown, and `floor`
that which no number of seeds goes below; `needed` is how many seeds a difference takes.
`almost_order` is almost stochastic order (del Barrio et al. 2018; Dror et al. 2019, "Deep
dominance", section 3): whether the scores of one system are above those of the other at all their
quantiles, or at how large a part of them they are not.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, stats

QUANTILES = 1000  # of the distributions that are compared
SURE = 0.2  # bound of the violation below which one speaks of an order


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for being several, in their order; nan counts for none.

    The i-th smallest of m is multiplied by m - i + 1, and none becomes smaller than one before it.
    """
    values = np.asarray(p_values, dtype=float)
    found, known = np.full(len(values), math.nan), np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    raised = values[order] * np.arange(len(order), 0, -1)
    found[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return found.tolist()


@dataclass(frozen=True)
class Noise:
    """What makes differences between paired runs differ, as standard deviations.

    Args:
        seeds: of the runs' differences on one test set (of the sample).
        run: of one run's difference over test sets, but for what all runs share.
        shared: of what all runs share over test sets: no number of seeds takes it away.
    """

    seeds: float
    run: float = 0.0
    shared: float = 0.0

    def over_both(self, count: int) -> float:
        """Return about the standard error that a multi-bootstrap of so many pairs finds.

        It is larger than that of the mean: runs that are drawn several times share their noise.
        """
        alone = self.run**2 * (2 - 1 / count) + self.seeds**2 * (1 - 1 / count)
        return math.sqrt(self.shared**2 + alone / count)


def detectable(noise: Noise, count: int, *, power: float = 0.8, level: float = 0.05) -> float:
    """Return a difference that two-sided tests show with a probability, or a little more.

    Where noise is of seeds alone, the paired t-test decides. Else a test that takes seeds and
    examples together for normal has to agree: each is granted half of the failures.

    Args:
        noise: of the differences.
        count: how many pairs; nan of fewer than two.
        power: the probability.
        level: of the tests.
    """
    if count < 2 or not math.isfinite(noise.seeds):
        return math.nan
    several = bool(noise.run or noise.shared)
    each = (1 + power) / 2 if several else power
    bound = float(stats.f.isf(level, 1, count - 1))  # the square of the t-test's

    def lacking(effect: float) -> float:
        """The power for a difference of so many standard errors, less what is asked for."""
        return float(stats.ncf.sf(bound, 1, count - 1, effect**2)) - each

    highest = 1.0
    while lacking(highest) < 0:
        highest *= 2
    effect: Any = optimize.brentq(lacking, 0.0, highest)  # its root alone
    over_seeds = effect * noise.seeds / math.sqrt(count)
    return max(over_seeds, _errors(each, level) * noise.over_both(count) * several)


def floor(noise: Noise, *, power: float = 0.8, level: float = 0.05) -> float:
    """Return the difference that `detectable` comes to with ever more pairs: the test set's noise.

    Args:
        noise, power, level: see `detectable`.
    """
    return _errors((1 + power) / 2, level) * noise.shared


def _errors(power: float, level: float) -> float:
    """Return how many standard errors a test of normal numbers shows with a probability."""
    return float(stats.norm.isf(level / 2) + stats.norm.ppf(power))


def needed(
    noise: Noise, effect: float, *, least: int = 2, most: int = 1000, **about: float
) -> int | None:
    """Return the least number of pairs that shows a difference with a probability.

    Args:
        noise, about: see `detectable`.
        effect: the difference, above 0.
        least, most: pairs.

    Returns:
        The number; None if it would be more than ``most``.

    Raises:
        ValueError: an effect that is not above 0, or a deviation that is no number.
    """
    if not (0 < effect < math.inf and 0 <= noise.seeds < math.inf):
        raise ValueError(f"effect {effect} and deviation {noise.seeds} need no number of pairs")
    counts = range(least, most + 1)
    place = bisect_left(counts, -effect, key=lambda count: -detectable(noise, count, **about))
    return counts[place] if place < len(counts) else None


def violation(system: np.ndarray, baseline: np.ndarray) -> float:
    """Return the part of the distance between two samples at which the system is below, 0 to 1.

    That is the integral of (F^-1 - G^-1)^2 over the quantiles at which the system's, F^-1, is below
    the baseline's, G^-1, by that over all quantiles (the squared Wasserstein distance); 1/2 where
    both are the same.
    """
    at = (np.arange(QUANTILES) + 0.5) / QUANTILES
    gaps = _quantiles(system, at) - _quantiles(baseline, at)
    whole = float(np.square(gaps).sum())
    return float(np.square(gaps[gaps < 0]).sum()) / whole if whole else 0.5


def almost_order(
    system: Sequence[float],
    baseline: Sequence[float],
    *,
    level: float = 0.05,
    samples: int = 1000,
    seed: int = 12345,
) -> float:
    """Return an upper bound, sure by 1 - level, of the violation of "the system is above".

    Below 1/2 the system would be above the baseline almost stochastically, but a fifth of all equal
    pairs of five to twenty scores fall there; about one in twenty falls below `SURE`, one in ten of
    three scores. 1/2 or more says nothing.

    Args:
        system, baseline: scores, the higher the better, at least two each.
        level: of the test.
        samples, seed: of the bootstrap by which the bound is found.
    """
    one, other = np.sort(np.asarray(system, float)), np.sort(np.asarray(baseline, float))
    if min(len(one), len(other)) < 2 or not np.isfinite([*one, *other]).all():
        return math.nan
    observed, random = violation(one, other), np.random.default_rng(seed)
    drawn = [
        violation(*(np.sort(random.choice(side, len(side))) for side in (one, other)))
        for _ in range(samples)
    ]
    bound = observed - float(np.std(drawn)) * float(stats.norm.ppf(level))
    return min(max(bound, 0.0), 1.0)


def _quantiles(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return quantiles of sorted values: the empirical distribution's inverse."""
    return values[np.minimum((at * len(values)).astype(int), len(values) - 1)]
