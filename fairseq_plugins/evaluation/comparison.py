"""Where two systems differ: the sentences one of them does better, with the differing words marked.

The syntax-infused paper's Table 3 shows reference, baseline and syntax-infused output, and marks
the words that only the latter predicts correctly. Here a word of an output is a *hit* when it
matches a word of the reference that the other output misses, and a *miss* when it matches neither
the reference nor the other output. A metric is any function of (prediction, gold), so the same
selection serves other kinds of predictions than sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby

from sacrebleu.metrics import BLEU, CHRF

from .translation import check_equal_counts

Metric = Callable[[str, str], float]

HIT, MISS, SAME = "hit", "miss", "same"
BETTER = ("second", "first", "both")

_PIECES = re.compile(r"\s+|\w+(?:[-'\u2019]\w+)*|[^\w\s]")


@cache
def _chrf() -> CHRF:
    return CHRF()


@cache
def _bleu() -> BLEU:
    return BLEU(effective_order=True)


def sentence_chrf(prediction: str, gold: str) -> float:
    """Return sentence chrF2, 0 to 100."""
    return _chrf().sentence_score(prediction, [gold]).score


def sentence_bleu(prediction: str, gold: str) -> float:
    """Return smoothed sentence BLEU over the n-gram orders the sentence has, 0 to 100."""
    return _bleu().sentence_score(prediction, [gold]).score


METRICS: dict[str, Metric] = {"chrf": sentence_chrf, "bleu": sentence_bleu}


@dataclass(frozen=True)
class Example:
    """One item on which two predictions differ.

    Attributes:
        id: position in the test set, from 0.
        source: what was given to the systems, or None if unknown.
        gold: the reference.
        first, second: the predictions.
        first_score, second_score: the metric of each.
    """

    id: int
    source: str | None
    gold: str
    first: str
    second: str
    first_score: float
    second_score: float

    @property
    def gap(self) -> float:
        """How much better the second prediction is."""
        return self.second_score - self.first_score


def compare(
    first: Sequence[str],
    second: Sequence[str],
    gold: Sequence[str],
    sources: Sequence[str] | None = None,
    *,
    metric: Metric = sentence_chrf,
    better: str = "second",
    min_gap: float = 0.0,
) -> list[Example]:
    """Find the items that one side predicts better, widest gap first, ties in order.

    Args:
        first, second: predictions of the two systems.
        gold: references.
        sources: inputs, or None.
        metric: score of (prediction, gold), higher is better.
        better: which side has to be better: ``second``, ``first`` or ``both`` (either).
        min_gap: smallest gap to keep; equal scores are never kept.

    Raises:
        ValueError: unequal counts, an unknown ``better`` or a negative gap.
    """
    named = {"first": first, "second": second, "sources": sources}
    for name, items in named.items():
        if items is not None:
            check_equal_counts((name, items), ("gold", gold))
    if better not in BETTER:
        raise ValueError(f"better: unknown value {better!r}; choose from {', '.join(BETTER)}")
    if min_gap < 0:
        raise ValueError(f"min_gap must not be negative, got {min_gap}")
    examples = []
    for i, (one, two, truth) in enumerate(zip(first, second, gold)):
        if one != two:
            source = sources[i] if sources is not None else None
            scores = metric(one, truth), metric(two, truth)
            examples.append(Example(i, source, truth, one, two, *scores))
    kept = [e for e in examples if e.gap != 0 and abs(e.gap) >= min_gap and _wanted(e, better)]
    return sorted(kept, key=lambda example: (-abs(example.gap), example.id))


def _wanted(example: Example, better: str) -> bool:
    """Tell whether the better side is one asked for."""
    return better == "both" or (example.gap > 0) == (better == "second")


def mark_words(output: str, other: str, gold: str) -> list[tuple[str, str]]:
    """Cut an output into stretches of text, each a hit, a miss or neither.

    Joining the texts gives the output back.

    Returns:
        (text, mark) pairs with mark ``HIT``, ``MISS`` or ``SAME``; neighbours have other marks.
    """
    pieces = _PIECES.findall(output)
    words, other_words, gold_words = (_words(text) for text in (output, other, gold))
    to_gold = _matches(words, gold_words)
    found_by_other = set(_matches(other_words, gold_words).values())
    to_other = _matches(words, other_words)
    marks: list[str] = []
    index = 0
    for piece in pieces:
        if piece.isspace():
            marks.append("")
            continue
        if index in to_gold:
            marks.append(SAME if to_gold[index] in found_by_other else HIT)
        else:
            marks.append(SAME if index in to_other else MISS)
        index += 1
    return _join(pieces, marks)


def _words(text: str) -> list[str]:
    """Return words and punctuation, without white space."""
    return [piece for piece in _PIECES.findall(text) if not piece.isspace()]


def _matches(words: Sequence[str], others: Sequence[str]) -> dict[int, int]:
    """Align equal words of two sentences in order: position -> position."""
    blocks = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    return {block.a + k: block.b + k for block in blocks for k in range(block.size)}


def _join(pieces: Sequence[str], marks: Sequence[str]) -> list[tuple[str, str]]:
    """Merge neighbours of one mark; white space belongs to its neighbours when they agree."""
    resolved = []
    for i, mark in enumerate(marks):
        if not mark:
            inside = 0 < i < len(marks) - 1 and marks[i - 1] == marks[i + 1]
            mark = marks[i - 1] if inside else SAME
        resolved.append((pieces[i], mark))
    groups = groupby(resolved, key=lambda pair: pair[1])
    return [("".join(text for text, _ in group), mark) for mark, group in groups]
