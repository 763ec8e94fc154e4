"""Statistics over seeds: corrected p-values of several comparisons, and detectable differences.

`holm` corrects the p-values of simultaneous comparisons (Holm 1979). `detectable` inverts the power
of a test: the difference that a number of seeds would have shown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, stats


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm-corrected p-values in the given order; nan does not count.

    The i-th smallest of m is multiplied by m - i + 1, and none becomes smaller than the one before.
    """
    values = np.asarray(p_values, dtype=float)
    found, known = np.full(len(values), math.nan), np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    raised = values[order] * np.arange(len(order), 0, -1)
    found[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return found.tolist()


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the differences between paired runs."""

    seeds: float  # of the runs' differences on one test set (of the sample)
    run: float = 0.0  # of one run's difference over test sets, without the part that all runs share
    shared: float = 0.0  # of the shared part over test sets, which more seeds do not reduce

    def over_both(self, count: int) -> float:
        """Return the approximate standard error of a multi-bootstrap with ``count`` pairs.

        This standard error exceeds that of the mean, since runs drawn repeatedly share their noise.
        """
        alone = self.run**2 * (2 - 1 / count) + self.seeds**2 * (1 - 1 / count)
        return math.sqrt(self.shared**2 + alone / count)


def detectable(noise: Noise, count: int, *, power: float = 0.8, level: float = 0.05) -> float:
    """Return the difference that two-sided tests detect with a probability, or slightly more.

    With noise of seeds alone, the paired t-test decides. Else a normal test over seeds and examples
    must agree, and each test gets half of the failures.

    Args:
        noise: of the differences.
        count: number of pairs; nan for fewer than two.
        power: the probability.
        level: of the tests.
    """
    if count < 2 or not math.isfinite(noise.seeds):
        return math.nan
    several = bool(noise.run or noise.shared)
    each = (1 + power) / 2 if several else power
    bound = float(stats.f.isf(level, 1, count - 1))  # the square of the t-test's

    def lacking(effect: float) -> float:
        """Return the power at an effect of so many standard errors, minus the wanted power."""
        return float(stats.ncf.sf(bound, 1, count - 1, effect**2)) - each

    highest = 1.0
    while lacking(highest) < 0:
        highest *= 2
    effect: Any = optimize.brentq(lacking, 0.0, highest)  # returns only the root
    over_seeds = effect * noise.seeds / math.sqrt(count)
    errors = float(stats.norm.isf(level / 2) + stats.norm.ppf(each))  # of a normal test
    return max(over_seeds, errors * noise.over_both(count) * several)
