"""Sets of labels: any number of labels per example, also none.

The loss of an example is the mean of the binary cross-entropies of its labels, independent of the
number of labels. A label is predicted if its probability (a sigmoid) reaches its threshold: 0.5, or
the result of `MultiLabel.tuned`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..messages import named, quoted
from .by_label import Sums, by_label, weighted_f1
from .classes import ClassPrediction
from .counts import CountKind, Counts, ratio
from .gold import IdSets
from .label_sets import LabelSet, joined, parted
from .labeling import check_equal, precision_recall_f
from .prediction import Prediction, sentences_of, shares_of, texts_of
from .target import About, Losses, Row, Said, Target, Weights, mean

if TYPE_CHECKING:
    from torch import Tensor

THRESHOLD = 0.5


class SetPrediction(ClassPrediction):
    """A `LabelSet`; ``probabilities`` are independent for all labels."""

    FIELDS = ("id", "label_set", "probabilities", "gold", "texts")
    HEAD = ("id", "label_set", "gold")

    label_set = property(attrgetter("answer"))

    shares, judged = (), []  # probabilities of decisions are no answer's

    @property
    def text(self) -> str:
        """The labels for readers."""
        return ", ".join(map(self.shown, self.answer)) or "no label"

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Yield the labels and the true labels."""
        yield self.answer, "" if self.gold is None else self.gold


def set_metrics(
    counts: Sequence[Row], right: float, examples: float, positive: int | None = None
) -> dict[str, float]:
    """Return metrics; F1 = 2 TP / (2 TP + FP + FN) is 0 if undefined.

    ``micro_f1`` is over all labels together, ``macro_f1`` the mean over labels, also those that
    never occur.

    Args:
        counts: number of times that each label is correct, predicted and true, (3, C).
        right, examples: numbers of correct sets, and of all.
        positive: the label whose ``f1`` is added.
    """
    each = [precision_recall_f(*one)[2] for one in zip(*counts)]
    sums = [sum(row) for row in counts]
    scores = {
        "weighted_f1": weighted_f1(zip(*counts)),
        "micro_f1": ratio(2 * sums[0], sums[1] + sums[2]),
        "macro_f1": ratio(sum(each), len(each)),
        "subset_accuracy": ratio(right, examples),
    }
    return scores if positive is None else {**scores, "f1": each[positive]}


def _label_counts(table: np.ndarray, weights: np.ndarray) -> list[list[int]]:
    return [(weights @ one).tolist() for one in (table == 3, table % 2, table // 2)]


def _of_sets(one: Counts, weights: np.ndarray, _: Iterable[str]) -> dict[str, float]:
    table = one.table.astype(np.int64)
    right = int(weights @ np.isin(table, (0, 3)).all(1))
    return set_metrics(_label_counts(table, weights), right, int(weights.sum()), one.positive)


SETS = CountKind("sets", 0, of_all=_of_sets, most=3)  # of each label 2 x true + predicted


class SetTally:
    """Counts of labels and of sets.

    Args:
        thresholds: least probability of predicted labels: one for all, or one per label.
    """

    by_example = False

    def __init__(
        self,
        labels: Sequence[str],
        *,
        positive: str = "",
        thresholds: Sequence[float] = (THRESHOLD,),
        each: bool = False,
    ) -> None:
        self.positive = labels.index(positive) if positive else None
        self.thresholds, self.each = thresholds, [*labels] if each else []
        self.metrics = tuple(self._scores([[0] * len(labels)] * 3, 0, 0))

    def count(self, logits: Tensor, extra: Said, sample: Said) -> Said:
        """Count correct, predicted and true labels, (3, C); correct sets; examples."""
        import torch

        gold, shares = sample["target"].bool(), logits.double().sigmoid()  # (n, C)
        said = shares >= shares.new_tensor(self.thresholds)
        found = torch.stack([said & gold, said, gold]).sum(1)
        return {"labels": found, "right": (said == gold).all(1).sum(), "sets": len(gold)}

    def score(self, counts: Said) -> dict[str, float]:
        right, examples = float(counts["right"]), float(counts["sets"])
        return self._scores(counts["labels"].tolist(), right, examples)

    def _scores(self, counts: Sequence[Row], right: float, examples: float) -> dict[str, float]:
        each = by_label(dict(zip(self.each, zip(*counts))))
        return set_metrics(counts, right, examples, self.positive) | each


class MultiLabel(Target):
    """Several labels per example, or none."""

    name, task, said, key = "multi_label", "text_classification", "sets of labels", "label_set"
    metrics = ("micro_f1", "macro_f1", "subset_accuracy", "f1", "weighted_f1")
    prediction = SetPrediction
    formats = ("jsonl", "tsv")
    compared = frozenset({"src"})
    needed = ("id", "label_set", "probabilities")
    judged = True
    kinds = (SETS,)
    gold = IdSets
    few = several = True
    share, problem = "subset_accuracy", "multi_label_classification"

    def spelt(self, text: str, known: Callable[[str], str]) -> str:
        """Return a set by the names of its labels; refuse empty and repeated labels."""
        labels = parted(text)
        if "" in labels:
            raise InputError(f"{quoted(text)} has an empty label (a bar alone is the empty set)")
        called = [known(label) for label in labels]
        if twice := [one for one in called if called.count(one) > 1]:
            raise InputError(f"{quoted(text)} has label {quoted(twice[0])} twice")
        return joined(called)

    def written(self, example: Any) -> Sequence[str] | None:
        return None if example.label is None else parted(example.label)

    def value(self, label: str) -> Any:
        return LabelSet(parted(label))

    def named(self, value: Any, labels: Sequence[str]) -> Any:
        return LabelSet(labels[number] for number in value)

    def counts(self, gold: Row, predicted: Row, labels: Row, positive: str) -> dict[str, Counts]:
        """Return 2 x true + predicted for each example and label, (n, C)."""
        check_equal(gold, predicted)
        ids = {label: number for number, label in enumerate(labels)}
        table = np.zeros((len(gold), len(ids)), dtype=np.int64)
        for row, pair in zip(table, zip(predicted, gold)):
            for worth, found in enumerate(pair, 1):
                if unknown := [label for label in found if label not in ids]:
                    raise InputError(f"label {quoted(unknown[0])} is not one of {named(ids)}")
                row[[ids[label] for label in found]] += worth
        return {"": Counts(SETS, table, len(ids), ids.get(positive))}

    def sums(self, gold: Row, predicted: Row, labels: Row) -> Sums:
        table = self.counts(gold, predicted, labels, "")[""].table
        return dict(zip(labels, zip(*_label_counts(table, np.ones(len(table), dtype=np.int64)))))

    def labels_in(self, gold: Row, predicted: Row) -> Row:
        """Return the choices of the first answer, and other occurring labels."""
        known = getattr(predicted[0], "choices", ())
        occurring = {label for row in (*gold, *predicted) for label in row}
        return [*known, *sorted(occurring.difference(known))]

    def positives(self, metric: str, gold: Row) -> Row | None:
        return sorted({label for row in gold for label in row}) if metric == "f1" else None

    def read(self, record: Said, where: str, line: int) -> Prediction:
        answer, gold = texts_of(record, self.key, where), record.get("gold")
        shares = shares_of(record, answer, where)
        gold = None if gold is None else LabelSet(texts_of(record, "gold", where))
        for key, labels in ((self.key, answer), ("gold", gold or ())):
            if unfit := [one for one in labels if one not in shares or labels.count(one) > 1]:
                raise InputError(f"{where}: {key} has {quoted(unfit[0])} twice, or unknown")
        said, texts = LabelSet.among(answer, shares), sentences_of(record, where)
        return SetPrediction(str(record["id"]), said, gold, texts, shares, line)

    def rate(self, one: Prediction) -> float:
        """Return the mean probability of the truth over labels, in %."""
        shares = [s if label in one.gold else 1 - s for label, s in one.probabilities.items()]
        return 100 * ratio(math.fsum(shares), len(shares))

    def shown(self, one: Prediction, positive: str = "") -> tuple[list[tuple[str, bool]], str]:
        """Return the predicted labels, and the number of correct decisions."""
        gold = one.answer if one.gold is None else one.gold
        pieces = [(label, label in gold) for label in one.answer] or [("no label", not gold)]
        count, wrong = len(one.probabilities), {*one.answer}.symmetric_difference(gold)
        told = f"{count - len(wrong)} of {count} right"
        return pieces, "no gold" if one.gold is None else told

    def losses(self, logits: Tensor, extra: Said, sample: Said, weights: Weights) -> Losses:
        """Return the sum over examples of their labels' mean cross-entropy."""
        from torch.nn import functional

        target = sample["target"].to(logits)
        each = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        return each.mean(1).sum(), {}

    def right(self, logits: Tensor, target: Tensor) -> Tensor:
        """Count correct sets of a batch, with thresholds of 0.5."""
        return ((logits >= 0) == target.bool()).all(1).sum()

    def tally(self, labels: Sequence[str], **how: Any) -> SetTally:
        return SetTally(labels, **how)

    def thresholds(self, text: str | None, labels: Sequence[str]) -> tuple[float, ...]:
        """Return the threshold of each label."""
        try:
            found = [float(part) for part in text.split(",")] if text is not None else [THRESHOLD]
        except ValueError:
            found = []
        if len(found) not in (1, len(labels)) or not all(0 <= one <= 1 for one in found):
            raise InputError(
                f"--label-thresholds {quoted(text)}: expected a number from 0 to 1, or one for "
                f"each of {named(labels)}, with commas between"
            )
        return tuple(found if len(found) > 1 else found * len(labels))

    def tuned(self, made: Sequence[Prediction], labels: Sequence[str]) -> str:
        """Return as text the threshold of each label with the highest F1."""
        known = [one for one in made if one.gold is not None]
        rows = (
            [(one.probabilities[label], label in one.gold) for one in known] for label in labels
        )
        return ",".join(repr(best_threshold(*map(np.array, zip(*row)))) for row in rows)

    def join(self, logits: Sequence[Tensor]) -> Tensor:
        """Return mean probabilities, (R, C)."""
        return mean([found.double().cpu().sigmoid() for found in logits])

    def predict(self, rows: Any, about: About) -> Prediction:
        """Return the labels whose probability reaches their threshold."""
        shares, labels = rows[0].tolist(), about.labels
        each = zip(labels, shares, about.thresholds, strict=True)
        answer = LabelSet.among((label for label, share, least in each if share >= least), labels)
        every = dict(zip(labels, shares))
        return SetPrediction(about.id, answer, about.gold, (), every, names=about.names)


def best_threshold(shares: np.ndarray, gold: np.ndarray) -> float:
    """Return the threshold of the highest F1, midway between two probabilities, nearest to 0.5."""
    order = np.argsort(shares)
    shares, gold = shares[order], gold[order].astype(bool)
    right = gold.sum() - np.concatenate([[0], gold.cumsum()[:-1]])  # from the k-th on
    quality = 2 * right / (np.arange(len(gold), 0, -1) + max(1, gold.sum()))
    below = np.concatenate([[0.0], shares[:-1]])
    least = np.where((below < THRESHOLD) & (shares >= THRESHOLD), THRESHOLD, (below + shares) / 2)
    apart = np.flatnonzero(shares > below) if gold.any() else np.zeros(0, dtype=int)
    found = max(apart, key=lambda k: (quality[k], -abs(least[k] - THRESHOLD)), default=None)
    return THRESHOLD if found is None else float(least[found])


MULTI_LABEL = MultiLabel()
