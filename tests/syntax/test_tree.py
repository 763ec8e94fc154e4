"""Heads carried over to other words: still trees, and ancestors stay ancestors."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.syntax.tree import project_heads


def ancestors(heads: list[int], word: int) -> list[int]:
    """Return the words above a word, nearest first; an endless walk fails."""
    found = []
    while heads[word]:
        word = heads[word] - 1
        assert word not in found, "a cycle"
        found.append(word)
    return found


@st.composite
def forests(draw) -> list[int]:
    """Heads of up to nine tokens in any order, with one root or more."""
    order = draw(st.permutations(range(draw(st.integers(1, 9)))))
    heads = [0] * len(order)
    for place, token in enumerate(order):
        above = draw(st.integers(0, place))
        heads[token] = order[above - 1] + 1 if above else 0
    return heads


@given(heads=forests())
def test_same_words_keep_their_heads(heads) -> None:
    assert project_heads(heads, range(len(heads))) == heads


@given(heads=forests(), seed=st.integers(0, 1000))
def test_fewer_words_keep_their_order_of_descent(heads, seed) -> None:
    chooser = random.Random(seed)
    kept = [token for token in range(len(heads)) if chooser.random() < 0.6]
    found = project_heads(heads, kept)
    for word, token in enumerate(kept):
        before = [kept.index(above) for above in ancestors(heads, token) if above in kept]
        after = ancestors(found, word)
        assert [above for above in after if above in before] == before
        assert len(after) - len(before) <= 1  # the word that took a lost root's place
    trees = sum(head == 0 for head in heads)
    assert sum(head == 0 for head in found) <= trees


@given(heads=forests(), seed=st.integers(0, 1000))
def test_further_words_of_a_token_hang_on_its_first(heads, seed) -> None:
    chooser = random.Random(seed)
    token_of = sorted(chooser.choices(range(len(heads)), k=12))
    found = project_heads(heads, token_of)
    for word, token in enumerate(token_of):
        ancestors(found, word)
        first = token_of.index(token)
        if first != word:
            assert found[word] == first + 1


def test_lost_root_leaves_one_tree() -> None:
    # 2 is the root of 1, 3 and 4; without it 1 takes its place
    assert project_heads([2, 0, 2, 2], [0, 2, 3]) == [0, 1, 1]
