"""Trees of words as columns of subwords: what is left of a sentence that is cut is a forest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_trees import FORESTS, steps
from trees import own_heads

from fairseq_plugins.syntax.layers import LAYERS
from fairseq_plugins.syntax.tree import check_heads

TREE = LAYERS["heads"]
BOX = [2, 0, 2, 3]  # the word 2 is the root


def columns_of(heads, word_of, length=None):
    """Return both columns, and the heads of words that they tell of."""
    row = TREE.of_row(np.array(own_heads(heads), int), np.array(word_of, int), length)
    words, above = (column.tolist() for column in row)
    found = dict(zip(words, above))
    return words, above, [0 if found[word] == word else found[word] for word in sorted(found)]


def test_columns_of_a_sentence() -> None:
    assert columns_of(BOX, [0, 0, 1, 2, 3, 3])[:2] == ([1, 1, 2, 3, 4, 4], [2, 2, 2, 2, 3, 3])
    assert columns_of([], [])[:2] == ([], [])
    assert columns_of([], [-1, -1])[:2] == ([0, 0], [0, 0])


@given(FORESTS, st.integers(1, 3), st.integers(0, 30))
def test_a_cut_sentence_keeps_a_forest_of_the_words_left(heads, pieces, length) -> None:
    word_of = [word for word in range(len(heads)) for _ in range(pieces)]
    words, _, left = columns_of(heads, word_of, length)
    assert words == [word + 1 for word in word_of[:length]]
    check_heads(left)
    whole, kept = (np.array(steps(tree), ndmin=2) for tree in (heads, left))
    assert (kept <= whole[: len(left), : len(left)]).all()  # a step over a lost word is saved
    if length >= len(word_of):
        assert left == heads


@pytest.mark.parametrize(("length", "left"), [(3, [1, 1, 1]), (1, [1]), (0, [])])
def test_a_root_that_is_cut_off_is_replaced(length, left) -> None:
    assert columns_of([4, 4, 4, 0], range(4), length)[1] == left
