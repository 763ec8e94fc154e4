"""Entities as spans of words: predictions for a sentence, with or without overlap.

Of nested entities every found span counts. Flat entities share no word, whatever their labels: the
best span comes first, then the best span without a common word, and so on. (The authors of BERT-MRC
join every start with the nearest end, label by label, and keep overlaps of different labels.)
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..syntax.entity_labels import MARKS, label_parts
from ..targets.labeling import Entity, entities

FLAT, NESTED = OVERLAPS = ("flat", "nested")


class EntitySpan(NamedTuple):
    """An entity of a sentence."""

    label: str  # its type
    # first, last: its first and last word, from 0
    first: int
    last: int
    score: float = 1.0  # from 0 to 1; 1 for gold entities


def types_of(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the types of entities in labels of words (``B-PER``), in the labels' order."""
    parted = (label_parts(label) for label in labels)
    return tuple(dict.fromkeys(kind for mark, kind in parted if mark in MARKS and kind))


def spans_of(row: Sequence[str], words: int) -> set[Entity]:
    """Return the entities of a sentence: (type, first word, last word).

    Args:
        row: labels of its words; several levels one after another.
    """
    levels = (row[begin : begin + words] for begin in range(0, len(row), words or 1))
    return {entity for level in levels for entity in entities(level)}


def kept_spans(found: Iterable[EntitySpan], overlap: str) -> tuple[EntitySpan, ...]:
    """Return the spans to keep, in the order of their words.

    Of flat spans with one score the shortest comes first, then the earliest, then the first label.

    Args:
        overlap: `FLAT` or `NESTED`.
    """
    spans = sorted(found, key=lambda one: (-one.score, one.last - one.first, one.first, one.label))
    kept: list[EntitySpan] = []
    taken: set[int] = set()
    for span in spans:
        words = range(span.first, span.last + 1)
        if overlap == FLAT and not taken.isdisjoint(words):
            continue
        taken.update(words)
        kept.append(span)
    return tuple(sorted(kept, key=lambda one: (one.first, -one.last, one.label)))


def found_spans(
    scores: Any, first: Any, last: Any, counts: Any, asked: Any, types: Sequence[str]
) -> dict[int, list[EntitySpan]]:
    """Return the found spans of a batch: place of a sentence -> its spans.

    Args:
        scores: of P pairs of words, 0 for no entity, (P,).
        first, last: their words, numbered over all G questions to sentences, (P,).
        counts: words of each question, (G,).
        asked: the sentence's place and the type's number of each question, (G, 2).
        types: of entities.
    """
    scores, first, last, counts, asked = (
        np.asarray(one.cpu()) for one in (scores, first, last, counts, asked)
    )
    there = np.flatnonzero(scores > 0)
    first, last = first[there], last[there]
    ends = counts.cumsum()  # (G,) words up to the end of each
    groups = np.searchsorted(ends, first, side="right")
    begins = (ends - counts)[groups]
    columns = (*asked[groups].T, first - begins, last - begins, scores[there])
    found: dict[int, list[EntitySpan]] = {}
    for place, number, begin, end, score in zip(*(column.tolist() for column in columns)):
        found.setdefault(place, []).append(EntitySpan(types[number], begin, end, score))
    return found


def span_counts(gold: Collection[Entity], predicted: Iterable[EntitySpan]) -> tuple[int, int, int]:
    """Count the entities of a sentence: (correct, predicted, gold)."""
    said = {tuple(one[:3]) for one in predicted}
    true = {tuple(one[:3]) for one in gold}
    return len(true & said), len(said), len(true)
