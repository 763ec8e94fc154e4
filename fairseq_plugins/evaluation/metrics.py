"""All metrics that apply to a prediction, by the names that fairseq's validation logs them under.

classes      accuracy, macro_f1, mcc; f1 of the positive class where there is one
score        pearson, spearman, mse
word_labels  accuracy; entity_precision, entity_recall, entity_f1 where labels name entities
             (B-, I- ...); with an error label token_precision, token_recall, token_f0.5,
             detection_precision, detection_recall, detection_f1, detection_false_positive_rate
spans        exact, f1; has_answer_exact, has_answer_f1, no_answer_exact, no_answer_f1 of the
             questions with an answer and of those without
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..messages import named, quoted
from . import classification as classes
from . import squad
from .labeling import word_groups

NAMES: dict[str, tuple[str, ...]] = {
    "classes": ("accuracy", "f1", "macro_f1", "mcc"),
    "score": ("pearson", "spearman", "mse"),
    "word_labels": (
        "accuracy",
        *(f"entity_{name}" for name in ("precision", "recall", "f1")),
        *(f"token_{name}" for name in ("precision", "recall", "f0.5")),
        *(f"detection_{name}" for name in ("precision", "recall", "f1", "false_positive_rate")),
    ),
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
        gold: a class name, a number, a row of labels or one of answers an example, of which an
            unanswerable question has none; None without gold.
        predicted: the same, complete; of answers one, empty for none.
        labels: all classes or word labels.
        positive: the class that F1 is about, or the label of erroneous words; "" if none.

    Returns:
        metric -> value, of the examples that have gold.

    Raises:
        ValueError: nothing has gold, unequal counts, an unknown target, class or positive label.
    """
    if target not in NAMES:
        raise ValueError(f"target {target!r} is not one of {', '.join(NAMES)}")
    if positive and positive not in labels:
        raise ValueError(f"positive label {positive!r} is not one of {named(labels)}")
    columns = _with_gold(gold, predicted)
    if target == "score":
        return classes.score_metrics(*columns)
    if target == "spans":
        scores = np.array([squad.scores_of(*pair) for pair in zip(*columns)])
        return squad.span_metrics(scores, np.array([bool(golds) for golds in columns[0]]))
    if target == "classes":
        matrix = classes.confusion(*(_ids(column, labels) for column in columns), len(labels))
        return classes.class_metrics(matrix, labels.index(positive) if positive else None)
    groups = word_groups(labels, positive).values()
    found = (group.metrics(*group.counts(*columns)) for group in groups)
    return {name: value for part in found for name, value in part.items()}


def _with_gold(gold: Sequence[Any], predicted: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    classes.check_equal(gold, predicted)
    pairs = [(truth, guess) for truth, guess in zip(gold, predicted) if truth is not None]
    if not pairs:
        raise ValueError("no example has a gold label: there is nothing to score")
    return [truth for truth, _ in pairs], [guess for _, guess in pairs]


def _ids(column: Sequence[str], labels: Sequence[str]) -> list[int]:
    ids = {label: number for number, label in enumerate(labels)}
    unknown = next((label for label in column if label not in ids), None)
    if unknown is not None:
        raise ValueError(f"class {quoted(unknown)} is not one of {named(ids)}")
    return [ids[label] for label in column]
