"""Scores of classes and of real numbers: accuracy, F1, Matthews correlation, Pearson, Spearman.

Everything about classes is computed from one confusion matrix M, M[i][j] = number of examples of
class i that were predicted as j. Matrices of batches or workers add up to that of the whole set, so
a score does not depend on how the set was cut. All results are Python floats (nothing of NumPy may
reach a checkpoint) and 0.0 where a score is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

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


def class_metrics(matrix: Matrix, positive: int | None = None) -> dict[str, float]:
    """Return the metrics of a confusion matrix.

    ``macro_f1`` is the plain mean of F1 = 2 TP / (2 TP + FP + FN) over all classes that occur, in
    gold or prediction. ``mcc`` is Matthews' correlation for any number of classes (Gorodkin's R_K,
    2004): with n examples, c on the diagonal, g_k gold and p_k predicted ones of class k,
    (c n - sum g_k p_k) / sqrt((n^2 - sum p_k^2) (n^2 - sum g_k^2)).

    Args:
        matrix: see `confusion`.
        positive: the class whose ``f1`` is added.
    """
    gold, predicted = [sum(row) for row in matrix], [sum(column) for column in zip(*matrix)]
    each = [row[i] for i, row in enumerate(matrix)]
    right, total = sum(each), sum(gold)
    f1 = [_ratio(2 * both, g + p) for both, g, p in zip(each, gold, predicted)]
    occurring = [one for one, g, p in zip(f1, gold, predicted) if g or p]
    covariance = right * total - sum(g * p for g, p in zip(gold, predicted))
    spread = (total**2 - sum(p * p for p in predicted)) * (total**2 - sum(g * g for g in gold))
    scores = {
        "accuracy": _ratio(right, total),
        "macro_f1": _ratio(sum(occurring), len(occurring)),
        "mcc": _ratio(covariance, math.sqrt(spread)),
    }
    return scores if positive is None else {**scores, "f1": f1[positive]}


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


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def _correlation(statistic: str, first: Sequence[float], second: Sequence[float]) -> float:
    """Return a correlation of scipy; 0.0 if a column is constant or shorter than two."""
    check_equal(first, second)
    if len(first) < 2 or any(min(column) == max(column) for column in (first, second)):
        return 0.0
    from scipy import stats  # slow to import: the help of commands does without

    value = float(getattr(stats, statistic)(first, second).statistic)
    return value if math.isfinite(value) else 0.0


SCORE_METRICS = {  # of two columns of numbers; of Spearman's ranks ties share theirs
    "pearson": partial(_correlation, "pearsonr"),
    "spearman": partial(_correlation, "spearmanr"),
    "mse": mean_squared_error,
}


def score_metrics(gold: Sequence[float], predicted: Sequence[float]) -> dict[str, float]:
    """Return the metrics of two columns of numbers."""
    return {name: metric(gold, predicted) for name, metric in SCORE_METRICS.items()}
