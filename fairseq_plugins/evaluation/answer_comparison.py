"""Where systems differ about questions: those that one answers and another does not.

Figure 6 of Chadha and Sood (2019) shows a question that an ensemble answers and BERT large does
not. An answer is right where it is exactly a gold one, in SQuAD's comparison, or where there is
none and the system gives none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..messages import quoted
from .squad import Gold, scores_of
from .text_comparison import better_sides, check_criteria, ranked, tally


@dataclass(frozen=True)
class SaidAnswer:
    """What a system answers.

    Args:
        text: the answer; empty for none.
        exact: 1.0 where it is right.
        f1: of its words against the best gold answer, in [0, 1].
    """

    text: str
    exact: float
    f1: float


@dataclass(frozen=True)
class AnswerExample:
    """A question about which systems differ.

    Args:
        id: the question's.
        golds: texts of its gold answers; empty where it has none.
        said: what each system answers.
        gap: by how much the better system's F1 is above that of the others on average, in points.
    """

    id: str
    golds: Sequence[str]
    said: Sequence[SaidAnswer]
    gap: float


def compare_answers(
    gold: Gold,
    systems: Sequence[tuple[str, Mapping[str, str]]],
    *,
    better: str = "last",
    min_gap: float = 0.0,
) -> list[AnswerExample]:
    """Find questions that one system answers rightly and another does not.

    Those that most of the others get wrong come first, then those with the widest gap.

    Args:
        gold: id -> texts of its answers; none where there is no answer.
        systems: name and answers of each, two at least.
        better: which system has to be right; see `text_comparison.compare_predictions`.
        min_gap: smallest gap to keep, in points.

    Raises:
        ValueError: fewer than two systems, a question without an answer of a system, unknown
            ``better``, or a negative gap.
    """
    check_criteria(len(systems), better, min_gap)
    sides = better_sides(len(systems), better)
    found = []
    for name, said in _judged(gold, systems).items():
        right = [side for side in sides if said[side].exact]
        wrong = sum(not one.exact for one in said)
        if right and wrong:
            gap = max(_gap(said, side) for side in right)
            found.append((wrong, AnswerExample(name, gold[name], said, gap)))
    return ranked(found, min_gap)


def answer_agreement(gold: Gold, systems: Sequence[tuple[str, Mapping[str, str]]]) -> str:
    """Say how many questions there are, and how many all systems answer rightly, or none.

    Raises:
        ValueError: a question without an answer of a system.
    """
    rows = [[bool(one.exact) for one in said] for said in _judged(gold, systems).values()]
    return tally(rows, "questions")


def _judged(
    gold: Gold, systems: Sequence[tuple[str, Mapping[str, str]]]
) -> dict[str, tuple[SaidAnswer, ...]]:
    """Return what each system says to every question."""
    for system, answers in systems:
        lacking = [name for name in gold if name not in answers]
        if lacking:
            raise ValueError(
                f"{system}: {len(lacking):,} of {len(gold):,} questions have no prediction, "
                f"{quoted(lacking[0])} among them"
            )
    return {
        name: tuple(
            SaidAnswer(answers[name], *scores_of(golds, answers[name])) for _, answers in systems
        )
        for name, golds in gold.items()
    }


def _gap(said: Sequence[SaidAnswer], side: int) -> float:
    """Return how much higher a system's F1 is than that of the others, in points."""
    others = [one.f1 for number, one in enumerate(said) if number != side]
    return 100 * (said[side].f1 - math.fsum(others) / len(others))
