"""Classes of sentences or pairs: one label per example.

All metrics come from one confusion matrix M, M[i][j] = number of examples of class i that are
predicted as j. Matrices of batches or workers add up to the matrix of the whole set, so a score
does not depend on how the set is cut. All results are Python floats (NumPy's must not reach a
checkpoint) and 0.0 for an undefined score.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..messages import named, quoted
from .by_label import Sums, by_label, weighted_f1
from .counts import CountKind, Counts, ratio
from .gold import ClassIds
from .labeling import check_equal
from .prediction import Prediction, sentences_of, shares_of
from .target import About, Row, Said, Target, distributions

if TYPE_CHECKING:
    from torch import Tensor


class ClassPrediction(Prediction):
    """A class.

    ``answer`` is the most probable class; ``probabilities`` maps classes in the order of ids to
    probabilities with sum 1.
    """

    FIELDS = ("id", "label", "name", "probability", "probabilities", "gold", "texts")
    HEAD = ("id", "label", "probability", "gold")

    label = property(attrgetter("answer"))

    @property
    def name(self) -> str | None:
        """The class's description, if it has one."""
        return self.names.get(self.answer)

    @property
    def probability(self) -> float:
        return self.probabilities[self.answer]

    def shown(self, label: str) -> str:
        """Return a class for readers: ``acceptable (1)``, or itself without a name."""
        return f"{self.names[label]} ({label})" if label in self.names else label

    @property
    def shares(self) -> Any:
        return {self.answer: self.probability} if self.probabilities else ()

    @property
    def judged(self) -> list[tuple[float, bool]]:
        is_known = self.probabilities and self.gold is not None
        return [(self.probability, self.answer == self.gold)] if is_known else []

    @property
    def text(self) -> str:
        return self.shown(self.answer)

    @property
    def bars(self) -> list[tuple[str, float]]:
        """All classes with their probabilities, best first."""
        rows = sorted(self.probabilities.items(), key=lambda one: -one[1])
        return [(self.shown(label), share) for label, share in rows]

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Yield the class, its probability and the true class."""
        yield self.answer, f"{self.probability:.6f}", "" if self.gold is None else self.gold


def cells(gold: Sequence[Any], predicted: Sequence[Any], labels: Sequence[Any]) -> np.ndarray:
    """Return i C + j for each of n examples of class i, of C, that are predicted as j; (n,)."""
    check_equal(gold, predicted)
    ids = {label: number for number, label in enumerate(labels)}
    unknown = next((label for label in (*gold, *predicted) if label not in ids), None)
    if unknown is not None:
        raise InputError(f"class {quoted(unknown)} is not one of {named(ids)}")
    pairs = [ids[truth] * len(ids) + ids[guess] for truth, guess in zip(gold, predicted)]
    return np.array(pairs, dtype=np.int64)


def confusion(cells: np.ndarray, weights: np.ndarray, classes: int) -> list[list[int]]:
    """Count gold (rows) against predicted classes, (C, C), from `cells` and the weight of each."""
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
    f1 = [ratio(2 * both, g + p) for both, g, p in zip(each, gold, predicted)]
    occurring = [one for one, g, p in zip(f1, gold, predicted) if g or p]
    covariance = right * total - sum(g * p for g, p in zip(gold, predicted))
    spread = (total**2 - sum(p * p for p in predicted)) * (total**2 - sum(g * g for g in gold))
    scores = {
        "accuracy": ratio(right, total),
        "macro_f1": ratio(sum(occurring), len(occurring)),
        "mcc": ratio(covariance, math.sqrt(spread)),
        "weighted_f1": weighted_f1(sums_of_matrix(matrix)),
    }
    return scores if positive is None else {**scores, "f1": f1[positive]}


def sums_of_matrix(matrix: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Return how often each class is right, predicted and true."""
    rows = zip(matrix, zip(*matrix))
    return [(row[i], sum(column), sum(row)) for i, (row, column) in enumerate(rows)]


def _of_cells(one: Counts, weights: np.ndarray, _: Iterable[str]) -> dict[str, float]:
    places = one.table[:, 0].astype(np.int64)
    return class_metrics(confusion(places, weights, one.classes), one.positive)


CELL = CountKind("classes", 1, of_all=_of_cells)


class ClassTally:
    """Confusion matrix of single labels."""

    by_example = False

    def __init__(
        self, labels: Sequence[str], *, positive: str = "", each: bool = False, **_: Any
    ) -> None:
        self.size, self.each = len(labels), [*labels] if each else []
        self.positive = labels.index(positive) if positive else None
        self.metrics = tuple(self._scores([[0] * self.size] * self.size))

    def count(self, logits: Tensor, extra: Said, sample: Said) -> Said:
        """Count examples by gold and predicted class, (C, C)."""
        pairs = sample["target"] * self.size + logits.argmax(-1)  # (n,)
        return {"confusion": pairs.bincount(minlength=self.size**2).view(self.size, self.size)}

    def score(self, counts: Said) -> dict[str, float]:
        """Return `class_metrics`, and those of each label if wanted."""
        return self._scores(counts["confusion"].long().tolist())

    def _scores(self, matrix: Sequence[Sequence[int]]) -> dict[str, float]:
        each = by_label(dict(zip(self.each, sums_of_matrix(matrix))))
        return class_metrics(matrix, self.positive) | each


class Classes(Target):
    """One class per example."""

    name, task, said, key = "classes", "text_classification", "classes", "label"
    metrics = ("accuracy", "f1", "macro_f1", "mcc", "weighted_f1")
    prediction = ClassPrediction
    compared = frozenset({"src", "positive"})
    needed = ("id", "label", "probabilities")
    judged = weighs = True
    kinds = (CELL,)
    gold = ClassIds
    few, problem = True, "single_label_classification"

    def counts(self, gold: Row, predicted: Row, labels: Row, positive: str) -> dict[str, Counts]:
        """Return the cell of the confusion matrix of each example."""
        place = labels.index(positive) if positive in labels else None
        return {"": Counts(CELL, cells(gold, predicted, labels)[:, None], len(labels), place)}

    def sums(self, gold: Row, predicted: Row, labels: Row) -> Sums:
        once, places = np.ones(len(gold)), cells(gold, predicted, labels)
        return dict(zip(labels, sums_of_matrix(confusion(places, once, len(labels)))))

    def labels_in(self, gold: Row, predicted: Row) -> Row:
        return sorted({*gold, *predicted})

    def positives(self, metric: str, gold: Row) -> Row | None:
        return sorted({*gold}) if metric == "f1" else None

    def read(self, record: Said, where: str, line: int) -> Prediction:
        gold, label = record.get("gold"), record["label"]
        if not isinstance(label, str) or not isinstance(gold, str | None):
            raise InputError(f"{where}: label {quoted(label)} and gold {quoted(gold)} are no texts")
        shares = shares_of(record, [label], where)
        return ClassPrediction(
            str(record["id"]), label, gold, sentences_of(record, where), shares, line
        )

    def rate(self, one: Prediction) -> float:
        """Return the probability of the true class, in %."""
        return 100 * one.probabilities.get(one.gold, 0.0)

    def shown(self, one: Prediction, positive: str = "") -> tuple[list[tuple[str, bool]], str]:
        """Return the class, and the probability of the positive class or of the answer."""
        chance = f"{100 * one.probabilities.get(positive or one.answer, 0.0):.2f}%"
        note = f"{positive}: {chance}" if positive else chance
        return [(one.answer, one.gold in (one.answer, None))], note

    def tally(self, labels: Sequence[str], **how: Any) -> ClassTally:
        return ClassTally(labels, **how)

    def named(self, value: Any, labels: Sequence[str]) -> Any:
        return labels[value]

    def predict(self, rows: Any, about: About) -> Prediction:
        label, shares = distributions(rows, about.labels)[0]
        return ClassPrediction(about.id, label, about.gold, (), shares, names=about.names)


CLASSES = Classes()
