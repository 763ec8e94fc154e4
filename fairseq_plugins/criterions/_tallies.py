"""Counts of a batch that add up to the metrics of a whole split.

MCC, F1 or Spearman of a split is no mean of those of its batches. So every batch gives counts;
fairseq sums them over batches and workers, and metrics are derived from the sums: the same to the
last digit whatever the batches and however many workers. Scores are kept in vectors as long as the
split, in which each batch fills the places of its own examples.

Counts are named ``_...``, which fairseq keeps out of its logs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch
from fairseq.logging import metrics
from torch import Tensor

from ..evaluation import labeling
from ..evaluation.metrics import (
    class_metrics,
    detection_metrics,
    entity_metrics,
    names_entities,
    score_metrics,
    token_metrics,
)

Counts = Mapping[str, Any]


class Tally(Protocol):
    """What turns predictions into counts, and sums of counts into metrics.

    Attributes:
        metrics: names of the metrics.
    """

    metrics: tuple[str, ...]

    def count(self, logits: Tensor, sample: Mapping[str, Any]) -> dict[str, Any]:
        """Return the counts of a batch: numbers, or tensors of one shape for the whole split."""

    def score(self, counts: Counts) -> dict[str, float]:
        """Return metric -> value; 0.0 where it is undefined."""


class Classes:
    """Confusion matrix of single labels.

    Args:
        labels: in id order.
        positive: the label that F1 is about; empty if none.
    """

    def __init__(self, labels: Sequence[str], positive: str = "") -> None:
        self.size = len(labels)
        self.positive = labels.index(positive) if positive else None
        self.metrics = tuple(class_metrics([[0] * self.size] * self.size, self.positive))

    def count(self, logits: Tensor, sample: Mapping[str, Any]) -> dict[str, Any]:
        """Count examples by gold and predicted class, (C, C)."""
        pairs = sample["target"] * self.size + logits.argmax(-1)  # (n,)
        matrix = torch.bincount(pairs, minlength=self.size**2).view(self.size, self.size)
        return {"_confusion": _column(matrix)}

    def score(self, counts: Counts) -> dict[str, float]:
        """Return accuracy, macro F1, MCC, and F1 if a label is positive."""
        return class_metrics(counts["_confusion"].long().tolist(), self.positive)


class Scores:
    """Gold and predicted scores, each at its example's place."""

    metrics = tuple(score_metrics([], []))

    def count(self, logits: Tensor, sample: Mapping[str, Any]) -> dict[str, Any]:
        """Return gold and predicted scores and how often they were seen, each (total,)."""
        return scattered({"gold": sample["target"], "predicted": logits[:, 0]}, sample)

    def score(self, counts: Counts) -> dict[str, float]:
        """Return Pearson and Spearman correlation and mean squared error."""
        values = gathered(counts)
        return score_metrics(*(values[name].tolist() for name in ("gold", "predicted")))


class WordLabels:
    """Counts of words, of entities, and of erroneous words and sentences.

    Args:
        labels: in id order; entities are counted if they name any.
        positive: label of erroneous words; empty if there is none.
    """

    def __init__(self, labels: Sequence[str], positive: str = "") -> None:
        self.labels = list(labels)
        self.positive = positive
        # group of counts -> their number, and the metrics they give
        self._groups: dict[str, tuple[int, Callable[..., dict[str, float]]]] = {
            "words": (2, lambda right, words: {"accuracy": right / words if words else 0.0})
        }
        if names_entities(labels):
            self._groups["entities"] = (3, entity_metrics)
        if positive:
            self._groups["tokens"] = (3, token_metrics)
            self._groups["sentences"] = (4, detection_metrics)
        zeros = {name: 0 for group in self._groups for name in self._names(group)}
        self.metrics = tuple(self.score(zeros))

    def _names(self, group: str) -> list[str]:
        return [f"_{group}_{place}" for place in range(self._groups[group][0])]

    def count(self, logits: Tensor, sample: Mapping[str, Any]) -> dict[str, Any]:
        """Count what `_groups` names."""
        lengths = sample["words_per_example"].tolist()
        gold, predicted = sample["target"].cpu(), logits.argmax(-1).cpu()  # (W,)
        rows = [
            [[self.labels[i] for i in row] for row in map(torch.Tensor.tolist, ids.split(lengths))]
            for ids in (gold, predicted)
        ]
        found: dict[str, Sequence[int]] = {"words": (int((gold == predicted).sum()), len(gold))}
        if "entities" in self._groups:
            by_type = labeling.entity_counts(*rows).values()
            found["entities"] = [sum(column) for column in zip((0, 0, 0), *by_type)]
        if self.positive:
            found["tokens"] = labeling.token_counts(*rows, self.positive)
            found["sentences"] = labeling.detection_counts(*rows, self.positive)
        return {
            name: value
            for group, values in found.items()
            for name, value in zip(self._names(group), values)
        }

    def score(self, counts: Counts) -> dict[str, float]:
        """Return the metrics of all groups."""
        scores = {}
        for group, (_, metrics_of) in self._groups.items():
            scores |= metrics_of(*(int(counts[name]) for name in self._names(group)))
        return scores


def log(tally: Tally, logging_outputs: Sequence[Mapping[str, Any]]) -> None:
    """Log the counts of batches, and metrics derived from their sums.

    Args:
        tally: what made the counts.
        logging_outputs: of batches, or their sum over workers; without counts nothing is logged.
    """
    names = [name for name in logging_outputs[0] if name.startswith("_")] if logging_outputs else []
    for name in names:
        total = sum(output[name] for output in logging_outputs)
        if torch.is_tensor(total):
            total = total.as_subclass(Tensor).double() if total.dim() else total.item()
        metrics.log_scalar_sum(name, total)
    if names:
        for metric in tally.metrics:
            metrics.log_derived(metric, _derived(tally, names, metric))


def _derived(tally: Tally, names: Sequence[str], metric: str) -> Callable[[Any], float]:
    return lambda meters: tally.score({name: meters[name].sum for name in names})[metric]


def scattered(values: Mapping[str, Tensor], sample: Mapping[str, Any]) -> dict[str, Tensor]:
    """Put a batch's values into vectors as long as the split, each at its example's place.

    Args:
        values: name without underscore -> (n,).
        sample: the batch.

    Returns:
        One count a value, and one of how often each example was seen, each (total,).
    """
    # The length is part of the name: validation splits of several lengths share their meters.
    total, ids = sample["total"], sample["id"].cpu()
    values = {**values, "seen": torch.ones(len(ids))}
    return {
        f"_{name}_{total}": _column(torch.zeros(total).double().index_copy(0, ids, value))
        for name, value in ((name, value.double().cpu()) for name, value in values.items())
    }


def gathered(counts: Counts) -> dict[str, Tensor]:
    """Return the values that `scattered` spread, of the examples that were seen, in their order."""
    values = {name.split("_")[1]: vector.as_subclass(Tensor) for name, vector in counts.items()}
    seen = values["seen"] > 0
    return {name: vector[seen] / values["seen"][seen] for name, vector in values.items()}


class _Column(Tensor):
    """A tensor that a progress bar shows by its shape: fairseq-validate prints all it is given."""

    def tolist(self) -> str:
        return f"{tuple(self.shape)}"


def _column(values: Tensor) -> Tensor:
    return values.double().cpu().as_subclass(_Column)
