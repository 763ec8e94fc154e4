"""Words against subwords: every rule beside a slow twin that looks at single characters."""

from __future__ import annotations

import string
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.syntax.labels import SUBWORD_POSITIONS
from fairseq_plugins.syntax.subwords import (
    align,
    case_of,
    is_sign,
    joined_spans,
    locate_words,
    positions,
)

WORD = st.text(st.sampled_from("ab'\u0301\U0001f600"), min_size=1, max_size=5)
LINES = st.text(st.sampled_from("ab '\u00a0\u0301\U0001f600"), max_size=25)


@st.composite
def spans_in(draw, length: int) -> list[tuple[int, int]]:
    """Ordered spans that do not overlap, with gaps, some of them empty."""
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=14)))
    return [(a, b) for a, b in zip(cuts[::2], cuts[1::2])]


@st.composite
def lines_with_spans(draw):
    text = draw(LINES)
    words = [(a, b) for a, b in draw(spans_in(len(text))) if a < b]
    return text, draw(spans_in(len(text))), words


def slow_align(text, subwords, words):
    """Look at every character: the word it lies in, or else the last word that began before it."""
    word_of, misaligned, latest = [], 0, 0
    for begin, end in subwords:
        visible = [i for i in range(begin, len(text)) if not text[i].isspace()]
        first = visible[0] if visible else len(text)
        before = [w for w, (start, _) in enumerate(words) if start <= first]
        latest = max(latest, before[-1] if before else 0)
        word_of.append(latest)
        inside = set(range(*words[latest]))
        misaligned += any(i not in inside for i in visible if i < end)
    return word_of, misaligned


@given(lines_with_spans())
def test_align_equals_a_search_over_characters(case) -> None:
    text, subwords, words = case
    found = align(text, subwords, words)
    if not words:
        assert (found.word_of, found.misaligned) == ([-1] * len(subwords), 0)
        return
    assert (found.word_of, found.misaligned) == slow_align(text, subwords, words)
    assert found.word_of == sorted(found.word_of)


@given(st.lists(WORD, min_size=1, max_size=6), st.data())
def test_align_gives_pieces_of_words_their_words(words, data) -> None:
    spans, owners = [], []
    for index, (begin, end) in enumerate(joined_spans(words)):
        cuts = data.draw(
            st.sets(st.integers(begin + 1, end - 1)) if end - begin > 1 else st.just(())
        )
        edges = [begin, *sorted(cuts), end]
        spans += list(zip(edges, edges[1:]))
        owners += [index] * (len(edges) - 1)
    found = align(" ".join(words), spans, joined_spans(words))
    assert (found.word_of, found.misaligned) == (owners, 0)


def test_align_counts_a_subword_over_two_words() -> None:
    # "don't" is two words to a tagger (do | n't) and "don", "'t" to a subword model
    found = align("I don't", [(0, 1), (2, 5), (5, 7)], [(0, 1), (2, 4), (4, 7)])
    assert found.word_of == [0, 1, 2]
    assert found.misaligned == 1


def test_align_gives_a_lone_word_mark_the_word_that_follows() -> None:
    found = align("a b", [(0, 1), (1, 2), (2, 3)], [(0, 1), (2, 3)])
    assert (found.word_of, found.misaligned) == ([0, 1, 1], 0)


def test_align_counts_a_character_outside_all_words() -> None:
    found = align("ab!c", [(0, 2), (2, 3), (3, 4)], [(0, 2), (3, 4)])
    assert (found.word_of, found.misaligned) == ([0, 0, 1], 1)


@given(st.lists(WORD, max_size=8))
def test_joined_spans_cut_the_joined_words_out(words) -> None:
    text = " ".join(words)
    assert [text[a:b] for a, b in joined_spans(words)] == words


@given(LINES, st.data())
def test_locate_words_finds_any_cutting_of_the_text(text, data) -> None:
    squeezed = "".join(text.split())
    cuts = data.draw(st.sets(st.integers(0, len(squeezed))) if squeezed else st.just(set()))
    edges = sorted({0, *cuts, len(squeezed)})
    words = [squeezed[a:b] for a, b in zip(edges, edges[1:])]
    spans = locate_words(text, words)
    assert spans is not None
    assert ["".join(text[a:b].split()) for a, b in spans] == words
    for begin, end in spans:
        assert not text[begin].isspace()
        assert not text[end - 1].isspace()


@given(LINES, st.lists(WORD, max_size=6))
def test_locate_words_says_when_the_characters_differ(text, words) -> None:
    same = "".join(text.split()) == "".join(words)
    assert (locate_words(text, words) is not None) == same


def test_locate_words_takes_words_with_spaces_and_empty_ones() -> None:
    assert locate_words("in New  York", ["in", "New York", ""]) == [(0, 2), (3, 12), (12, 12)]


@given(st.lists(st.integers(0, 3), max_size=12).map(sorted))
def test_positions_name_the_place_in_each_run(word_of) -> None:
    expected = []
    for _, run in groupby(word_of):
        size = len(list(run))
        expected += ["O"] if size == 1 else ["B", *"M" * (size - 2), "E"]
    assert "".join(places_of(np.array(word_of, int))) == "".join(expected)


def test_positions_of_several_sentences_begin_anew() -> None:
    assert places_of(np.array([0, 0, 0, 0]), [0, 3]) == [*"BMEO"]


def places_of(words, *begins) -> list[str]:
    return [SUBWORD_POSITIONS[place] for place in positions(words, *begins)]


@pytest.mark.parametrize(
    ("word", "case"),
    [("The", "upper"), ("the", "lower"), ("\u00dcber", "upper"), ("'s", "lower"), ("", "lower")],
)
def test_case_is_that_of_the_first_character(word, case) -> None:
    assert case_of(word) == case


@pytest.mark.parametrize("mark", ["{}", "\u2581{}", "\u0120{}", "{}@@"])
def test_signs_are_those_of_slas_program_in_every_scheme(mark) -> None:
    left_out = set("`{|}~")
    for sign in string.punctuation:
        assert is_sign(mark.format(sign)) is (sign not in left_out)
    for other in ("", "a", ".a", "..", "\u3002", "\u2014", "[SEP]"):
        assert not is_sign(mark.format(other))
    assert is_sign("()")  # a run in the program's order
    assert not is_sign(")(")
    assert not is_sign("##.")
