"""Masks from trees and windows, against plain loops over one tree and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plain_trees import FORESTS, above, any_forests, hulls, is_projective, near, related, window
from released_masks import sgnet_mask, sla_mask
from trees import Row, context_of, random_heads

from fairseq_plugins.nn.tree_masks import (
    ANCESTOR_MASKS,
    ANCESTOR_PAIRS,
    NEIGHBOURS,
    RELATIONS,
    AncestorRule,
    RelationRule,
    TreeRule,
    WindowRule,
)
from fairseq_plugins.syntax.subwords import is_sign

WORDS_OF_PIECES = st.lists(
    st.sampled_from(["a", "##b", ".", ",", "()", "./", "##.", "'", "{", "`", "~", "\\"]),
    min_size=1,
    max_size=3,
)


def allowed(rule, row: Row, signs=()) -> np.ndarray:
    """Apply a rule to one row, some of whose tokens are punctuation signs, (l, l)."""
    context = context_of([row])
    punctuation = torch.tensor([[place in signs for place in range(len(row.words))]])
    found = rule(context.words, context.segments, context.heads, punctuation)
    return found[0].numpy()


def punctuation_of(context, signs) -> torch.Tensor:
    """Tell of a batch which tokens are signs, by their places in their rows, (B, S)."""
    real = ~context.layout.padding_mask
    places = real.long().cumsum(1) - 1
    return real & torch.isin(places, torch.tensor(signs))


def between_words(rule, heads) -> np.ndarray:
    """Apply a rule to a sentence of one-piece words, specials left out, (W, W)."""
    return allowed(rule, Row(heads))[1:-1, 1:-1]


@settings(deadline=None)
@given(any_forests(), st.integers(0, 10), st.sampled_from(NEIGHBOURS))
def test_tree_rule_is_the_papers_formula(heads, threshold, neighbours):
    found = between_words(TreeRule(threshold, neighbours), heads)
    assert np.array_equal(found, near(heads, threshold, neighbours))


@settings(deadline=None)
@given(any_forests())
def test_relations_and_ancestors_are_those_of_the_heads(heads):
    for relation in RELATIONS:
        found = between_words(RelationRule(relation), heads)
        assert np.array_equal(found, related(heads, relation))
    assert np.array_equal(between_words(AncestorRule(), heads), above(heads))
    assert np.array_equal(between_words(AncestorRule("span"), heads), hulls(heads))


def test_distances_by_hand():
    """Five words: 1 <- 2 -> 3, 4 -> 5, 2 -> 4; rows reach out from their neighbours too."""
    heads = [2, 0, 2, 2, 4]
    found = between_words(TreeRule(1), heads).astype(int).tolist()
    assert found == [
        [1, 1, 1, 1, 0],  # from 1 and 2
        [1, 1, 1, 1, 0],  # from 1, 2 and 3
        [1, 1, 1, 1, 1],  # from 2, 3 and 4
        [0, 1, 1, 1, 1],  # from 3, 4 and 5
        [0, 1, 0, 1, 1],  # from 4 and 5
    ]
    alone = between_words(TreeRule(1, "none"), heads)
    assert alone.sum() == 5 + 2 * 4
    assert np.array_equal(alone, alone.T)


def test_neighbours_stop_at_the_edges():
    """In a chain every word sees one word more on either side; a wrapped index would show."""
    heads = [0, 1, 2, 3, 4, 5]
    found = between_words(TreeRule(0), heads)
    band = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) <= 1
    assert np.array_equal(found, band)


@settings(deadline=None)
@given(any_forests(6), st.data())
def test_subwords_share_their_words_rows_and_columns(heads, data):
    counts = data.draw(st.lists(st.integers(1, 3), min_size=len(heads), max_size=len(heads)))
    row = Row(heads, pieces=[counts])
    words = np.array(row.words[1:-1])
    rules = [TreeRule(2), AncestorRule(), AncestorRule("span"), WindowRule(1, "words")]
    for rule in [*rules, *map(RelationRule, RELATIONS)]:
        whole = between_words(rule, heads)
        assert np.array_equal(allowed(rule, row)[1:-1, 1:-1], whole[words][:, words])


@settings(deadline=None)
@given(any_forests(), st.integers(0, 5), st.data())
def test_sla_as_released_is_the_programs_mask(heads, most, data):
    """Its authors' program, followed step by step; with more open than the paper's columns."""
    spelt = data.draw(st.lists(WORDS_OF_PIECES, min_size=len(heads), max_size=len(heads)))
    row = Row(heads, pieces=[[len(pieces) for pieces in spelt]])
    subwords = ["[CLS]", *(piece for pieces in spelt for piece in pieces), "[SEP]"]
    signs = [place for place, piece in enumerate(subwords) if is_sign(piece)]
    found = allowed(TreeRule(most, opened="punctuation"), row, signs)
    assert np.array_equal(found, sla_mask(heads, spelt, most))
    plain = allowed(TreeRule(most), row, signs)
    assert (plain <= found).all()
    closed = np.flatnonzero(~plain.all(0) & found.all(0))  # columns that the option opens
    assert {*closed} == {place for place in signs if not plain[:, place].all()}
    rest = [place for place in range(len(subwords)) if place not in signs]
    assert np.array_equal(plain[:, rest], found[:, rest])


@settings(deadline=None)
@given(any_forests(6), any_forests(4), st.data())
def test_sgnet_as_released_is_the_programs_mask(heads, second, data):
    counts = [data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
              for n in (len(heads), len(second))]  # fmt: skip
    row = Row(heads, second, pieces=counts)
    found, words = allowed(AncestorRule("released"), row), np.array(row.words)
    one = 1 + sum(counts[0])
    wanted = np.zeros_like(found)
    wanted[words < 0] = True
    for start, tree, pieces in ((1, heads, counts[0]), (one + 1, second, counts[1])):
        part = slice(start, start + sum(pieces))
        wanted[part, part] = sgnet_mask(tree, pieces)
    assert np.array_equal(found, wanted)
    hull = allowed(AncestorRule("span"), row)
    assert (found <= hull).all()
    assert np.array_equal(found, hull) == (max(counts[0] + counts[1]) == 1)


def test_signs_are_open_to_their_own_sentence_and_all_others():
    """Columns alone, also where the distance counts both ways."""
    heads = [0, 1, 2, 3, 4, 5]
    for neighbours in NEIGHBOURS:
        found = allowed(TreeRule(0, neighbours, "punctuation"), Row(heads), [2])
        assert found[:, 2].all()
        assert np.array_equal(found[2], allowed(TreeRule(0, neighbours), Row(heads))[2])


@pytest.mark.parametrize(
    "rule",
    [TreeRule(0, "none"), WindowRule(0), RelationRule("parent"), AncestorRule(pairs="open")],
)
def test_special_tokens_and_the_other_sentence_are_open(rule):
    first, second = random_heads(6, 1), random_heads(5, 2)
    found = allowed(rule, Row(first, second))
    special = np.array([0, 7, 13])
    assert found[special].all()
    if not isinstance(rule, AncestorRule):
        assert found[:, special].all()
    assert found[1:7, 8:13].all()
    assert found[8:13, 1:7].all()
    for part, heads in ((slice(1, 7), first), (slice(8, 13), second)):
        assert np.array_equal(found[part, part], between_words(rule, heads))
        assert not found[part, part].all()


@settings(deadline=None)
@given(any_forests(6), any_forests(6), st.sampled_from(ANCESTOR_MASKS))
def test_ancestors_of_a_pair_are_those_of_its_sentences(first, second, mask):
    """Words see the words of the other sentence if that is asked for; special tokens see all."""
    row = Row(first, second)
    one = slice(1, 1 + len(first))
    two = slice(one.stop + 1, one.stop + 1 + len(second))
    wanted = np.zeros((len(row.words),) * 2, dtype=bool)
    for part, heads in ((one, first), (two, second)):
        wanted[part, part] = (above if mask == "exact" else hulls)(heads)
    wanted[[0, one.stop, two.stop]] = True
    assert np.array_equal(allowed(AncestorRule(mask), row), wanted)
    wanted[one, two] = wanted[two, one] = True
    assert np.array_equal(allowed(AncestorRule(mask, "open"), row), wanted)


@settings(deadline=None)
@given(any_forests())
def test_ancestors_of_a_single_sentence_do_not_depend_on_pairs(heads):
    for mask in ANCESTOR_MASKS:
        rules = [AncestorRule(mask, pairs) for pairs in ANCESTOR_PAIRS]
        assert np.array_equal(*(allowed(rule, Row(heads)) for rule in rules))


def test_ancestors_alone_do_not_let_words_see_special_tokens():
    found = allowed(AncestorRule(), Row([0, 1]))
    assert not found[1:3, [0, 3]].any()
    assert found[[0, 3]].all()


def test_trees_of_a_text_are_bridged_by_neighbours_alone():
    heads = [0, 1, 0, 3]
    assert not between_words(TreeRule(100, "none"), heads)[:2, 2:].any()
    found = between_words(TreeRule(100), heads)
    assert found[1, 2:].all()
    assert not found[0, 2:].any()
    assert found[2, :2].all()


def test_window_counts_subwords_or_words():
    row = Row([0, 1, 1], pieces=[[1, 3, 1]])
    by_subword = allowed(WindowRule(1), row)[1:-1, 1:-1]
    assert np.array_equal(by_subword, window(5, 1))
    by_word = allowed(WindowRule(1, "words"), row)[1:-1, 1:-1]
    assert by_word[0].tolist() == [True, True, True, True, False]


def test_a_wide_threshold_or_window_is_open_everywhere():
    row = Row(random_heads(9, 3))
    assert allowed(TreeRule(8), row).all()
    assert allowed(TreeRule(10**6), row).all()
    assert not allowed(TreeRule(1, "none"), row).all()
    assert allowed(WindowRule(11), row).all()
    assert not allowed(WindowRule(2), row).all()


@settings(deadline=None)
@given(FORESTS)
@example([0, 4, 1, 1])  # 2 hangs on 4, over 3
@example([2, 0, 0])
@example([3, 0, 0])  # an arc above a root
def test_hulls_are_ancestors_in_projective_trees_alone(heads):
    exact, hull = (between_words(AncestorRule(mask), heads) for mask in ("exact", "span"))
    assert (exact <= hull).all()
    assert np.array_equal(exact, hull) == is_projective(heads)


def test_a_long_chain_needs_no_recursion():
    heads = list(range(2000))
    assert np.array_equal(between_words(AncestorRule(), heads), np.tri(2000, dtype=bool))


def test_words_beyond_two_bytes_are_told_apart():
    """A few tokens of a document of 40,000 words in one chain."""
    heads = torch.arange(-1, 39_999).clamp(min=0)[None]
    words = torch.tensor([[3, 4, 35_000, 35_001, 4 + 2**15]])
    found = TreeRule(1, "none")(words, None, heads)[0]
    assert torch.equal(found, (words.mT - words).abs() <= 1)


@pytest.mark.parametrize("left", [False, True])
def test_a_rule_does_not_see_the_batch(left):
    rows = [Row(random_heads(n, n), random_heads(3, 1)) for n in (7, 2, 5)]
    context = context_of(rows, left=left, extra=2)
    signs = [1, 4]
    context = replace(context, punctuation=punctuation_of(context, signs))
    rules = [TreeRule(2), TreeRule(0, "none", "punctuation"), WindowRule(2)]
    for rule in [*rules, RelationRule("sibling"), *map(AncestorRule, ANCESTOR_MASKS)]:
        for number, block in enumerate(context.layout.blocks):
            wanted = allowed(rule, rows[number], signs)
            assert np.array_equal(context.allowed(rule, block)[0], wanted)


def test_a_context_without_heads_says_so():
    context = context_of([Row([0])])
    block = context.layout.blocks[0]
    bare = type(context)(context.layout, words=context.words)
    assert bare.allowed(WindowRule(1), block).all()
    with pytest.raises(ValueError, match="reads parse trees, but the batch has no heads"):
        bare.allowed(TreeRule(1), block)
    with pytest.raises(ValueError, match="must know which subwords are punctuation signs"):
        context.allowed(TreeRule(1, opened="punctuation"), block)
    with pytest.raises(ValueError, match="know the tokens' words, but the batch has none"):
        type(context)(context.layout).allowed(WindowRule(1), block)


def test_the_device_is_never_waited_for():
    """On a device without values every number that is asked for would be an error."""
    words, heads = (torch.zeros(2, 5, dtype=torch.long, device="meta") for _ in range(2))
    rules = [TreeRule(3, "symmetric", "punctuation"), WindowRule(1)]
    for rule in [*rules, *map(AncestorRule, ANCESTOR_MASKS), *map(RelationRule, RELATIONS)]:
        assert rule(words, words, heads, words.bool()).shape == (2, 5, 5)
