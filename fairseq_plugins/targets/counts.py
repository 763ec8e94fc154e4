"""Counts of examples, from which metrics with any weights of examples follow."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Metrics = dict[str, float]


@dataclass(frozen=True)
class CountKind:
    """The meaning of a table's columns, and their metrics."""

    name: str  # of the kind, as in kept rows
    columns: int  # number of columns; 0 for one per class
    # sums of the columns -> metrics; None if metrics need every example
    of_sums: Callable[..., Metrics] | None = None
    # `Counts`, weight of each example (n,), names of metrics (empty: all) -> metrics
    of_all: Callable[[Any, np.ndarray, Iterable[str]], Metrics] | None = None
    # pairs of columns of which the first is part of the second, in every example
    parts: tuple[tuple[int, int], ...] = ()
    most: float = math.inf  # the largest number
    fractions: bool = False  # whether to allow fractions
    signed: bool = False  # whether to allow negative and unbounded numbers


class Counts(NamedTuple):
    """Counts of n examples."""

    kind: CountKind  # meaning of the columns
    table: np.ndarray  # of the examples, (n, k)
    classes: int = 0  # number of classes, for counts of classes
    positive: int | None = None  # number of the class of F1, or None

    def metrics(self, weights: np.ndarray, names: Iterable[str] = ()) -> Metrics:
        """Return the metrics over examples with weights (n,), or some of them, each separately."""
        if self.kind.of_sums is not None:
            return self.kind.of_sums(*(weights @ self.table).tolist())
        of_all: Any = self.kind.of_all
        return of_all(self, weights, names)


def ratio(part: float, whole: float) -> float:
    """Return a quotient; 0.0 for a zero denominator."""
    return float(part / whole) if whole else 0.0
