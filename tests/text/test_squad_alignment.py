"""Answers placed on wordpieces: where they stand, what covers them, which windows hold them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.corpora.squad import GoldAnswer, Question
from fairseq_plugins.text.squad_alignment import (
    BESIDE_WORDPIECES,
    INSIDE_WORDPIECE,
    MOVED,
    NO_WINDOW,
    NO_WORDPIECE,
    NOT_FOUND,
    Limits,
    cover,
    find_answer,
    place_question,
)

CONTEXT = "the mill, the mill"
OFFSETS = np.array([(0, 3), (4, 6), (6, 8), (8, 9), (10, 13), (14, 18)])  # the mi ll , the mill


def placed(
    *answers: GoldAnswer, repair: bool = True, limits: Limits | None = None, pieces: int = 5
):
    """Place answers in `CONTEXT`."""
    return place_question(
        Question("q", "Where?", answers),
        CONTEXT,
        OFFSETS,
        repair=repair,
        limits=limits or Limits(),
        pieces=pieces,
    )


@pytest.mark.parametrize(
    ("text", "start", "found"),
    [
        ("mill", 4, 4),
        ("mill", 14, 14),
        ("mill", 5, 4),
        ("mill", 9, 4),  # as far from both: the earlier
        ("mill", 10, 14),
        ("mill", -3, 4),
        ("mill", 999, 14),
        ("the", 1, 0),
        ("boat", 0, None),
    ],
)
def test_nearest_occurrence_takes_the_place(text, start, found) -> None:
    answer = find_answer(CONTEXT, GoldAnswer(text, start), repair=True)
    assert (answer and answer.start) == found
    kept = find_answer(CONTEXT, GoldAnswer(text, start), repair=False)
    assert kept == (GoldAnswer(text, start) if found == start else None)


@given(st.text("ab ,", min_size=1, max_size=12), st.data())
def test_nearest_occurrence_as_a_loop_finds_it(context, data) -> None:
    text = data.draw(st.text("ab,", min_size=1, max_size=2))
    start = data.draw(st.integers(-3, 15))
    places = [i for i in range(len(context)) if context.startswith(text, i)]
    inside = {i for word in re.finditer("[ab]+", context) for i in range(*word.span())[1:]}
    whole = [place for place in places if not {place, place + len(text)} & inside]
    wanted = min(whole or places, key=lambda place: (abs(place - start), place), default=None)
    wanted = start if start in places else wanted
    found = find_answer(context, GoldAnswer(text, start), repair=True)
    assert (found and found.start) == wanted


@pytest.mark.parametrize(
    ("text", "start", "context", "found"),
    [
        ("5", 0, "In 1950, only 5 men stayed.", "5 men"),
        ("he", 30, "The other day he left. The sea.", "he left"),
        ("5", 0, "In 1950 he stayed.", "50 he"),  # in a word where nothing else is
        ("5", 5, "In 1950 and 5.", "50 and 5."),  # as the file says, wherever that is
        ("$5", 9, "The US$5 for Ann.", "$5 for"),  # its first character is of no word
        ("5", 8, "A 5% of 15.", "5% of"),
        ("京", 0, "在東京也。京", "京也"),  # a script without blanks
    ],
)
def test_answers_are_not_moved_into_words(text, start, context, found) -> None:
    moved = find_answer(context, GoldAnswer(text, start), repair=True)
    assert context[moved.start :].startswith(found)


def test_answers_become_first_and_last_wordpiece() -> None:
    found = placed(GoldAnswer("mill", 4), GoldAnswer("the mill", 10))
    assert found.row() == [2, 1, 2, 4, 5]
    assert found.notes == ()
    assert placed().row() == [1]
    nothing = place_question(
        Question("q", "?"), CONTEXT, OFFSETS, repair=True, limits=Limits(), pieces=1
    )
    assert (nothing.row(), nothing.answers) == ([0], None)


def test_answer_inside_a_wordpiece_is_widened_and_listed() -> None:
    found = placed(GoldAnswer("ill", 15))
    assert found.row() == [2, 5, 5]
    said = {"text": "ill", "answer_start": 15, "reason": INSIDE_WORDPIECE, "covered": "mill"}
    assert found.notes == (said,)


def test_answer_with_blanks_around_is_trimmed_and_listed_as_such() -> None:
    found = placed(GoldAnswer(" mill", 3))
    assert found.row() == [2, 1, 2]
    said = {"text": " mill", "answer_start": 3, "reason": BESIDE_WORDPIECES, "covered": "mill"}
    assert found.notes == (said,)
    (note,) = placed(GoldAnswer(" mil", 3)).notes  # too short at one end, too long at the other
    assert (note["reason"], note["covered"]) == (INSIDE_WORDPIECE, "mill")


def test_answer_elsewhere_is_moved_or_passed_over() -> None:
    found = placed(GoldAnswer("mill", 5), GoldAnswer("mill", 14))
    assert found.row() == [2, 1, 2, 5, 5]
    assert found.answers == (GoldAnswer("mill", 4), GoldAnswer("mill", 14))
    said = {"text": "mill", "answer_start": 5, "reason": MOVED, "moved_to": 4}
    assert found.notes == (said,)
    found = placed(GoldAnswer("mill", 5), GoldAnswer("mill", 14), repair=False)
    assert found.row() == [2, 5, 5]
    assert found.answers == (GoldAnswer("mill", 5), GoldAnswer("mill", 14))  # still what is right
    assert [note["reason"] for note in found.notes] == [NOT_FOUND]
    found = placed(GoldAnswer("boat", 5))
    assert (found.row(), found.unplaced) == ([2], True)


def test_answer_that_bert_does_not_see_is_listed() -> None:
    found = placed(GoldAnswer(" ", 3))
    assert (found.row(), found.unplaced) == ([2], True)
    assert [note["reason"] for note in found.notes] == [NO_WORDPIECE]


def test_answer_in_no_window_is_listed() -> None:
    limits = Limits(max_positions=10, doc_stride=2, max_query_length=4)  # three of the context
    assert limits.room(9) == limits.room(4) == 3
    found = placed(GoldAnswer("mill,", 4), GoldAnswer("the mill, the", 0), limits=limits)
    assert found.row() == [2, 1, 3, 0, 4]
    reasons = [(note["text"], note["reason"]) for note in found.notes]
    assert reasons == [("mill,", NO_WINDOW), ("the mill, the", NO_WINDOW)]
    assert placed(GoldAnswer("mill,", 4), limits=limits, pieces=3).notes == ()  # one more fits


@given(st.integers(1, 9), st.integers(1, 30), st.integers(1, 5), st.data())
def test_reach_is_what_a_loop_over_windows_finds(question, context, stride, data) -> None:
    limits = Limits(max_positions=14, doc_stride=stride, max_query_length=6)
    first = data.draw(st.integers(0, context - 1))
    last = data.draw(st.integers(first, context - 1))
    start, held = 0, False
    while True:
        end = start + limits.room(question)
        held |= start <= first and last < end
        if end >= context:
            break
        start += stride
    assert limits.reach((first, last), question, context) == held


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), max_size=8), st.data())
def test_cover_is_the_fewest_wordpieces(gaps, data) -> None:
    offsets, place = [], 0
    for gap, size in gaps:
        offsets.append((place + gap, place + gap + size))
        place += gap + size
    begin = data.draw(st.integers(0, place))
    end = data.draw(st.integers(begin + 1, place + 1))
    touched = [i for i, (b, e) in enumerate(offsets) if {*range(b, e)} & {*range(begin, end)}]
    wanted = (touched[0], touched[-1]) if touched else None
    assert cover(np.array(offsets, np.int64).reshape(-1, 2), begin, end) == wanted
