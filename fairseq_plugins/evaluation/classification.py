"""Scores of classes and of real numbers: accuracy, F1, Matthews correlation, Pearson, Spearman.

Everything about classes is computed from one confusion matrix M, M[i][j] = number of examples of
class i that were predicted as j. Matrices of batches or workers add up to that of the whole set, so
a score does not depend on how the set was cut. All results are Python floats (nothing of NumPy may
reach a checkpoint) and 0.0 where a score is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Matrix = Sequence[Sequence[int]]


def confusion(gold: Sequence[int], predicted: Sequence[int], classes: int) -> list[list[int]]:
    """Count gold against predicted classes.

    Args:
        gold, predicted: ids in 0..classes-1, equally many.
        classes: number of classes.

    Returns:
        (classes, classes) counts, row = gold, column = predicted.

    Raises:
        ValueError: unequal counts, or an id out of range.
    """
    check_equal(gold, predicted)
    matrix = [[0] * classes for _ in range(classes)]
    for row, column in zip(gold, predicted):
        if not (0 <= row < classes and 0 <= column < classes):
            raise ValueError(f"class {row} or {column} is not among the {classes} classes")
        matrix[row][column] += 1
    return matrix


def accuracy(matrix: Matrix) -> float:
    """Return the share of examples on the diagonal."""
    return _ratio(sum(matrix[i][i] for i in range(len(matrix))), sum(map(sum, matrix)))


def f1(matrix: Matrix, positive: int) -> float:
    """Return the F1 of one class against all others: 2 TP / (2 TP + FP + FN)."""
    gold, predicted = _margins(matrix)
    return _ratio(2 * matrix[positive][positive], gold[positive] + predicted[positive])


def macro_f1(matrix: Matrix) -> float:
    """Return the plain mean of the F1 of all classes that occur, in gold or prediction."""
    gold, predicted = _margins(matrix)
    occurring = [i for i in range(len(matrix)) if gold[i] or predicted[i]]
    return _ratio(sum(f1(matrix, i) for i in occurring), len(occurring))


def mcc(matrix: Matrix) -> float:
    """Return Matthews' correlation coefficient, for any number of classes (Gorodkin's R_K, 2004).

    With n examples, c on the diagonal, g_k gold and p_k predicted ones of class k:
    (c n - sum g_k p_k) / sqrt((n^2 - sum p_k^2) (n^2 - sum g_k^2)).
    """
    gold, predicted = _margins(matrix)
    total = sum(gold)
    right = sum(matrix[i][i] for i in range(len(matrix)))
    covariance = right * total - sum(g * p for g, p in zip(gold, predicted))
    spread = (total**2 - sum(p * p for p in predicted)) * (total**2 - sum(g * g for g in gold))
    return _ratio(covariance, math.sqrt(spread))


def pearson(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the linear correlation of two columns; 0.0 if one is constant or shorter than two."""
    return _correlation("pearsonr", first, second)


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the rank correlation of two columns (ties share ranks); 0.0 as `pearson`."""
    return _correlation("spearmanr", first, second)


def mean_squared_error(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Return the mean of the squared differences."""
    check_equal(gold, predicted)
    return _ratio(math.fsum((g - p) ** 2 for g, p in zip(gold, predicted)), len(gold))


def check_equal(gold: Sequence, predicted: Sequence) -> None:
    """Refuse columns of unequal length.

    Raises:
        ValueError: the lengths differ; gives both.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold):,} gold values against {len(predicted):,} predictions")


def _margins(matrix: Matrix) -> tuple[list[int], list[int]]:
    """Return how often each class is gold, and how often it is predicted."""
    return [sum(row) for row in matrix], [sum(column) for column in zip(*matrix)]


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def _correlation(statistic: str, first: Sequence[float], second: Sequence[float]) -> float:
    """Return a correlation of scipy as a float, 0.0 where there is none."""
    check_equal(first, second)
    if len(first) < 2 or any(min(column) == max(column) for column in (first, second)):
        return 0.0
    from scipy import stats  # slow to import: the help of commands does without

    value = float(getattr(stats, statistic)(first, second).statistic)
    return value if math.isfinite(value) else 0.0
