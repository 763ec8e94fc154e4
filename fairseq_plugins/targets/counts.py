"""Numbers of examples that make metrics, however often each example counts."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Metrics = dict[str, float]


@dataclass(frozen=True)
class CountKind:
    """What the columns of a table of counts are, and which metrics they make.

    Args:
        name: of the kind, as kept rows have it.
        columns: how many there are; 0 for one a class.
        of_sums: sums of the columns -> metrics; None where metrics need every example.
        of_all: `Counts`, how often each example counts (n,), names of the metrics that are wanted
            (empty: all) -> metrics.
        parts: pairs of columns of which the first is part of the second, in every example.
        most: the largest number.
        fractions: whether numbers need not be whole.
        signed: whether numbers may be below 0, or as large as they like.
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
    """Numbers of n examples that make metrics.

    Args:
        kind: what the columns are.
        table: of the examples, (n, k).
        classes: how many classes there are, where the numbers are of classes.
        positive: number of the class that F1 is about; None for none.
    """

    kind: CountKind
    table: np.ndarray
    classes: int = 0
    positive: int | None = None

    def metrics(self, weights: np.ndarray, names: Iterable[str] = ()) -> Metrics:
        """Return the metrics of examples of which each counts so often, (n,).

        Args:
            weights: whole numbers.
            names: of the metrics that are wanted, where each is computed by itself (default: all).
        """
        if self.kind.of_sums is not None:
            return self.kind.of_sums(*(weights @ self.table).tolist())
        of_all: Any = self.kind.of_all
        return of_all(self, weights, names)


def ratio(part: float, whole: float) -> float:
    """Return a quotient; 0.0 of nothing."""
    return float(part / whole) if whole else 0.0
