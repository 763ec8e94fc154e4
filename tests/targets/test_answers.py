"""Spans become text of the original context, of all windows together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fairseq_plugins.data.passages import AskedPassage
from fairseq_plugins.targets.answers import Answered, Candidate, decode, most_probable

CONTEXT = "Éa  bb cc dd bb"
OFFSETS = np.array([(0, 2), (4, 6), (7, 9), (10, 12), (13, 15)])


def passage(*windows):
    """Windows as (question wordpieces, begin, end) of `CONTEXT`."""
    rows = np.array([(*window, *window[1:]) for window in windows])
    return AskedPassage("id", "question", CONTEXT, OFFSETS, rows)


def spans(*rows):
    """Best spans of windows, each as (score, begin, end)."""
    return tuple(np.array(rows, dtype=float).transpose(2, 0, 1))


def texts(answered):
    return [each.text for each in answered.candidates]


def test_rows_are_read_behind_the_question():
    found = decode(passage((3, 0, 5)), *spans([(2.0, 5, 6), (1.0, 7, 7)]), np.array([0.5]))
    first, second = found.candidates
    assert first == Candidate("Éa  bb", 0, 6, 2.0)
    assert (second.text, CONTEXT[second.begin : second.end]) == ("cc", "cc")
    assert found.null_odds == -1.5


def test_windows_are_merged_by_score():
    rows = spans([(1.0, 2, 2), (-1.0, 3, 3)], [(3.0, 2, 2), (2.0, 3, 3)])
    found = decode(passage((0, 0, 2), (0, 2, 4)), *rows, np.array([4.0, 2.5]))
    assert texts(found) == ["cc", "dd"]  # no more than the n of one window
    assert found.null_score == 2.5
    assert found.null_odds == -0.5


def test_equal_texts_are_one_candidate():
    rows = spans([(5.0, 6, 6), (4.0, 3, 3), (3.0, 2, 2)])
    found = decode(passage((0, 0, 5)), *rows, np.array([0.0]))
    assert texts(found) == ["bb", "Éa"]
    assert found.candidates[0].begin == 13


def test_equal_scores_stand_in_the_order_of_windows():
    rows = spans([(1.0, 2, 2), (1.0, 3, 3)], [(1.0, 2, 2), (1.0, 3, 3)])
    assert texts(decode(passage((0, 0, 2), (0, 2, 4)), *rows, np.zeros(2))) == ["Éa", "bb"]


def test_rows_are_placed_once_a_question():
    """Of a long context, to count them for every span would be quadratic."""

    class Counted(AskedPassage):
        asked = 0

        @property
        def shifts(self):
            Counted.asked += 1
            return super().shifts

    whole = passage((0, 0, 5), (0, 0, 5))
    counted = Counted(whole.id, whole.question, CONTEXT, OFFSETS, whole.windows)
    rows = spans([(2.0, 2, 2), (1.0, 3, 3)], [(1.5, 4, 4), (0.0, 2, 3)])
    assert decode(counted, *rows, np.zeros(2)) == decode(whole, *rows, np.zeros(2))
    assert Counted.asked == 1


def test_missing_spans_are_no_candidates():
    rows = spans([(1.0, 2, 2), (-math.inf, 0, 0)])
    assert texts(decode(passage((0, 0, 2)), *rows, np.zeros(1))) == ["Éa"]
    nothing = decode(passage((0, 0, 0)), *spans([(-math.inf, 0, 0)]), np.zeros(1))
    assert (nothing.candidates, nothing.null_odds, nothing.answer(9.0)) == ((), math.inf, "")
    assert nothing.probabilities == (1.0,)


def test_logits_are_told():
    logits = np.arange(16.0).reshape(2, 4, 2)
    rows = spans([(0.0, 2, 3)], [(18.0, 3, 3)])
    nulls = logits[:, 0].sum(axis=1)
    found = decode(passage((0, 0, 2), (0, 2, 4)), *rows, nulls, logits=logits)
    (best,) = found.candidates
    assert (best.start_logit, best.end_logit) == (logits[1, 3, 0], logits[1, 3, 1])
    assert found.null_start_logit == logits[0, 0, 0]


def answered(null, *scores):
    found = [Candidate(f"text {i}", 0, 1, score) for i, score in enumerate(scores)]
    return Answered(tuple(found), null)


def test_no_answer_wins_only_above_the_threshold():
    found = answered(3.0, 1.0)
    assert [found.answer(threshold) for threshold in (1.9, 2.0)] == ["", "text 0"]
    assert found.answer() == ""
    assert answered(1.0, 1.0).answer() == "text 0"  # a tie is answered, as in the official code


def test_probabilities_are_the_softmax_of_candidates_and_no_answer():
    found = answered(math.log(2), math.log(5), 0.0)
    assert found.probabilities == pytest.approx((5 / 8, 1 / 8, 2 / 8))
    assert answered(1e4, -1e4).probabilities == (0.0, 1.0)


def test_the_most_probable_model_answers():
    sure = Answered((Candidate("sure", 0, 1, 2.0),), 0.0)
    loud = Answered((Candidate("loud", 0, 1, 9.0), Candidate("also", 0, 1, 9.0)), 5.0)
    for order in ([sure, loud], [loud, sure]):
        joined = most_probable(order)
        assert (joined.best_text, joined.answer()) == ("sure", "sure")
        assert joined.null_odds == sure.null_odds
    twin = Answered((Candidate("twin", 0, 1, 2.0),), 0.0)
    assert most_probable([twin, sure]).best_text == "twin"
    assert most_probable([sure, twin]).best_text == "sure"


def test_one_model_that_says_none_decides():
    sure, none = Answered((Candidate("sure", 0, 1, 20.0),), 0.0), answered(0.3, 0.0)
    joined = most_probable([sure, none, sure])
    assert (joined.best_text, joined.answer(), joined.null_odds) == ("sure", "", pytest.approx(0.3))
    assert joined.answer(0.5) == "sure"


def test_an_ensemble_of_one_is_that_one():
    alone = answered(0.25, 1.0, 0.5)
    joined = most_probable([alone])
    assert joined.candidates == alone.candidates
    assert joined.null_score == alone.null_score
