"""What models say about one example: a class, a score, or a label for every word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class ClassPrediction:
    """A class for a sentence or a pair of sentences.

    Args:
        id: the example's.
        label: the most probable class.
        probabilities: of all classes, in the order of the labels' ids; they sum to 1.
        gold: the true class, where it is known.
    """

    id: str
    label: str
    probabilities: dict[str, float]
    gold: str | None = None

    @property
    def probability(self) -> float:
        """Probability of the label."""
        return self.probabilities[self.label]

    @property
    def answer(self) -> str:
        """What is compared with the gold."""
        return self.label

    def record(self) -> dict[str, Any]:
        """Return the fields of a line of JSON; ``gold`` only where it is known."""
        fields = {
            "id": self.id,
            "label": self.label,
            "probability": self.probability,
            "probabilities": self.probabilities,
        }
        return _with_gold(fields, self.gold)


@dataclass(frozen=True)
class ScorePrediction:
    """A number for a sentence or a pair of sentences.

    Args:
        id: the example's.
        score: on the scale of the training data.
        gold: the true score, where it is known.
    """

    id: str
    score: float
    gold: float | None = None

    @property
    def answer(self) -> float:
        """What is compared with the gold."""
        return self.score

    def record(self) -> dict[str, Any]:
        """Return the fields of a line of JSON; ``gold`` only where it is known."""
        return _with_gold({"id": self.id, "score": self.score}, self.gold)


@dataclass(frozen=True)
class WordPrediction:
    """A label for every word of a sentence.

    Args:
        id: the example's.
        words: W words.
        labels: the most probable label of each.
        probabilities: of all labels, for each word.
        gold: the W true labels, where they are known.
    """

    id: str
    words: tuple[str, ...]
    labels: tuple[str, ...]
    probabilities: tuple[dict[str, float], ...]
    gold: tuple[str, ...] | None = None

    @property
    def probability(self) -> tuple[float, ...]:
        """Probability of each word's label."""
        return tuple(p[label] for p, label in zip(self.probabilities, self.labels))

    @property
    def answer(self) -> tuple[str, ...]:
        """What is compared with the gold."""
        return self.labels

    def record(self) -> dict[str, Any]:
        """Return the fields of a line of JSON; ``gold`` only where it is known."""
        fields = {
            "id": self.id,
            "words": self.words,
            "labels": self.labels,
            "probability": self.probability,
        }
        return _with_gold(fields, self.gold)


Prediction = ClassPrediction | ScorePrediction | WordPrediction


def _with_gold(fields: dict[str, Any], gold: Any) -> dict[str, Any]:
    return fields if gold is None else {**fields, "gold": gold}


def mean_answer(target: str, logits: Sequence[Tensor]) -> Tensor:
    """Join what the models of an ensemble say about a batch.

    Args:
        target: ``classes`` | ``score`` | ``word_labels``.
        logits: of each model, (R, C), or (R, 1) for scores; a row is an example or a word.

    Returns:
        Mean probabilities (R, C), or mean scores (R, 1), as float64 on the CPU.
    """
    each = [found.double().cpu() for found in logits]
    if target != "score":
        each = [found.softmax(-1) for found in each]
    return torch.stack(each).mean(0)


def distributions(rows: Tensor, labels: Sequence[str]) -> list[tuple[str, dict[str, float]]]:
    """Return for every row of (R, C) probabilities the best label and all, by name."""
    best = rows.argmax(-1).tolist()
    return [(labels[i], dict(zip(labels, row))) for i, row in zip(best, rows.tolist())]
