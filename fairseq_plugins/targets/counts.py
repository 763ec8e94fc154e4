"""Counts of examples, from which metrics with any weights of examples follow."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Metrics = dict[str, float]


@dataclass(frozen=True)
class CountKind:
    """The meaning of a table's columns, and their metrics.

    Args:
        name: of the kind, as in kept rows.
        columns: number of columns; 0 for one per class.
        of_sums: sums of the columns -> metrics; None if metrics need every example.
        of_all: `Counts`, weight of each example (n,), names of metrics (empty: all) -> metrics.
        parts: pairs of columns of which the first is part of the second, in every example.
        most: the largest number.
        fractions: whether to allow fractions.
        signed: whether to allow negative and unbounded numbers.
    """

    name: str
    columns: int
    of_sums: Callable[..., Metrics] | None = None
    of_all: Callable[[Any, np.ndarray, Iterable[str]], Metrics] | None = None
    parts: tuple[tuple[int, int], ...] = ()
    most: float = math.inf
    fractions: bool = False
    signed: bool = False


class Counts(NamedTuple):
    """Counts of n examples.

    Args:
        kind: meaning of the columns.
        table: of the examples, (n, k).
        classes: number of classes, for counts of classes.
        positive: number of the class of F1, or None.
    """

    kind: CountKind
    table: np.ndarray
    classes: int = 0
    positive: int | None = None

    def metrics(self, weights: np.ndarray, names: Iterable[str] = ()) -> Metrics:
        """Return the metrics over examples with weights (n,).

        Args:
            weights: integers.
            names: of metrics, if each is computed separately (default: all).
        """
        if self.kind.of_sums is not None:
            return self.kind.of_sums(*(weights @ self.table).tolist())
        of_all: Any = self.kind.of_all
        return of_all(self, weights, names)


def ratio(part: float, whole: float) -> float:
    """Return a quotient; 0.0 for a zero denominator."""
    return float(part / whole) if whole else 0.0
