"""All metrics that apply to a prediction, by the names that fairseq's validation logs them under.

classes      accuracy, macro_f1, mcc; f1 of the positive class where there is one
score        pearson, spearman, mse
word_labels  accuracy; entity_precision, entity_recall, entity_f1 where labels name entities
             (B-, I-, B_, B ...), and entity_f0.5 where these are edits (B-R, B-U, B-M ...); with
             an error label token_precision, token_recall, token_f0.5, detection_precision,
             detection_recall, detection_f1, detection_false_positive_rate
entities     entity_precision, entity_recall, entity_f1, entity_f0.5, likewise
spans        exact, f1; has_answer_exact, has_answer_f1, no_answer_exact, no_answer_f1 of the
             questions with an answer and of those without

Everything about classes is computed from one confusion matrix M, M[i][j] = number of examples of
class i that were predicted as j. Matrices of batches or workers add up to that of the whole set, so
a score does not depend on how the set was cut. All results are Python floats (nothing of NumPy may
reach a checkpoint) and 0.0 where a score is undefined.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..messages import named, quoted
from . import squad
from .choices import SENTENCE_METRICS
from .entity_spans import span_counts, types_of
from .labeling import METRICS_OF, check_equal, counted, word_groups
from .sentence_counts import corpus_score

NAMES: dict[str, tuple[str, ...]] = {
    "classes": ("accuracy", "f1", "macro_f1", "mcc"),
    "score": ("pearson", "spearman", "mse"),
    "word_labels": (
        "accuracy",
        *(f"entity_{name}" for name in ("precision", "recall", "f1", "f0.5")),
        *(f"token_{name}" for name in ("precision", "recall", "f0.5")),
        *(f"detection_{name}" for name in ("precision", "recall", "f1", "false_positive_rate")),
    ),
    "entities": tuple(f"entity_{name}" for name in ("precision", "recall", "f1", "f0.5")),
    # those at the threshold that is best in hindsight choose no checkpoint
    "spans": tuple(name for name in squad.LOGGED if not name.startswith("tuned_")),
}
LOWER_IS_BETTER = frozenset({"mse", "loss", "nll_loss", "ppl", "detection_false_positive_rate"})


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of a sample; nan of fewer than two, or not all numbers."""
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return math.nan
    return statistics.stdev(values)


def score(
    target: str,
    gold: Sequence[Any],
    predicted: Sequence[Any],
    labels: Sequence[str] = (),
    positive: str = "",
) -> dict[str, float]:
    """Compute every metric that applies.

    Args:
        target: a key of `NAMES`.
        gold: a class name, a number, a row of labels, entities or answers an example, of which an
            unanswerable question has none; None without gold.
        predicted: the same, complete; of answers one, empty for none.
        labels: all classes or word labels.
        positive: the class that F1 is about, or the label of erroneous words; "" if none.

    Returns:
        metric -> value, of the examples that have gold.

    Raises:
        InputError: nothing has gold, unequal counts, an unknown target, class or positive label.
    """
    if target not in NAMES:
        raise InputError(f"target {target!r} is not one of {', '.join(NAMES)}")
    if positive and positive not in labels:
        raise InputError(f"positive label {positive!r} is not one of {named(labels)}")
    columns = _with_gold(gold, predicted)
    once = np.ones(len(columns[0]), dtype=np.int64)
    found = counts_of(target, *columns, labels, positive).values()
    return {name: value for one in found for name, value in one.metrics(once).items()}


def _with_gold(gold: Sequence[Any], predicted: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    check_equal(gold, predicted)
    pairs = [(truth, guess) for truth, guess in zip(gold, predicted) if truth is not None]
    if not pairs:
        raise InputError("no example has a gold label: there is nothing to score")
    return [truth for truth, _ in pairs], [guess for _, guess in pairs]


class Counts(NamedTuple):
    """Numbers of n examples that make metrics, however often each example counts.

    Args:
        kind: ``classes`` (a cell of the confusion matrix), ``score`` (gold, predicted), ``spans``
            (exact match, F1, whether there is an answer), or one of `labeling.METRICS_OF` and
            `choices.SENTENCE_METRICS`, whose columns add up.
        table: of the examples, (n, k).
        classes: how many there are, of ``classes``.
        positive: number of the class that F1 is about; None for none.
    """

    kind: str
    table: np.ndarray
    classes: int = 0
    positive: int | None = None

    def metrics(self, weights: np.ndarray, names: Iterable[str] = ()) -> dict[str, float]:
        """Return the metrics of examples of which each counts so often, (n,).

        Args:
            weights: whole numbers.
            names: of the metrics that are wanted, of ``score`` alone (default: all).
        """
        if self.kind in METRICS_OF:
            return METRICS_OF[self.kind](*(weights @ self.table).tolist())
        if self.kind in SENTENCE_METRICS:
            return {self.kind: corpus_score(self.kind, weights @ self.table)}
        return _OTHER_METRICS[self.kind](self, weights, names)


def counts_of(
    target: str,
    gold: Sequence[Any],
    predicted: Sequence[Any],
    labels: Sequence[str] = (),
    positive: str = "",
) -> dict[str, Counts]:
    """Return what metrics are computed of: the beginning of their names -> counts.

    Of all but labels of words all metrics have the same, under the empty beginning.

    Args:
        target, gold, predicted, labels, positive: see `score`; every example has gold.

    Raises:
        InputError: unequal counts, or a class that is none of the labels.
    """
    if target == "score":
        return {"": Counts("score", np.array([gold, predicted], dtype=float).T)}
    if target == "spans":
        rows = [(*squad.scores_of(*pair), bool(pair[0])) for pair in zip(gold, predicted)]
        return {"": Counts("spans", np.array(rows, dtype=float))}
    if target == "classes":
        place = labels.index(positive) if positive in labels else None
        return {"": Counts("classes", cells(gold, predicted, labels)[:, None], len(labels), place)}
    if target == "entities":
        kind = word_groups([f"B-{kind}" for kind in types_of(labels)], "")["entity"].kind
        return {"": Counts(kind, np.array([*map(span_counts, gold, predicted)]))}  # (n, 3)
    return {
        prefix: Counts(group.kind, counted(group.counts, gold, predicted))
        for prefix, group in word_groups(labels, positive).items()
    }


def cells(gold: Sequence[Any], predicted: Sequence[Any], labels: Sequence[Any]) -> np.ndarray:
    """Return i C + j for each of n examples of class i, of C, that are predicted as j; (n,).

    Raises:
        InputError: unequal counts, or a class that is none of the labels.
    """
    check_equal(gold, predicted)
    ids = {label: number for number, label in enumerate(labels)}
    unknown = next((label for label in (*gold, *predicted) if label not in ids), None)
    if unknown is not None:
        raise InputError(f"class {quoted(unknown)} is not one of {named(ids)}")
    pairs = [ids[truth] * len(ids) + ids[guess] for truth, guess in zip(gold, predicted)]
    return np.array(pairs, dtype=np.int64)


def confusion(cells: np.ndarray, weights: np.ndarray, classes: int) -> list[list[int]]:
    """Count gold (rows) against predicted classes, (C, C), of `cells` and how often each counts."""
    counts = np.bincount(cells, weights, classes**2).astype(int)
    return counts.reshape(classes, classes).tolist()


def class_metrics(matrix: Sequence[Sequence[int]], positive: int | None = None) -> dict[str, float]:
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


def score_metrics(
    gold: Sequence[float], predicted: Sequence[float], names: Iterable[str] = NAMES["score"]
) -> dict[str, float]:
    """Return metrics of two columns of numbers."""
    return {name: SCORE_METRICS[name](gold, predicted) for name in names}


def _score_metrics(one: Counts, weights: np.ndarray, names: Iterable[str]) -> dict[str, float]:
    columns = (np.repeat(column, weights).tolist() for column in one.table.T)
    return score_metrics(*columns, names=names or SCORE_METRICS)


def _class_metrics(one: Counts, weights: np.ndarray, _: Iterable[str]) -> dict[str, float]:
    places = one.table[:, 0].astype(np.int64)
    return class_metrics(confusion(places, weights, one.classes), one.positive)


def _span_metrics(one: Counts, weights: np.ndarray, _: Iterable[str]) -> dict[str, float]:
    return squad.span_metrics(one.table[:, :2], one.table[:, 2] > 0, weights)


_OTHER_METRICS = {"score": _score_metrics, "classes": _class_metrics, "spans": _span_metrics}
COLUMNS = {  # kind of `Counts` -> columns of its table
    **{"classes": 1, "score": 2, "spans": 3, "bleu": 10, "chrf": 18},
    **{"accuracy": 2, "entity": 3, "edits": 3, "token": 3, "detection": 4},
}
PARTS = {  # kind -> pairs of columns of which the first is part of the second, in every example
    **{"spans": ((0, 1),), "accuracy": ((0, 1),)},  # no exact match without F1; right words
    **dict.fromkeys(("entity", "edits", "token"), ((0, 1), (0, 2))),  # right ones
    "bleu": tuple((n + 2, n + 6) for n in range(4)),
    "chrf": tuple((n + 2, n + side) for n in range(0, 18, 3) for side in (0, 1)),
}
MOST = {"spans": 1, "detection": 1}  # kind -> the largest number; the least is 0 but of ``score``
