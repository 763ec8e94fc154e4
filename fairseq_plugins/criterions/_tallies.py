"""Counts of a batch that add up to the metrics of a whole split.

MCC, F1 or Spearman of a split is no mean of those of its batches. So every batch gives counts;
fairseq sums them over batches and workers, and metrics are derived from the sums: the same to the
last digit whatever the batches and however many workers. Scores are kept in vectors as long as the
split, in which each batch fills the places of its own examples.

Counts are named ``_...``, which fairseq keeps out of its logs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from fairseq.logging import metrics
from torch import Tensor

from ..errors import InputError
from ..evaluation import squad
from ..evaluation.answers import decode, limits_of, windows_of
from ..evaluation.entity_spans import (
    found_spans,
    kept_spans,
    scores_of_types,
    span_counts,
    types_of,
)
from ..evaluation.labeling import counted, word_groups
from ..evaluation.metrics import class_metrics, score_metrics
from ..nn.entity_spans import span_scores
from ..nn.span_search import best_spans

Counts = Mapping[str, Any]
_COLUMNS = tuple(name.replace("_", "") for name in squad.Judged._fields)


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
        self._groups = word_groups(labels, positive)
        empty = (group.metrics(*group.counts([], [])) for group in self._groups.values())
        self.metrics = tuple(name for scores in empty for name in scores)

    def _names(self, group: str) -> list[str]:
        return [f"_{group}_{place}" for place, _ in enumerate(self._groups[group].counts([], []))]

    def count(self, logits: Tensor, sample: Mapping[str, Any]) -> dict[str, Any]:
        """Count what `labeling.word_groups` names."""
        lengths = sample["words_per_example"].tolist()
        rows = [
            [[self.labels[i] for i in row.tolist()] for row in ids.cpu().split(lengths)]
            for ids in (sample["target"], logits.argmax(-1))  # (W,)
        ]
        return {
            name: value
            for key, group in self._groups.items()
            for name, value in zip(self._names(key), counted(group.counts, *rows).sum(0).tolist())
        }

    def score(self, counts: Counts) -> dict[str, float]:
        """Return the metrics of all groups."""
        scores = {}
        for key, group in self._groups.items():
            scores |= group.metrics(*(int(counts[name]) for name in self._names(key)))
        return scores


class Entities:
    """Counts of entities that were found by questions.

    Args:
        labels: of words, in id order, which name the types of entities.
        overlap: whether entities may share words, see `evaluation.entity_spans`.
    """

    def __init__(self, labels: Sequence[str], overlap: str) -> None:
        self.types, self.overlap = types_of(labels), overlap
        self._metrics = scores_of_types(labels)
        self.metrics = tuple(self._metrics(0, 0, 0))

    def count(self, logits: Tensor, sample: Mapping[str, Any]) -> dict[str, Any]:
        """Count entities: right ones, predicted ones, gold ones.

        ``pairs`` of the sample are what the model returns beside its logits.
        """
        pairs = [sample["pairs"][name].detach() for name in ("first", "last", "match")]
        scores = span_scores(logits, *pairs)
        counts = sample["net_input"]["word_counts"]
        first, last, _ = pairs
        rows = found_spans(scores, first, last, counts, sample["asked"], self.types)
        kept = [kept_spans(rows.get(i, ()), self.overlap) for i in range(len(sample["gold"]))]
        found = np.array([*map(span_counts, sample["gold"], kept)]).sum(0).tolist()
        return {f"_entity_{place}": number for place, number in enumerate(found)}

    def score(self, counts: Counts) -> dict[str, float]:
        """Return precision, recall and F1 of entities."""
        return self._metrics(*(int(counts[f"_entity_{place}"]) for place in range(3)))


class Spans:
    """Scores of the best span of every question.

    The threshold of no answer and the best one need all questions at once. So every question
    leaves what its best span scores, what silence would, and its null odds, each at its own place.

    Args:
        threshold: no answer is given where the null odds exceed it.
        longest: most wordpieces of an answer.
    """

    metrics = squad.LOGGED

    def __init__(self, threshold: float, longest: int) -> None:
        self.threshold = threshold
        self.longest = longest

    def count(self, logits: Tensor, sample: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of `evaluation.squad.Judged`, and what was seen, each (total,).

        Raises:
            InputError: the batch holds no passages.
        """
        if "passages" not in sample:
            raise InputError(
                "the questions' texts were not read, as this is the training split: it can be "
                "validated if --valid-subset names it"
            )
        judged = torch.tensor(list(self._judged(logits, sample)), dtype=torch.float64)  # (n, 5)
        columns = dict(zip(_COLUMNS, judged.reshape(-1, len(_COLUMNS)).unbind(1)))
        columns["odds"] = columns["odds"].nan_to_num(torch.inf, torch.inf, -torch.inf)
        return scattered(columns, sample)

    def _judged(self, logits: Tensor, sample: Mapping[str, Any]) -> Iterator[squad.Judged]:
        passages, logits = sample["passages"], logits.float()
        limits = map(torch.from_numpy, limits_of(passages))  # (B, 2) each
        spans = best_spans(logits, *limits, n_best=1, longest=self.longest)  # (B, 1) each
        found = [*spans, logits[:, 0].sum(-1)]
        counts = sample["windows_per_example"].tolist()
        columns = [windows_of(column.cpu().numpy(), counts) for column in found]
        for passage, *parts in zip(passages, *columns):
            answered = decode(passage, *parts)
            yield squad.judge(passage.answers or (), answered.best_text, answered.null_odds)

    def score(self, counts: Counts) -> dict[str, float]:
        """Return the metrics of `evaluation.squad.LOGGED`."""
        values = gathered(counts)
        rows: Sequence[list[float]] = [values[name].tolist() for name in _COLUMNS]
        return squad.log_metrics(map(squad.Judged, *rows), self.threshold)


def sums(logging_outputs: Sequence[Mapping[str, Any]], names: tuple[str, ...]) -> dict[str, float]:
    """Return sums of logged numbers, in double precision; a GPU is waited for once.

    Args:
        logging_outputs: of batches, of the same names, or their sum over workers.
        names: how the names begin of what is summed.
    """
    found = [name for name in (logging_outputs or [{}])[0] if name.startswith(names)]
    numbers = [output[name] for name in found for output in logging_outputs]
    # fairseq sums workers in one tensor with the columns of counts, which are no plain ones
    tensors = [one.as_subclass(Tensor).double() for one in numbers if torch.is_tensor(one)]
    moved = iter(torch.stack(tensors).tolist() if tensors else ())
    known = [next(moved) if torch.is_tensor(number) else float(number) for number in numbers]
    count = len(logging_outputs)
    return {name: sum(known[i * count : (i + 1) * count]) for i, name in enumerate(found)}


def log(tally: Any, logging_outputs: Sequence[Mapping[str, Any]]) -> None:
    """Log the counts of batches, and metrics derived from their sums.

    Args:
        tally: what made the counts.
        logging_outputs: of batches, or their sum over workers; without counts nothing is logged.
    """
    names = [name for name in logging_outputs[0] if name.startswith("_")] if logging_outputs else []
    for name in names:
        total: Any = sum(output[name] for output in logging_outputs)
        if torch.is_tensor(total):
            total = total.as_subclass(Tensor).double() if total.dim() else total.item()
        metrics.log_scalar_sum(name, total)
    if names:
        for metric in tally.metrics:
            metrics.log_derived(metric, _derived(tally, names, metric))


def _derived(tally: Any, names: Sequence[str], metric: str) -> Callable[[Any], float]:
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
