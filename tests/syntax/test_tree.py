"""What is a tree and what is none; heads carried over to other words are still trees."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_trees import ancestors, any_forests

from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax import tree
from fairseq_plugins.syntax.tree import check_heads, project_heads


def test_deep_trees_and_empty_sentences() -> None:
    check_heads(range(1200))  # deeper than Python recurses
    check_heads([])


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([2, 0, 9], "word 3 has head 9, but the sentence has 3 words"),
        ([2, 0, -1], "word 3 has head -1, but the sentence has 3 words"),
        ([2, 0, 3], "word 3 of 3 is its own head"),
        (
            [0, 3, 4, 2],
            "sentence of 4 words form a cycle: "
            "word 2, whose head is word 3, whose head is word 4, whose head is word 2$",
        ),
        ([3, 1, 2], "form a cycle: word 1, whose head is word 3"),
    ],
)
def test_heads_that_form_no_tree_are_refused(heads, message) -> None:
    for one_root in (False, True):
        with pytest.raises(InputError, match=message):
            check_heads(heads, one_root=one_root)


def test_words_are_counted_and_named() -> None:
    check_heads([2, 0], ["a", "b"])
    for heads in ([2, 0, 2], [0]):
        with pytest.raises(InputError, match=f"{len(heads)} heads .* sentence of 2 words"):
            check_heads(heads, ["a", "b"])
    with pytest.raises(InputError, match="word 1 'a', whose head is word 2 'b', whose head"):
        check_heads([2, 1], ["a", "b"])


def test_several_roots_are_refused_on_demand() -> None:
    check_heads([0, 0, 1])
    check_heads([0, 1, 1], one_root=True)
    with pytest.raises(InputError, match="of 3 words has 2 roots .*: word 1, word 2"):
        check_heads([0, 0, 1], one_root=True)


def refusal(heads: list[int]) -> str:
    try:
        check_heads(heads)
    except ValueError as error:
        return str(error)
    return ""


WILD = st.integers(0, 6).flatmap(lambda n: st.lists(st.integers(-1, n + 1), min_size=n, max_size=n))


@given(sentences=st.lists(st.one_of(any_forests(), WILD), max_size=6))
def test_first_bad_sentence_is_found_among_many(sentences) -> None:
    bad = [(i, told) for i, heads in enumerate(sentences) if (told := refusal(heads))]
    heads = np.array([head for heads in sentences for head in heads], dtype=np.int64)
    lengths = np.array([len(heads) for heads in sentences], dtype=np.int64)
    assert tree.first_bad_sentence(heads, lengths) == (bad[0] if bad else None)


def test_chains_of_any_length_are_trees() -> None:
    for size in range(40):
        for heads in (np.arange(size), np.arange(2, size + 2) % (size + 1)):
            assert tree.first_bad_sentence(heads, np.array([size])) is None


@given(heads=any_forests())
def test_same_words_keep_their_heads(heads) -> None:
    assert project_heads(heads, range(len(heads))) == heads


@given(heads=any_forests(), seed=st.integers(0, 1000))
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


@given(heads=any_forests(), seed=st.integers(0, 1000))
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
