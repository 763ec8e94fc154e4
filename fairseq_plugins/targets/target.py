"""A kind of target: what a model learns from an example, its gold values, and its metrics.

Users of a `Target` never test its name: its attributes and methods hold all differences, in one
file per kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ..errors import InputError
from ..messages import named
from .by_label import Sums, by_label
from .counts import CountKind, Counts
from .gold import Gold
from .labeling import check_equal
from .prediction import Prediction

if TYPE_CHECKING:
    from torch import Tensor

Row = Sequence[Any]  # of examples, of labels
Said = Mapping[str, Any]  # outputs of models, batches and counts, by name
Weights = Mapping[str, Any]  # of losses, or `LABEL_WEIGHTS` (C,) and `SMOOTHING`
Outputs = Sequence[tuple["Tensor", Said]]  # of models: logits and further outputs
Losses = tuple["Tensor", dict[str, "Tensor"]]  # of the target, and further ones

LABEL_WEIGHTS, SMOOTHING = "labels", "smoothing"  # see `label_weights`
OF_LABELS, OF_SPANS, OF_PAIRS = "labels", "spans", "pairs"  # what a head computes from states


class About(NamedTuple):
    """Known facts about an example to predict."""

    id: str  # of the example
    labels: Sequence[str] = ()  # all, in the order of their ids
    words: Sequence[str] = ()  # of the example, if words have answers
    gold: Any = None  # the true value; None if unknown
    names: Mapping[str, str] = {}  # label -> description
    thresholds: Sequence[float] = ()  # of the labels; see `Target.thresholds`


class Tally(Protocol):
    """Counts of a batch that add up to the metrics of a whole split."""

    metrics: tuple[str, ...]  # names of the results of ``score``
    # whether a batch gives one number per example, stored at the example's place in the split,
    # instead of sums
    by_example: bool

    def count(self, logits: Tensor, extra: Said, sample: Said) -> Said:
        """Count a batch from a model's outputs: name -> numbers."""

    def score(self, counts: Said) -> dict[str, float]:
        """Return metrics of the sums of counts; 0.0 if undefined."""


class Target(ABC):
    """A kind of target."""

    name: str  # in manifests and checkpoints
    task: str  # name of the task that learns it
    said: str  # name in messages, plural
    metrics: tuple[str, ...]  # names of all its metrics, the headline first
    prediction: type[Prediction] = Prediction  # class of its predictions
    key: str  # name of the answer in a line of JSON
    kinds: tuple[CountKind, ...]  # of its counts
    gold: type[Gold]  # class of its values in a prepared folder
    formats: tuple[str, ...] = ("jsonl", "tsv", "glue")  # of files of predictions
    labelled = True  # whether it has a list of labels
    by_word = False  # whether words have values, not whole examples
    asks = False  # whether every text gets a question
    passages = False  # whether questions share passages, made by `prepare questions`
    joins = True  # whether several models make an ensemble
    # options that apply to a comparison of examples; None if there is no comparison
    compared: frozenset[str] | None = None
    needed: tuple[str, ...] = ()  # keys of a line of JSON for a comparison
    judged = False  # whether an answer is right or wrong, not better or worse
    few = False  # whether it usually has few labels
    weighs = False  # whether its labels may have weights in the loss
    chains = False  # whether its labels may depend on their neighbours, see `nn.label_chain`
    several = False  # whether an example has any number of labels
    problem = ""  # transformers' name; may be empty
    source: Target | None = None  # target whose folders also serve this one, or None
    only: ClassVar[Any]
    head = OF_LABELS  # what its head computes from an encoder's states
    share = "accuracy"  # name of the share of correct answers in the training log; empty for none

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return repr(self.name)

    @property
    def pools(self) -> bool:
        """Whether the head reads the first token of an example."""
        return self.head == OF_LABELS and not self.by_word

    def __new__(cls) -> Target:
        """Return the single value of a kind, also in copies and other processes."""
        if "only" not in cls.__dict__:
            cls.only = super().__new__(cls)
        return cls.only

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def spelt(self, text: str, known: Callable[[str], str]) -> str:
        """Return the gold value of a text, in the labels' names."""
        return known(text)

    def written(self, example: Any) -> Sequence[str] | None:
        """Return the gold of an example (`corpora.examples.Example`) by label; None without."""
        return None if example.label is None else (example.label,)

    def truth(self, example: Any) -> Any:
        """Return the gold of an example for its prediction; None without."""
        if self.by_word:
            return example.word_labels
        return None if example.label is None else self.value(example.label)

    @abstractmethod
    def counts(self, gold: Row, predicted: Row, labels: Row, positive: str) -> dict[str, Counts]:
        """Return prefix of metrics -> counts; every example has gold."""

    def score(
        self,
        gold: Sequence[Any],
        predicted: Sequence[Any],
        labels: Sequence[str] = (),
        positive: str = "",
    ) -> dict[str, float]:
        """Compute every metric that applies.

        Args:
            gold: true value of each example, or None.
            predicted: prediction of each example.
            labels: all classes or word labels.
            positive: the class of F1, or the label of erroneous words; "" if none.

        Returns:
            metric -> value, over the examples with gold.
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

    def sums(self, gold: Row, predicted: Row, labels: Row) -> Sums:
        """Return how often each label is right, predicted and true; every example has gold."""
        return {}

    def by_label(self, gold: Row, predicted: Row, labels: Row) -> dict[str, float]:
        """Compute the scores of each label or type, over the examples with gold."""
        pairs = [pair for pair in zip(gold, predicted, strict=True) if pair[0] is not None]
        true, said = map(list, zip(*pairs)) if pairs else ([], [])
        return by_label(self.sums(true, said, labels)) if pairs else {}

    def counts_for(
        self, metric: str, gold: Sequence[Any], predicted: Sequence[Any], positive: str = ""
    ) -> Counts:
        """Return the counts of one metric for answers from a file."""
        if metric not in self.metrics:
            raise InputError(f"metric {metric!r} is not one of {', '.join(self.metrics)}")
        if (known := self.positives(metric, gold)) is not None and positive not in known:
            told = f"{positive!r} is none of {named(known)}"
            raise InputError(f"metric {metric!r} needs the positive label, {told}")
        found = self.counts(gold, predicted, self.labels_in(gold, predicted), positive)
        return next(one for prefix, one in found.items() if metric.startswith(prefix))

    def labels_in(self, gold: Row, predicted: Row) -> Row:
        """Return the labels of answers without a label list."""
        return ()

    def positives(self, metric: str, gold: Row) -> Row | None:
        """Return the labels that a metric may need; None for a metric without a label."""
        return None

    def identity(self, metric: str, gold: Row) -> Row:
        """Return a form of the gold values that identifies the examples of a metric."""
        return gold

    def sides(self, record: Said) -> tuple[Any, Any]:
        """Return gold (None if unknown) and answer of a line of JSON."""
        one = self.read(record, f"example {record['id']}", 0)
        return one.gold, one.answer

    def read(self, record: Said, where: str, line: int) -> Prediction:
        """Return the prediction of a line of JSON; texts and probabilities are optional."""
        raise InputError(f"{where}: predictions of {self.said} are not compared")

    def rate(self, one: Prediction) -> float:
        """Return the quality of a prediction with gold; higher is better."""
        raise NotImplementedError

    def shown(self, one: Prediction, positive: str = "") -> tuple[list[tuple[str, bool]], str]:
        """Return parts of a prediction, each with whether it may be right, and a note.

        ``positive`` is the class of the shown probability; empty for the class of the answer.
        """
        raise NotImplementedError

    def losses(self, logits: Tensor, extra: Said, sample: Said, weights: Weights) -> Losses:
        """Return the loss of a batch, a sum over targets, and sums of further losses by name."""
        from torch.nn import functional  # slow to import, not needed for scores of files

        each, smoothing = weights.get(LABEL_WEIGHTS), weights.get(SMOOTHING, 0.0)
        how = {"weight": each, "label_smoothing": smoothing, "reduction": "sum"}
        return functional.cross_entropy(logits, sample["target"], **how), {}

    def size(self, sample: Mapping[str, Any]) -> int:
        """Return the number of targets of a batch."""
        return len(sample["target"])

    def right(self, logits: Tensor, target: Tensor) -> Tensor:
        """Count correct answers of a batch."""
        return (logits.argmax(-1) == target).sum()

    @abstractmethod
    def tally(self, labels: Sequence[str], **how: Any) -> Tally:
        """Return the tally of a validation; each kind uses its own part of ``how``.

        Args:
            labels: in the order of their ids.
            how: ``positive``; ``thresholds`` of labels; ``threshold`` and ``longest`` of answers;
                ``overlap`` of entities; ``each``, whether labels have scores of their own.
        """

    def thresholds(self, text: str | None, labels: Sequence[str]) -> tuple[float, ...]:
        """Return each label's least probability from an option; empty if the best label wins."""
        if text is not None:
            raise InputError(f"--label-thresholds is for sets of labels, not for {self.said}")
        return ()

    def tuned(self, made: Sequence[Prediction], labels: Sequence[str]) -> str:
        """Return as text the best thresholds for predictions with gold."""
        raise NotImplementedError

    def join(self, logits: Sequence[Tensor]) -> Tensor:
        """Combine an ensemble's logits (R, C) to mean probabilities, as float64 on the CPU."""
        return mean([found.double().cpu().softmax(-1) for found in logits])

    def answers(self, outputs: Outputs, sample: Said, **how: Any) -> Sequence[Any]:
        """Return the outputs for each example of a batch, for `predict`.

        Args:
            how: ``types`` and ``overlap`` of entities.
        """
        rows = self.join([logits for logits, _ in outputs])
        each = sample.get("words_per_example")
        return rows.split(1 if each is None else each.tolist())

    def named(self, value: Any, labels: Sequence[str]) -> Any:
        """Return the gold of an example by name, from a dataset's value."""
        return value

    def value(self, label: str) -> Any:
        """Return the gold of an example from its text."""
        return label

    def predict(self, rows: Any, about: About) -> Prediction:
        """Return the prediction of an example from its rows of `join`."""
        raise NotImplementedError


def mean(tables: Sequence[Tensor]) -> Tensor:
    """Return the mean of tables of one shape."""
    import torch  # slow to import, not needed for scores of files

    return torch.stack([*tables]).mean(0)


def distributions(rows: Tensor, labels: Sequence[str]) -> list[tuple[str, dict[str, float]]]:
    """Return for every row of (R, C) probabilities the best label and all, by name."""
    best = rows.argmax(-1).tolist()
    return [(labels[i], dict(zip(labels, row))) for i, row in zip(best, rows.tolist())]
