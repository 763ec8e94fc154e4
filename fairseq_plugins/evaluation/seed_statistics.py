"""What scores over seeds can tell: how sure several comparisons are, and how small a difference.

`holm` corrects the p-values of comparisons that are made together (Holm 1979). `detectable` is the
power of tests, the other way round: the difference that so many seeds would have shown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, stats


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
    errors = float(stats.norm.isf(level / 2) + stats.norm.ppf(each))  # of a test of normal numbers
    return max(over_seeds, errors * noise.over_both(count) * several)
