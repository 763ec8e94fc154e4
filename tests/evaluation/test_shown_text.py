"""Texts as they can be shown: what is taken out of them, and what is cut off around a span."""

from __future__ import annotations

import pytest

from fairseq_plugins.evaluation.shown_text import (
    align,
    as_line,
    as_markdown_cell,
    cropped,
    straight,
    surroundings,
    visible,
)

THREE = "One is here. Two is there! Three is gone."


def shown(context, span, longest=500):
    begin = context.index(span)
    left, right = surroundings(context, begin, begin + len(span), longest)
    return context[left:right]


@pytest.mark.parametrize(
    ("context", "span", "paragraph"),
    [
        ("One.\n\nTwo.\n \nThree.", "One", "One."),
        ("One.\n\nTwo.\n \nThree.", "Two", "Two."),
        ("One.\n\nTwo.\n \nThree.", "Three", "Three."),
        ("One.\n\nTwo.\n\nThree.\n\nFour.", "Three.", "Three."),
        ("One.\nTwo.", "One", "One.\nTwo."),
        ("One.\n\nTwo.\n\nThree.", "ne.\n\nTw", "One.\n\nTwo."),
    ],
)
def test_a_span_is_shown_in_its_paragraph(context, span, paragraph):
    assert shown(context, span) == paragraph


@pytest.mark.parametrize(
    ("span", "sentence"),
    [
        ("One", "One is here."),
        ("Two", "Two is there!"),
        ("Three", "Three is gone."),
        ("here. Two", "One is here. Two is there!"),
    ],
)
def test_of_a_long_paragraph_the_sentence_is_shown(span, sentence):
    assert shown(THREE, span, longest=len(THREE) - 1) == sentence
    assert shown(THREE, span, longest=len(THREE)) == THREE


def test_sentences_reach_no_further_than_the_paragraph():
    text = "Zero\n\none is here and there. Two.\n\nThree. Four"
    assert shown(text, "is", longest=24) == "one is here and there."
    assert shown(text, "Two", longest=24) == "Two."


def test_of_a_long_sentence_equally_much_is_shown_on_both_sides():
    text = "abcdefghijklmnopqrstuvwxyz"
    assert shown(text, "mn", longest=6) == "klmnop"
    assert shown(text, "mn", longest=7) == "klmnop"
    assert shown(text, "bc", longest=6) == "abcde"
    assert shown(text, "yz", longest=6) == "wxyz"
    assert shown(text, "klmnop", longest=3) == "klmnop"


def test_dots_stand_where_text_is_left_out():
    text = "One.\n\nTwo is here.\n\nThree."
    begin = text.index("is")
    assert cropped(text, begin, begin + 2) == ("… Two ", "is", " here. …")
    assert cropped(" \n\nTwo is here.\n\n ", 7, 9) == ("Two ", "is", " here.")


def test_what_moves_a_cursor_is_not_shown():
    assert visible("a\tb\nc\x1b[2J\x00d\ud800\u2028e") == "a b c\ufffd[2J\ufffdd\ufffd e"
    assert straight("a\u202eb\u2067c\u200ed") == "abcd"
    assert as_line("a \r\n\t b\u202e") == "a b"


def test_markdown_is_shown_as_it_is_written():
    assert as_markdown_cell("bert_plain|x <b> a < b [c](d)") == r"bert_plain\|x \<b> a < b [c]\(d)"


def test_the_first_column_is_aligned_on_the_left_and_others_on_the_right():
    assert align([("ab", "1", "cd"), ("c", "10", "e")]) == ["ab   1  cd", "c   10   e"]
