"""Answers on a terminal: what is said, what is marked, how much of the text is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.evaluation.answer_text import as_text
from fairseq_plugins.evaluation.shown_text import surroundings
from fairseq_plugins.targets.answers import Answered, Candidate

CONTEXT = "Mara built the mill.  Otto\nsold it in Lund!\n\nAnother paragraph."


def found(context, text, null=0.0, score=2.0):
    begin = context.index(text)
    return Answered((Candidate(text, begin, begin + len(text), score),), null)


def test_an_answer_is_marked_in_its_paragraph():
    shown = as_text(found(CONTEXT, "Otto"), CONTEXT)
    assert shown == (
        "Otto  (probability 0.881, score 2.00, +2.00 to no answer)\n"
        "  Mara built the mill. >>Otto<< sold it in Lund! …\n"
    )


def test_no_answer_comes_with_the_best_span():
    shown = as_text(found(CONTEXT, "Another", null=3.0), CONTEXT)
    assert shown == (
        "no answer  (probability 0.731, score 3.00, +1.00 to the best span)\n"
        "  best span: Another  (probability 0.269, score 2.00, -1.00 to no answer)\n"
        "  … >>Another<< paragraph.\n"
    )
    assert as_text(found(CONTEXT, "Another", null=3.0), CONTEXT, threshold=1.0).startswith(
        "Another"
    )
    assert as_text(Answered((), 1.0), CONTEXT) == "no answer\n"


def test_terminals_get_colour_instead_of_marks():
    shown = as_text(found(CONTEXT, "Otto"), CONTEXT, color=True)
    assert "\x1b[1;32mOtto\x1b[0m" in shown
    assert ">>" not in shown


def test_texts_command_no_terminal():
    context = "Mara\x1b[2J built\u2028the\r\nmill"
    shown = as_text(found(context, "built\u2028the\r\nmill"), context)
    assert "\x1b" not in shown
    assert shown.count("\n") == 2
    assert ">>built the mill<<" in shown


def test_texts_turn_no_line_round():
    context = "Mara \u202ebuilt the\u2067 mill, \u0645 too."
    shown = as_text(found(context, "built the\u2067 mill"), context)
    assert "  Mara >>built the mill<<, \u0645 too.\n" in shown


def test_long_paragraphs_are_cut_at_sentences():
    context = "First one here. " * 40 + "Mara built the mill. " + "Last one here. " * 40
    shown = as_text(found(context, "mill"), context)
    assert shown.endswith("\n  … Mara built the >>mill<<. …\n")


@given(st.text("ab .\n", max_size=60), st.data())
def test_what_is_shown_holds_the_span_and_is_short(context, data):
    end = data.draw(st.integers(0, len(context)))
    begin = data.draw(st.integers(0, end))
    left, right = surroundings(context, begin, end, longest=20)
    span = context[begin:end]
    if span.strip() == span and span:
        assert left <= begin
        assert end <= right
        assert right - left <= max(20, len(span))


@pytest.mark.parametrize("span", ["Mara", "Lund!", "Another", "paragraph."])
def test_paragraphs_end_at_empty_lines(span):
    begin = CONTEXT.index(span)
    left, right = surroundings(CONTEXT, begin, begin + len(span))
    assert CONTEXT[left:right] in CONTEXT.split("\n\n")
