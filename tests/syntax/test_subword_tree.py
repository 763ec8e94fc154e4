"""Trees as two columns of subwords: nothing of a tree is lost, and what is left is a tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_trees import steps

from fairseq_plugins.syntax.tree import (
    check_heads,
    heads_of,
    shortened_columns,
    tree_columns,
)

BOX = [2, 0, 2, 3]  # the word 2 is the root


@st.composite
def trees(draw):
    """Heads of a forest, drawn by attaching words in a random order."""
    count = draw(st.integers(1, 9))
    order = draw(st.permutations(range(1, count + 1)))
    heads = [0] * count
    for k, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:k]]))
    return heads


@st.composite
def sentences(draw):
    """A forest, and the words of its subwords: some words have several, some none."""
    heads = draw(trees())
    counts = draw(st.lists(st.integers(0, 3), min_size=len(heads), max_size=len(heads)))
    return heads, [word for word, n in enumerate(counts) for _ in range(n)]


def test_columns_of_a_sentence() -> None:
    words, heads = tree_columns(BOX, [0, 0, 1, 2, 3, 3])
    assert words == [1, 1, 2, 3, 4, 4]
    assert heads == [2, 2, 2, 2, 3, 3]
    assert tree_columns([], []) == ([], [])
    assert tree_columns([], [-1, -1]) == ([0, 0], [0, 0])


def test_a_word_without_subwords_hands_its_words_on() -> None:
    words, heads = tree_columns(BOX, [0, 1, 3])  # the third word, head of the fourth, has none
    assert (words, heads) == ([1, 2, 3], [2, 2, 2])
    assert tree_columns(BOX, [0, 2, 3]) == ([1, 2, 3], [1, 1, 2])  # a new root where it was


@given(trees(), st.integers(1, 3))
def test_nothing_is_lost_where_all_words_have_subwords(heads, pieces) -> None:
    word_of = [word for word in range(len(heads)) for _ in range(pieces)]
    assert heads_of(*tree_columns(heads, word_of)) == heads


@given(sentences())
def test_what_is_left_is_a_forest_counted_without_gaps(sentence) -> None:
    heads, word_of = sentence
    words, above = tree_columns(heads, word_of)
    assert sorted(set(words)) == list(range(1, len(set(word_of)) + 1))
    assert len(words) == len(word_of)
    left = heads_of(words, above)
    check_heads(left)
    assert left.count(0) <= max(heads.count(0), 1)


@given(sentences(), st.integers(0, 30))
def test_shortened_columns_are_those_of_the_words_left(sentence, length) -> None:
    columns = tree_columns(*sentence)
    words, above = shortened_columns(*columns, length)
    assert words == columns[0][:length]
    check_heads(heads_of(words, above))
    whole, left = (np.array(steps(heads_of(*tree)), ndmin=2) for tree in (columns, (words, above)))
    assert (left <= whole[: len(left), : len(left)]).all()  # a step over a lost word is saved
    if length >= len(columns[0]):
        assert (words, above) == columns


@pytest.mark.parametrize(("length", "left"), [(3, [1, 1, 1]), (1, [1]), (0, [])])
def test_a_root_that_is_cut_off_is_replaced(length, left) -> None:
    assert shortened_columns([1, 2, 3, 4], [4, 4, 4, 4], length)[1] == left
