"""Metrics of word labels: conlleval's entities, error tokens, erroneous sentences.

All metrics come from counts of a sentence, which add up over sentences, batches and workers. A row
is the labels of one sentence, as text.

Entities follow conlleval's rules (CoNLL-2000 and later), which read IOB1, IOB2 and IOBES (also
written BMES or BILOU) alike, also with ``_`` for ``-`` or without types: an entity continues while
the type stays the same, no label begins an entity and none has ended the entity. A right entity
agrees in type, first and last word. nervaluate's strict counts are equal on IOB rows (tested), but
nervaluate refuses IOBES and BMES rows, and runs four evaluations for every type where one count is
enough.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import product
from operator import eq
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..syntax.entity_labels import OUTSIDE, entity_types, label_parts
from .counts import CountKind, ratio

Row = Sequence[str]
Entity = tuple[str, int, int]
Numbers = tuple[int, ...]

EDITS = frozenset("RUM")  # ERRANT's: words to replace, unnecessary words, missing words
_FIRST = frozenset("BSU")  # marks of a word that always begins an entity
_LAST = frozenset("ESLU")  # marks of a word that always ends an entity


def entities(row: Sequence[str]) -> Iterator[Entity]:
    """Yield the entities of a sentence as (type, first word, last word)."""
    start, kind, ended = None, "", False
    for place, label in enumerate([*row, OUTSIDE]):
        mark, type_ = label_parts(label)
        outside = label == OUTSIDE
        if start is not None and (outside or ended or mark in _FIRST or type_ != kind):
            yield kind, start, place - 1
            start = None
        if start is None and not outside:
            start, kind = place, type_
        ended = mark in _LAST


def entity_counts(gold: Row, predicted: Row) -> Numbers:
    """Count the entities of all types together: (correct, predicted, gold)."""
    true, said = set(entities(gold)), set(entities(predicted))
    return len(true & said), len(said), len(true)


def word_counts(gold: Row, predicted: Row) -> Numbers:
    """Count words: (with correct label, all)."""
    return sum(map(eq, gold, predicted)), len(gold)


def token_counts(gold: Row, predicted: Row, positive: str) -> Numbers:
    """Count words with the label ``positive``: (correct, predicted, gold)."""
    right = sum(truth == guess == positive for truth, guess in zip(gold, predicted))
    return right, predicted.count(positive), gold.count(positive)


def detection_counts(gold: Row, predicted: Row, positive: str) -> Numbers:
    """Count a sentence, erroneous if any of its words has the label ``positive`` (CGED).

    Returns:
        true positives, false positives, false negatives, true negatives.
    """
    truth, guess = positive in gold, positive in predicted
    return tuple(int((guess, truth) == pair) for pair in product((True, False), repeat=2))


def counted(
    counts: Callable[[Row, Row], Numbers], gold_rows: Sequence[Row], predicted_rows: Sequence[Row]
) -> np.ndarray:
    """Return the counts of n sentences, (n, k)."""
    check_equal(gold_rows, predicted_rows)
    for number, rows in enumerate(zip(gold_rows, predicted_rows)):
        gold, predicted = map(len, rows)
        if gold != predicted:
            raise InputError(
                f"sentence {number} has {gold} gold labels and {predicted} predicted ones"
            )
    return np.array([*map(counts, gold_rows, predicted_rows)])


def detection_scores(
    true_positives: int, false_positives: int, false_negatives: int, true_negatives: int
) -> tuple[float, float, float, float]:
    """Return precision, recall, F1 and false positive rate of erroneous sentences."""
    clean = false_positives + true_negatives
    return (
        *precision_recall_f(
            true_positives, true_positives + false_positives, true_positives + false_negatives
        ),
        ratio(false_positives, clean),
    )


def precision_recall_f(
    correct: float, predicted: float, gold: float, beta: float = 1.0
) -> tuple[float, float, float]:
    """Return precision, recall and F_beta of counts, each 0.0 if undefined.

    F_beta = (1 + beta^2) correct / (predicted + beta^2 gold); beta below 1 favours precision.
    """
    weighted = predicted + beta**2 * gold
    return (
        ratio(correct, predicted),
        ratio(correct, gold),
        ratio((1 + beta**2) * correct, weighted),
    )


def check_equal(gold: Sequence, predicted: Sequence) -> None:
    """Refuse columns of unequal length."""
    if len(gold) != len(predicted):
        raise InputError(f"{len(gold):,} gold values against {len(predicted):,} predictions")


def _accuracy(right: int, words: int) -> dict[str, float]:
    return {"accuracy": ratio(right, words)}


def _edit_scores(*counts: int) -> dict[str, float]:
    half = precision_recall_f(*counts, beta=0.5)[2]
    return {**_entity_scores(*counts), "entity_f0.5": half}


def _named(
    prefix: str, scores: Callable[..., tuple[float, ...]], f: str = "f1"
) -> Callable[..., dict[str, float]]:
    """Name precision, recall, F and perhaps the false positive rate of counts."""
    names = [prefix + name for name in ("precision", "recall", f, "false_positive_rate")]
    return lambda *counts: dict(zip(names, scores(*counts)))


_entity_scores = _named("entity_", precision_recall_f)
_token_scores = _named("token_", partial(precision_recall_f, beta=0.5), "f0.5")
_OF_BOTH = ((0, 1), (0, 2))  # correct ones are among the predicted and the gold ones

RIGHT = CountKind("accuracy", 2, _accuracy, parts=((0, 1),))
ENTITY = CountKind("entity", 3, _entity_scores, parts=_OF_BOTH)
OF_EDITS = CountKind("edits", 3, _edit_scores, parts=_OF_BOTH)
TOKEN = CountKind("token", 3, _token_scores, parts=_OF_BOTH)
DETECTION = CountKind("detection", 4, _named("detection_", detection_scores), most=1)


class WordGroup(NamedTuple):
    """A group of counts of labelled words."""

    kind: CountKind  # of the counts
    # a sentence's gold and predicted row -> counts, which add up over sentences
    counts: Callable[[Row, Row], Numbers]

    @property
    def metrics(self) -> Callable[..., dict[str, float]]:
        """Function from sums of counts to metrics."""
        of_sums: Any = self.kind.of_sums
        return of_sums


def word_groups(labels: Collection[str], positive: str) -> dict[str, WordGroup]:
    """Return prefix of metrics -> counts of words with some labels.

    Args:
        labels: of words; labels with types (`entity_types`) add entities, and types of edits add
            F0.5.
        positive: label of erroneous words; empty if there is none.
    """
    groups = {"accuracy": WordGroup(RIGHT, word_counts)}
    if kinds := entity_types(labels):
        groups["entity"] = WordGroup(OF_EDITS if EDITS >= {*kinds} else ENTITY, entity_counts)
    if positive:
        for kind, count in ((TOKEN, token_counts), (DETECTION, detection_counts)):
            groups[kind.name] = WordGroup(kind, partial(count, positive=positive))
    return groups
