"""Calibration: whether answers are right as often as their probabilities say.

Guo et al. 2017, "On Calibration of Modern Neural Networks", eq. 3 (ECE): answers fall into bins of
equal width by their probability; the error is the mean distance between the mean probability and
the share of right answers of a bin, weighted by its size.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

BINS = 15  # as in the paper


class Bin(NamedTuple):
    """The answers whose probabilities lie in a bin."""

    count: int  # of answers, at least 1
    confidence: float  # mean probability
    accuracy: float  # share of right answers


def filled_bins(answers: Iterable[tuple[float, bool]], bins: int = BINS) -> list[Bin]:
    """Sort answers, each with its probability and whether it is right, into bins."""
    found = np.array([*answers], dtype=float).reshape(-1, 2)
    places = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], found[:, 0])
    groups = (found[places == place] for place in np.unique(places))
    return [Bin(len(one), *one.mean(0).tolist()) for one in groups]


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the expected calibration error (ECE) of at least one filled bin."""
    distances = [one.count * abs(one.confidence - one.accuracy) for one in bins]
    return sum(distances) / sum(one.count for one in bins)
