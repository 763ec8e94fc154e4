"""Entities of a sentence, found by a question for each label (BERT-MRC, Li et al. 2020).

A folder of labels of words also serves for entities. The loss is

    sum over words of questions (alpha L_start + beta L_end) + (number of them) x gamma L_span

L_start and L_end are cross-entropies of "an entity begins (ends) here", L_span is the mean of the
binary cross-entropy of "this is an entity" over the candidates of a batch: the pairs of a start and
an end that are both predicted, or both gold, as in the authors' program (its ``pred_and_gold``).
Divided by the number of words, which is the sample size, it is the paper's loss (section 3.5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from .by_label import TABLE, Sums, by_label, scores_of_table, sums_of, table_of_sums
from .counts import Counts
from .entity_spans import (
    NESTED,
    EntitySpan,
    found_spans,
    kept_spans,
    span_counts,
    spans_of,
    types_of,
)
from .gold import WordIds
from .labeling import ENTITY, OF_EDITS, word_groups
from .prediction import Prediction
from .target import OF_PAIRS, About, Losses, Outputs, Row, Said, Target, Weights
from .word_labels import ENTITY_METRICS, OF_ALL_EDITS, WORD_LABELS

if TYPE_CHECKING:
    from torch import Tensor


class EntityPrediction(Prediction):
    """Entities of a sentence, `EntitySpan`s; ``texts`` are its words."""

    FIELDS = ("id", "words", "entities", "gold")
    HEAD = ("id", "label", "first", "last", "text", "score")

    entities = property(attrgetter("answer"))
    words = property(attrgetter("texts"))

    @property
    def text(self) -> str:
        """The entities with their types."""
        return "; ".join(f"{one['text']}: {one['label']}" for one in map(self._told, self.answer))

    def record(self) -> dict[str, Any]:
        found = {**super().record(), "entities": [self._told(one) for one in self.answer]}
        if self.gold is not None:
            found["gold"] = [self._told(one, scored=False) for one in self.gold]
        return found

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Yield each entity: label, first and last word, text and score."""
        for one in map(self._told, self.answer):
            yield (*map(one.get, ("label", "first", "last", "text")), f"{one['score']:.6f}")

    def _told(self, span: Any, *, scored: bool = True) -> dict[str, Any]:
        label, first, last, *score = span
        found = {"label": label, "first": first, "last": last}
        found["text"] = " ".join(self.texts[first : last + 1])
        return {**found, "score": score[0]} if scored else found


def _group(labels: Sequence[str]) -> Any:
    return word_groups([f"B-{kind}" for kind in types_of(labels)], "")["entity"]


class EntityTally:
    """Counts of entities that are found by questions.

    Args:
        overlap: whether entities may share words, see `entity_spans`.
    """

    by_example = False

    def __init__(
        self, labels: Sequence[str], *, overlap: str = "flat", each: bool = False, **_: Any
    ) -> None:
        self.labels, self.types, self.overlap = labels, types_of(labels), overlap
        self._metrics = _group(labels).metrics
        self.each, own = each, by_label(ENTITIES.sums([], [], labels)) if each else ()
        self.metrics = (*self._metrics(0, 0, 0), *own)

    def count(self, logits: Tensor, extra: Said, sample: Said) -> Said:
        """Count entities: correct, predicted, gold."""
        kept = entities_of((logits, extra), sample, self.types, self.overlap)
        found = np.array([*map(span_counts, sample["gold"], kept)]).sum(0).tolist()
        counts = {f"entity_{place}": number for place, number in enumerate(found)}
        if self.each:
            counts[TABLE] = table_of_sums(ENTITIES.sums(sample["gold"], kept, self.labels))
        return counts

    def score(self, counts: Said) -> dict[str, float]:
        """Return precision, recall and F1 of entities, and those of each type if wanted."""
        scores = self._metrics(*(int(counts[f"entity_{place}"]) for place in range(3)))
        return scores | scores_of_table(counts, self.types)


def entities_of(
    output: tuple[Tensor, Mapping[str, Any]],
    sample: Mapping[str, Any],
    types: Sequence[str],
    overlap: str,
) -> list[tuple[EntitySpan, ...]]:
    """Return the entities of a batch's sentences from a model's output."""
    from ..nn.entity_spans import span_scores

    logits, extra = output
    first, last, match = (extra[name].detach() for name in ("first", "last", "match"))
    scores, counts = span_scores(logits, first, last, match), sample["net_input"]["word_counts"]
    found = found_spans(scores, first, last, counts, sample["asked"], types)
    return [kept_spans(found.get(place, ()), overlap) for place in range(len(sample["id"]))]


class Entities(Target):
    """Spans of words with their types."""

    name, task, said, key = "entities", "mrc_ner", "entities", "entities"
    metrics = ENTITY_METRICS
    prediction = EntityPrediction
    formats = ("jsonl", "tsv")
    kinds = (ENTITY, OF_EDITS)
    gold = WordIds
    by_word = True
    asks = True
    source = WORD_LABELS
    joins = False  # each model has its own candidates, so there is no mean
    head = OF_PAIRS
    share = "marks"

    def counts(self, gold: Row, predicted: Row, labels: Row, positive: str) -> dict[str, Counts]:
        """Return correct, predicted and gold entities of each sentence, (n, 3)."""
        return {"": Counts(_group(labels).kind, np.array([*map(span_counts, gold, predicted)]))}

    def sums(self, gold: Row, predicted: Row, labels: Row) -> Sums:
        pairs = (
            tuple({tuple(one[:3]) for one in row} for row in pair) for pair in zip(gold, predicted)
        )
        return sums_of(pairs, types_of(labels))

    def labels_in(self, gold: Row, predicted: Row) -> Row:
        """Return labels of edits, which have the metrics of all labels."""
        return OF_ALL_EDITS

    def identity(self, metric: str, gold: Row) -> Row:
        return [[*map(tuple, row)] for row in gold]

    def sides(self, record: Said) -> tuple[Any, Any]:
        gold = record.get("gold")
        return None if gold is None else _places(gold), _places(record[self.key])

    def losses(self, logits: Tensor, extra: Said, sample: Said, weights: Weights) -> Losses:
        """Return the loss of entities' begins and ends, and the loss of pairs (``span``)."""
        import torch
        from torch.nn import functional

        target, match = sample["target"], extra["match"].float()
        sides = (logits.flatten(0, 1), target.flatten())
        start, end = functional.cross_entropy(*sides, reduction="none").view_as(target).sum(0)
        words = len(target)
        pairs, spans = (
            first * words + last
            for first, last in ((extra["first"], extra["last"]), sample["spans"].unbind(1))
        )
        spans = functional.pad(spans.sort().values, (0, 1), value=words**2)  # beyond all pairs
        gold = (spans[torch.searchsorted(spans, pairs)] == pairs).to(match)  # (P,)
        weight, count = None, max(1, len(match))
        if "kept" in extra:
            weight, count = extra["kept"].to(match), extra["kept"].sum().clamp(min=1)
        loss = functional.binary_cross_entropy_with_logits(match, gold, weight, reduction="sum")
        own = {"span": weights["span"] * words * loss / count}
        return start * weights["start"] + end * weights["end"], own

    def answers(self, outputs: Outputs, sample: Said, **how: Any) -> Sequence[Any]:
        """Return the entities of each sentence, of ``types``, with policy ``overlap``."""
        (output,) = outputs
        return entities_of(output, sample, how["types"], how["overlap"])

    def right(self, logits: Tensor, target: Tensor) -> Tensor:
        """Count words with correct marks."""
        from ..nn.entity_spans import predicted_marks

        return (predicted_marks(logits) == target.bool()).all(1).sum()

    def tally(self, labels: Sequence[str], **how: Any) -> EntityTally:
        return EntityTally(labels, **how)

    def predict(self, rows: Any, about: About) -> Prediction:
        """Return the found entities; gold values are entities or labels of words."""
        gold = about.gold
        if gold is not None:
            gold = list(gold)
            is_row = bool(gold) and isinstance(gold[0], str)
            spans: Iterable[Any] = spans_of(gold, len(about.words)) if is_row else gold
            gold = kept_spans((EntitySpan(*one) for one in spans), NESTED)
        return EntityPrediction(about.id, rows, gold, tuple(about.words))


def _places(row: Any) -> list[tuple[str, int, int]]:
    return sorted((str(one["label"]), int(one["first"]), int(one["last"])) for one in row)


ENTITIES = Entities()
