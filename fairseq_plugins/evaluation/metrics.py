"""Metrics: their names by target, their direction, and their deviation between runs."""

import math
import statistics
from collections.abc import Sequence

from ..targets.table import TARGETS

NAMES = {name: one.metrics for name, one in TARGETS.items()}
LOWER_IS_BETTER = frozenset(
    {"mse", "loss", "nll_loss", "ppl", "detection_false_positive_rate", "ece"}
)


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of a sample; nan for fewer than two values, or nan values."""
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return math.nan
    return statistics.stdev(values)
