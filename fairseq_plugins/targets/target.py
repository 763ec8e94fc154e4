"""A kind of target: what a model learns of an example, how it is told, and how it is scored.

What is given a `Target` never asks for its name: what makes it different is its attributes and
methods, in one file a kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ..errors import InputError
from ..messages import named
from .counts import CountKind, Counts
from .gold import Gold
from .labeling import check_equal
from .prediction import Prediction

if TYPE_CHECKING:
    from torch import Tensor

Row = Sequence[Any]  # of examples, of labels
Said = Mapping[str, Any]  # what models, batches and counts have, by name
Weights = Mapping[str, float]  # of losses
Outputs = Sequence[tuple["Tensor", Said]]  # of models: logits, and what they say beside
Losses = tuple["Tensor", dict[str, "Tensor"]]  # of the target, and further ones

OF_LABELS, OF_SPANS, OF_PAIRS = "labels", "spans", "pairs"  # what a head makes of states


class About(NamedTuple):
    """What is known of an example that is predicted.

    Args:
        id: its own.
        labels: all, in the order of their ids.
        words: of the example, where words have answers.
        gold: what is true; None if unknown.
        names: label -> what it means.
        thresholds: of the labels; see `Target.thresholds`.
    """

    id: str
    labels: Sequence[str] = ()
    words: Sequence[str] = ()
    gold: Any = None
    names: Mapping[str, str] = {}
    thresholds: Sequence[float] = ()


class Tally(Protocol):
    """Counts of a batch that add up to the metrics of a whole split.

    Attributes:
        metrics: names of what ``score`` returns.
        by_example: whether a batch gives a number for each of its examples, which stays at the
            example's place in the split, and not numbers that are added.
    """

    metrics: tuple[str, ...]
    by_example: bool

    def count(self, logits: Tensor, extra: Said, sample: Said) -> Said:
        """Count a batch, of what a model says about it: name -> numbers."""

    def score(self, counts: Said) -> dict[str, float]:
        """Return metrics of the sums of counts; 0.0 where one is undefined."""


class Target(ABC):
    """A kind of target.

    Attributes:
        name: as manifests and checkpoints have it.
        task: name of the task that learns it.
        said: what messages call it, in the plural.
        metrics: names of all its metrics; the first is its headline.
        prediction: what a system says about an example.
        key: name of the answer in a line of JSON.
        formats: of files of predictions.
        kinds: of its counts.
        gold: how its values lie in a prepared folder.
        labelled: whether it has a list of labels.
        by_word: whether words have it, and not whole examples.
        asks: whether a question is put to every text.
        passages: whether questions share passages, which `prepare questions` makes.
        joins: whether several models make an ensemble.
        compared: options of a comparison, example by example, that say something about it; None
            where its predictions are not compared.
        needed: what a line of JSON must have to be compared.
        judged: whether an answer is right or wrong, and not better or worse.
        source: target whose folders serve for this one as well; None for none.
        few: whether it usually has a few labels only.
        several: whether an example has any number of labels, and not one.
        problem: what transformers calls it; empty where it has no name for it.
        head: what its head makes of an encoder's states.
        share: name of the share of right answers in training's log; empty for none.
    """

    name: str
    task: str
    said: str
    metrics: tuple[str, ...]
    prediction: type[Prediction] = Prediction
    key: str
    kinds: tuple[CountKind, ...]
    gold: type[Gold]
    formats: tuple[str, ...] = ("jsonl", "tsv", "glue")
    labelled = True
    by_word = False
    asks = False
    passages = False
    joins = True
    compared: frozenset[str] | None = None
    needed: tuple[str, ...] = ()
    judged = False
    few = False
    several = False
    problem = ""
    source: Target | None = None
    only: ClassVar[Any]
    head = OF_LABELS
    share = "accuracy"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return repr(self.name)

    @property
    def pools(self) -> bool:
        """Whether it is read off the first token of an example."""
        return self.head == OF_LABELS and not self.by_word

    def __new__(cls) -> Target:
        """Return the one value of a kind, which copies and other processes have as well."""
        if "only" not in cls.__dict__:
            cls.only = super().__new__(cls)
        return cls.only

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def spelt(self, text: str, known: Callable[[str], str]) -> str:
        """Return what a file says of an example's gold, as it is called.

        Args:
            text: as the file has it.
            known: returns a label as it is called.

        Raises:
            InputError: there is no such gold.
        """
        return known(text)

    def written(self, example: Any) -> Sequence[str] | None:
        """Return the gold of an example (`corpora.examples.Example`) by label; None without."""
        return None if example.label is None else (example.label,)

    def truth(self, example: Any) -> Any:
        """Return the gold of an example as a prediction has it; None without."""
        if self.by_word:
            return example.word_labels
        return None if example.label is None else self.value(example.label)

    @abstractmethod
    def counts(self, gold: Row, predicted: Row, labels: Row, positive: str) -> dict[str, Counts]:
        """Return what metrics are computed of: the beginning of their names -> counts.

        Args:
            gold, predicted, labels, positive: see `score`; every example has gold.

        Raises:
            InputError: unequal counts, or a class that is none of the labels.
        """

    def score(
        self,
        gold: Sequence[Any],
        predicted: Sequence[Any],
        labels: Sequence[str] = (),
        positive: str = "",
    ) -> dict[str, float]:
        """Compute every metric that applies.

        Args:
            gold: what is true of each example; None without gold.
            predicted: what a system says about each.
            labels: all classes or word labels.
            positive: the class that F1 is about, or the label of erroneous words; "" if none.

        Returns:
            metric -> value, of the examples that have gold.

        Raises:
            InputError: nothing has gold, unequal counts, an unknown class or positive label.
        """
        if positive and positive not in labels:
            raise InputError(f"positive label {positive!r} is not one of {named(labels)}")
        check_equal(gold, predicted)
        pairs = [(truth, guess) for truth, guess in zip(gold, predicted) if truth is not None]
        if not pairs:
            raise InputError("no example has a gold label: there is nothing to score")
        once, (true, said) = np.ones(len(pairs), dtype=np.int64), map(list, zip(*pairs))
        found = self.counts(true, said, labels, positive).values()
        return {name: value for one in found for name, value in one.metrics(once).items()}

    def counts_for(
        self, metric: str, gold: Sequence[Any], predicted: Sequence[Any], positive: str = ""
    ) -> Counts:
        """Return what one metric is computed of, of answers that are read from a file.

        Raises:
            InputError: a metric that does not go with the answers, or a positive label that it
                lacks.
        """
        if metric not in self.metrics:
            raise InputError(f"metric {metric!r} is not one of {', '.join(self.metrics)}")
        if (known := self.positives(metric, gold)) is not None and positive not in known:
            told = f"{positive!r} is none of {named(known)}"
            raise InputError(f"metric {metric!r} needs the positive label, {told}")
        found = self.counts(gold, predicted, self.labels_in(gold, predicted), positive)
        return next(one for prefix, one in found.items() if metric.startswith(prefix))

    def labels_in(self, gold: Row, predicted: Row) -> Row:
        """Return the labels of answers that come without a list of them."""
        return ()

    def positives(self, metric: str, gold: Row) -> Row | None:
        """Return the labels that a metric may be about; None for a metric that needs none."""
        return None

    def identity(self, metric: str, gold: Row) -> Row:
        """Return what tells examples of a metric apart by their gold."""
        return gold

    def sides(self, record: Said) -> tuple[Any, Any]:
        """Return gold (None if unknown) and answer of a line of JSON.

        Raises:
            TypeError, ValueError, KeyError: the line is none of such a prediction.
        """
        one = self.read(record, f"example {record['id']}", 0)
        return one.gold, one.answer

    def read(self, record: Said, where: str, line: int) -> Prediction:
        """Return the prediction that a line of JSON holds, maybe without texts and probabilities.

        Raises:
            InputError: it holds something else; names ``where``.
        """
        raise InputError(f"{where}: predictions of {self.said} are not compared")

    def rate(self, one: Prediction) -> float:
        """Return how good a prediction with gold is; higher is better."""
        raise NotImplementedError

    def shown(self, one: Prediction, positive: str = "") -> tuple[list[tuple[str, bool]], str]:
        """Return what a prediction says, in pieces, each with whether it may be right; a note.

        Args:
            one: the prediction.
            positive: class whose probability is told; empty for that of each answer.
        """
        raise NotImplementedError

    def losses(self, logits: Tensor, extra: Said, sample: Said, weights: Weights) -> Losses:
        """Return the loss of a batch, a sum over its targets, and sums of further losses by name.

        Args:
            logits, extra: what a model says.
            sample: the batch.
            weights: of losses, by their names.
        """
        from torch.nn import functional  # slow to import: scores of files do without

        return functional.cross_entropy(logits, sample["target"], reduction="sum"), {}

    def size(self, sample: Mapping[str, Any]) -> int:
        """Return the number of targets of a batch."""
        return len(sample["target"])

    def right(self, logits: Tensor, target: Tensor) -> Tensor:
        """Count right answers of a batch."""
        return (logits.argmax(-1) == target).sum()

    @abstractmethod
    def tally(self, labels: Sequence[str], **how: Any) -> Tally:
        """Return what counts a validation; of ``how`` each kind takes what it needs.

        Args:
            labels: in the order of their ids.
            how: ``positive``; ``thresholds`` of labels; ``threshold`` and ``longest`` of answers;
                ``overlap`` of entities.
        """

    def thresholds(self, text: str | None, labels: Sequence[str]) -> tuple[float, ...]:
        """Return of an option from which probability on each label is predicted; none if the best
        label is. InputError for a text that says something else.
        """
        if text is not None:
            raise InputError(f"--label-thresholds is for sets of labels, not for {self.said}")
        return ()

    def tuned(self, made: Sequence[Prediction], labels: Sequence[str]) -> str:
        """Return as text the thresholds that are best for predictions with gold."""
        raise NotImplementedError

    def join(self, logits: Sequence[Tensor]) -> Tensor:
        """Join what the models of an ensemble say about a batch.

        Args:
            logits: of each model, (R, C); a row is an example or a word.

        Returns:
            Mean probabilities (R, C), as float64 on the CPU.
        """
        return mean([found.double().cpu().softmax(-1) for found in logits])

    def answers(self, outputs: Outputs, sample: Said, **how: Any) -> Sequence[Any]:
        """Return what models say about each example of a batch, as `predict` takes it.

        Args:
            outputs: of each model.
            sample: the batch.
            how: ``types`` and ``overlap`` of entities.
        """
        rows = self.join([logits for logits, _ in outputs])
        each = sample.get("words_per_example")
        return rows.split(1 if each is None else each.tolist())

    def named(self, value: Any, labels: Sequence[str]) -> Any:
        """Return the gold of an example by its name, of what a dataset holds."""
        return value

    def value(self, label: str) -> Any:
        """Return the gold of an example of what its file says."""
        return label

    def predict(self, rows: Any, about: About) -> Prediction:
        """Turn what models say about an example, its rows of `join`, into a prediction."""
        raise NotImplementedError


def mean(tables: Sequence[Tensor]) -> Tensor:
    """Return the mean of tables of one shape."""
    import torch  # slow to import: scores of files do without

    return torch.stack([*tables]).mean(0)


def distributions(rows: Tensor, labels: Sequence[str]) -> list[tuple[str, dict[str, float]]]:
    """Return for every row of (R, C) probabilities the best label and all, by name."""
    best = rows.argmax(-1).tolist()
    return [(labels[i], dict(zip(labels, row))) for i, row in zip(best, rows.tolist())]
