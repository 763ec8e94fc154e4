"""Scores of word labels: entities as conlleval counts them, error tokens, erroneous sentences.

All start from counts, which add up over batches and workers; scores come last. A row is the labels
of one sentence, as text.

Entities are read by conlleval's rules (CoNLL-2000 and later), which take IOB1, IOB2 and IOBES (also
written BMES or BILOU) alike: an entity goes on while the type stays the same, nothing says "begin"
and nothing said "end"; it is right when type, first and last word agree. nervaluate's strict counts
are the same on IOB rows (a test holds this), but it refuses IOBES and BMES rows, and runs four
evaluations for every type where one count is asked for; hence these few lines.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

Rows = Sequence[Sequence[str]]
Entity = tuple[str, int, int]
Counts = tuple[int, int, int]  # correct, predicted, gold

_OUTSIDE = "O"
_FIRST = frozenset("BSU")  # marks of a word that begins an entity, whatever came before
_LAST = frozenset("ESLU")  # marks of a word that ends one, whatever comes next


def entities(row: Sequence[str]) -> Iterator[Entity]:
    """Yield the entities of a sentence as (type, first word, last word)."""
    start, kind, ended = None, "", False
    for place, label in enumerate([*row, _OUTSIDE]):
        mark, _, type_ = label.partition("-")
        outside = label == _OUTSIDE
        if start is not None and (outside or ended or mark in _FIRST or type_ != kind):
            yield kind, start, place - 1
            start = None
        if start is None and not outside:
            start, kind = place, type_
        ended = mark in _LAST


def entity_counts(gold_rows: Rows, predicted_rows: Rows) -> Counts:
    """Count entities of all types together: (right ones, predicted ones, gold ones).

    Raises:
        ValueError: unequal numbers of rows, or of words in a row.
    """
    correct = predicted = gold = 0
    for rows in _pairs(gold_rows, predicted_rows):
        true, said = (set(entities(row)) for row in rows)
        correct += len(true & said)
        predicted += len(said)
        gold += len(true)
    return correct, predicted, gold


def word_counts(gold_rows: Rows, predicted_rows: Rows) -> tuple[int, int]:
    """Count words: (those with the right label, all).

    Raises:
        ValueError: as `entity_counts`.
    """
    pairs = [pair for rows in _pairs(gold_rows, predicted_rows) for pair in zip(*rows)]
    return sum(truth == guess for truth, guess in pairs), len(pairs)


def token_counts(gold_rows: Rows, predicted_rows: Rows, positive: str) -> Counts:
    """Count words with the label ``positive``: (right ones, predicted ones, gold ones).

    Raises:
        ValueError: as `entity_counts`.
    """
    correct = predicted = gold = 0
    for gold_row, predicted_row in _pairs(gold_rows, predicted_rows):
        for truth, guess in zip(gold_row, predicted_row):
            gold += truth == positive
            predicted += guess == positive
            correct += truth == guess == positive
    return correct, predicted, gold


def detection_counts(
    gold_rows: Rows, predicted_rows: Rows, positive: str
) -> tuple[int, int, int, int]:
    """Count sentences, erroneous if any of their words has the label ``positive`` (CGED).

    Returns:
        true positives, false positives, false negatives, true negatives.

    Raises:
        ValueError: as `entity_counts`.
    """
    table = Counter(
        (positive in gold, positive in predicted)
        for gold, predicted in _pairs(gold_rows, predicted_rows)
    )
    return table[True, True], table[False, True], table[True, False], table[False, False]


def detection_scores(
    true_positives: int, false_positives: int, false_negatives: int, true_negatives: int
) -> tuple[float, float, float, float]:
    """Return precision, recall, F1 and false positive rate of erroneous sentences."""
    clean = false_positives + true_negatives
    return (
        *precision_recall_f(
            true_positives, true_positives + false_positives, true_positives + false_negatives
        ),
        float(false_positives / clean) if clean else 0.0,
    )


def precision_recall_f(
    correct: int, predicted: int, gold: int, beta: float = 1.0
) -> tuple[float, float, float]:
    """Return precision, recall and F_beta of counts, each 0.0 where it is undefined.

    F_beta = (1 + beta^2) correct / (predicted + beta^2 gold); beta below 1 favours precision.
    """
    weighted = predicted + beta**2 * gold
    return (
        float(correct / predicted) if predicted else 0.0,
        float(correct / gold) if gold else 0.0,
        float((1 + beta**2) * correct / weighted) if weighted else 0.0,
    )


def check_equal(gold: Sequence, predicted: Sequence) -> None:
    """Refuse columns of unequal length.

    Raises:
        ValueError: the lengths differ; gives both.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold):,} gold values against {len(predicted):,} predictions")


class WordGroup(NamedTuple):
    """Counts of labelled words that belong together.

    Args:
        counts: makes them of gold and predicted rows; those of parts add up to those of the whole.
        metrics: makes metrics of them.
    """

    counts: Callable[[Rows, Rows], Sequence[int]]
    metrics: Callable[..., dict[str, float]]


def word_groups(labels: Iterable[str], positive: str) -> dict[str, WordGroup]:
    """Return what is counted of words with some labels, by the beginning of its metrics' names.

    Args:
        labels: of words; entities are counted where ``B-`` or ``I-`` begins any of them.
        positive: label of erroneous words; empty if there is none.
    """
    groups = {"accuracy": WordGroup(word_counts, _accuracy)}
    if any(label[:2] in ("B-", "I-") for label in labels):
        groups["entity"] = WordGroup(entity_counts, _named("entity_", precision_recall_f))
    if positive:
        counts = (partial(count, positive=positive) for count in (token_counts, detection_counts))
        half = partial(precision_recall_f, beta=0.5)
        scores = (_named("token_", half, "f0.5"), _named("detection_", detection_scores))
        groups |= dict(zip(("token", "detection"), map(WordGroup, counts, scores)))
    return groups


def _accuracy(right: int, words: int) -> dict[str, float]:
    return {"accuracy": float(right / words) if words else 0.0}


def _named(
    prefix: str, scores: Callable[..., tuple[float, ...]], f: str = "f1"
) -> Callable[..., dict[str, float]]:
    """Name precision, recall, F and maybe the false positive rate of counts."""
    names = [prefix + name for name in ("precision", "recall", f, "false_positive_rate")]
    return lambda *counts: dict(zip(names, scores(*counts)))


def _pairs(gold_rows: Rows, predicted_rows: Rows) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield both rows of each sentence, equally long."""
    check_equal(gold_rows, predicted_rows)
    for number, (gold, predicted) in enumerate(zip(gold_rows, predicted_rows)):
        if len(gold) != len(predicted):
            raise ValueError(
                f"sentence {number} has {len(gold)} gold labels and {len(predicted)} predicted ones"
            )
        yield gold, predicted
