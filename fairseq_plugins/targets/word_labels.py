"""Labels of words: one label per word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..messages import named
from ..syntax.entity_labels import entity_types
from .by_label import TABLE, Sums, by_label, scores_of_table, sums_of, table_of_sums
from .counts import Counts
from .entity_spans import spans_of
from .gold import WordIds
from .labeling import (
    DETECTION,
    EDITS,
    ENTITY,
    OF_EDITS,
    RIGHT,
    TOKEN,
    counted,
    entities,
    word_groups,
)
from .prediction import Prediction, texts_of
from .target import (
    About,
    Losses,
    Outputs,
    Row,
    Said,
    Target,
    Weights,
    distributions,
    mean,
)

if TYPE_CHECKING:
    from torch import Tensor

F_SCORES = ("precision", "recall", "f1", "f0.5")
ENTITY_METRICS = tuple(f"entity_{name}" for name in F_SCORES)
OF_ALL_EDITS = tuple(f"B-{kind}" for kind in sorted(EDITS))  # have all metrics


class WordPrediction(Prediction):
    """Labels of W words, which are ``texts``; ``probabilities`` has one mapping per word."""

    FIELDS = ("id", "words", "labels", "probability", "gold")
    HEAD = ("id", "word", "label", "probability", "gold")

    labels = property(attrgetter("answer"))
    words = property(attrgetter("texts"))

    @property
    def marked(self) -> list[tuple[str, str]]:
        return [*zip(self.texts, self.answer)]

    @property
    def probability(self) -> tuple[float, ...]:
        return tuple(each[label] for each, label in zip(self.probabilities, self.answer))

    @property
    def shares(self) -> Any:
        return [*({label: s} for label, s in zip(self.answer, self.probability))]

    @property
    def judged(self) -> list[tuple[float, bool]]:
        gold = () if self.gold is None else self.gold
        return [(s, own == true) for s, own, true in zip(self.probability, self.answer, gold)]

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Yield each word with its label, the label's probability and the true label."""
        gold = self.gold or [""] * len(self.texts)
        shown = (f"{share:.6f}" for share in self.probability)
        yield from zip(self.texts, self.answer, shown, gold)

    def tsv(self) -> str:
        """Return a line per word, and an empty line after the sentence."""
        return super().tsv() + "\n"

    def conll(self) -> str:
        """Return word, true label if known, label; an empty line after the sentence."""
        columns = [self.texts, *([] if self.gold is None else [self.gold]), self.answer]
        return "".join(" ".join(row) + "\n" for row in zip(*columns)) + "\n"


class WordTally:
    """Counts of words, of entities, and of erroneous words and sentences.

    Args:
        labels: in the order of their ids; entities are counted if labels have types.
        positive: label of erroneous words; empty if there is none.
    """

    by_example = False

    def __init__(
        self, labels: Sequence[str], *, positive: str = "", each: bool = False, **_: Any
    ) -> None:
        self.labels, self.each = list(labels), each
        self._groups = word_groups(labels, positive)
        empty = (group.metrics(*group.counts([], [])) for group in self._groups.values())
        own = by_label(WORD_LABELS.sums([], [], labels)) if each else ()
        self.metrics = (*(name for scores in empty for name in scores), *own)

    def _names(self, group: str) -> list[str]:
        return [f"{group}_{place}" for place in range(self._groups[group].kind.columns)]

    def count(self, logits: Tensor, extra: Said, sample: Said) -> Said:
        """Count the groups of `labeling.word_groups`."""
        lengths = sample["words_per_example"].tolist()
        rows = [
            [[self.labels[i] for i in row.tolist()] for row in ids.cpu().split(lengths)]
            for ids in (sample["target"], best_labels(logits, extra, sample))  # (W,)
        ]
        found: dict[str, Any] = {
            name: value
            for key, group in self._groups.items()
            for name, value in zip(self._names(key), counted(group.counts, *rows).sum(0).tolist())
        }
        if self.each:
            found[TABLE] = table_of_sums(WORD_LABELS.sums(rows[0], rows[1], self.labels))
        return found

    def score(self, counts: Said) -> dict[str, float]:
        scores = {}
        for key, group in self._groups.items():
            scores |= group.metrics(*(int(counts[name]) for name in self._names(key)))
        return scores | scores_of_table(counts, members_of(self.labels)[0])


class WordLabels(Target):
    """A label for every word."""

    name, task, said, key = "word_labels", "sequence_labeling", "labels of words", "labels"
    metrics = (
        "accuracy",
        *ENTITY_METRICS,
        *(f"token_{name}" for name in ("precision", "recall", "f0.5")),
        *(f"detection_{name}" for name in ("precision", "recall", "f1", "false_positive_rate")),
    )
    prediction = WordPrediction
    compared = frozenset()
    needed = ("id", "words", "labels")
    formats = ("jsonl", "tsv", "conll")
    kinds = (RIGHT, ENTITY, OF_EDITS, TOKEN, DETECTION)
    gold = WordIds
    by_word = weighs = chains = True

    def written(self, example: Any) -> Sequence[str] | None:
        """Return the labels of an example's words, level by level."""
        if example.word_labels is None:
            return None
        return (*example.word_labels, *chain.from_iterable(example.inner_labels))

    def counts(self, gold: Row, predicted: Row, labels: Row, positive: str) -> dict[str, Counts]:
        """Return the counts of each sentence, by group of `labeling.word_groups`."""
        return {
            prefix: Counts(group.kind, counted(group.counts, gold, predicted))
            for prefix, group in word_groups(labels, positive).items()
        }

    def sums(self, gold: Row, predicted: Row, labels: Row) -> Sums:
        """Return the sums of types of entities, or of labels without types."""
        names, members = members_of(labels)
        pairs = ((members(true), members(said)) for true, said in zip(gold, predicted))
        return sums_of(pairs, names)

    def labels_in(self, gold: Row, predicted: Row) -> Row:
        """Return labels of edits, which have the metrics of all labels."""
        return OF_ALL_EDITS

    def positives(self, metric: str, gold: Row) -> Row | None:
        is_about = metric.startswith(("token_", "detection_"))
        return sorted({*chain.from_iterable(gold)}) if is_about else None

    def identity(self, metric: str, gold: Row) -> Row:
        """Identify examples by their entities if these are counted."""
        if not metric.startswith("entity_"):
            return [*map(list, gold)]
        return [sorted(spans_of(row, len(row))) for row in gold]

    def read(self, record: Said, where: str, line: int) -> Prediction:
        known = [key for key in ("words", "gold") if record.get(key) is not None]
        rows = {key: texts_of(record, key, where) for key in ("labels", *known)}
        if len({*map(len, rows.values())}) > 1:
            told = named((f"{len(row)} {key}" for key, row in rows.items()), between=" and ")
            raise InputError(f"{where}: {told}: they must be as many")
        words = rows.get("words", ())
        return WordPrediction(str(record["id"]), rows["labels"], rows.get("gold"), words, line=line)

    def rate(self, one: Prediction) -> float:
        """Return the share of correct labels, in %."""
        return 100 * _right(one) / max(1, len(one.gold))

    def shown(self, one: Prediction, positive: str = "") -> tuple[list[tuple[str, bool]], str]:
        """Return the labels, and the number of correct ones."""
        labels = [(own, own == truth) for own, truth in zip(one.answer, one.gold)]
        return labels, f"{_right(one)} of {len(one.gold)} right"

    def losses(self, logits: Tensor, extra: Said, sample: Said, weights: Weights) -> Losses:
        """Return the loss of the words, or of the labels of whole sentences (``chain``)."""
        if "chain" not in extra:
            return super().losses(logits, extra, sample, weights)
        from ..nn import label_chain

        counts = sample["words_per_example"]
        rows = label_chain.padded(logits, counts)
        labels = label_chain.padded(sample["target"], counts)
        each = label_chain.negative_log_likelihood(rows, labels, counts, extra["chain"][0])
        return each.sum(), {}

    def answers(self, outputs: Outputs, sample: Said, **how: Any) -> Sequence[Any]:
        """Return the probabilities of each sentence's labels; with ``chain`` the labels too."""
        chains = [extra["chain"] for _, extra in outputs if "chain" in extra]
        if not chains:
            return super().answers(outputs, sample, **how)
        from ..nn import label_chain

        # an ensemble has the mean of all scores; steps of a model without a chain are 0
        logits = mean([found.double().cpu() for found, _ in outputs])
        chain = mean([one[1].double().cpu() for one in chains]) * (len(chains) / len(outputs))
        counts = sample["words_per_example"].cpu()
        rows = label_chain.padded(logits, counts)
        shares = label_chain.marginals(rows, counts, chain)
        labels = label_chain.best_labels(rows, counts, chain)
        each = zip(shares, labels, counts.tolist())
        return [(share[:count], label[:count].tolist()) for share, label, count in each]

    def tally(self, labels: Sequence[str], **how: Any) -> WordTally:
        return WordTally(labels, **how)

    def named(self, value: Any, labels: Sequence[str]) -> Any:
        return [labels[number] for number in value]

    def predict(self, rows: Any, about: About) -> Prediction:
        rows, chosen = rows if isinstance(rows, tuple) else (rows, None)
        found, shares = zip(*distributions(rows, about.labels))
        if chosen is not None:
            found = tuple(about.labels[number] for number in chosen)
        gold = None if about.gold is None else tuple(about.gold)
        return WordPrediction(about.id, found, gold, tuple(about.words), shares)


def best_labels(logits: Tensor, extra: Said, sample: Said) -> Tensor:
    """Return the predicted labels of a model's outputs for a batch, (W,)."""
    if "chain" not in extra:
        return logits.argmax(-1)
    import torch

    from ..nn import label_chain

    counts = sample["words_per_example"]
    rows = label_chain.padded(logits, counts)
    found = label_chain.best_labels(rows, counts, extra["chain"][1])
    return torch.cat([row[:count] for row, count in zip(found, counts.tolist())])


def members_of(labels: Row) -> tuple[Row, Callable[[Row], set[Any]]]:
    """Return what has scores of its own, and the function from a row to its members with them."""
    if types := entity_types(labels):
        return types, lambda row: {*entities(row)}
    return labels, lambda row: {(label, place) for place, label in enumerate(row)}


def _right(one: Prediction) -> int:
    return sum(own == truth for own, truth in zip(one.answer, one.gold))


WORD_LABELS = WordLabels()
