"""Scores on perturbed examples, their change and its significance."""

from __future__ import annotations

import math

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.example_answers import Answers
from fairseq_plugins.evaluation.robustness import SystemAnswers, before, on_set, scores_of
from fairseq_plugins.targets.table import TARGETS

COUNT = 40


def answers(right, target="classes"):
    """Make answers of which the first ``right`` are right."""
    gold = [str(i % 2) for i in range(COUNT)]
    predicted = [g if i < right else str(1 - int(g)) for i, g in enumerate(gold)]
    return Answers("x", TARGETS[target], list(map(str, range(COUNT))), gold, predicted)


def system(name, *runs):
    """Make a system whose runs have so many right after and before."""
    made = [
        {"SwapAnt": answers(changed), before("SwapAnt"): answers(first)} for changed, first in runs
    ]
    return SystemAnswers(name, "bert_plain_tiny", [name], made)


def test_change_is_after_minus_before_over_runs():
    found = on_set(system("a", (20, 40), (30, 38)), "SwapAnt", "accuracy")
    assert found["score"] == pytest.approx(25 / COUNT)
    assert found["before"] == pytest.approx(39 / COUNT)
    assert found["change"] == pytest.approx(-14 / COUNT)
    assert found["deviation"] == pytest.approx(math.sqrt(50) / COUNT)
    assert math.isnan(on_set(system("a", (20, 40)), "SwapAnt", "accuracy")["deviation"])


def test_a_great_difference_is_significant_and_none_is_not():
    first = system("a", (15, 40))
    better = on_set(system("b", (35, 40)), "SwapAnt", "accuracy", first=first)
    assert better["difference"] == pytest.approx(20 / COUNT)
    assert better["p"] < 0.05
    same = on_set(system("b", (15, 40)), "SwapAnt", "accuracy", first=first)
    assert (same["difference"], same["p"]) == (0.0, 1.0)
    untested = on_set(system("b", (35, 40)), "SwapAnt", "accuracy", first=first, samples=0)
    assert math.isnan(untested["p"])


def test_scores_are_correlated():
    run = Answers("x", TARGETS["score"], ["0", "1", "2"], [1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    assert scores_of([run], "pearson") == [pytest.approx(1)]
    with pytest.raises(InputError, match="'accuracy' is not one of pearson"):
        scores_of([run], "accuracy")
