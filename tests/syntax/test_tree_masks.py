"""Masks of single trees, against plain loops, and what has to hold of any tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain_trees import FORESTS, ancestors, pairs, projective_forests, steps

from fairseq_plugins.syntax import tree
from fairseq_plugins.syntax.tree import FAR

THRESHOLDS = st.integers(0, 6)
CROSSING = [3, 4, 0, 3]  # 1 - 3 and 2 - 4 cross


@given(heads=FORESTS)
def test_distances_are_those_of_a_walk(heads) -> None:
    assert tree.distances(heads).tolist() == steps(heads)


@given(heads=FORESTS)
def test_distances_form_a_metric(heads) -> None:
    found = tree.distances(heads)
    assert np.array_equal(found, found.T)
    assert np.array_equal(found == 0, np.eye(len(heads), dtype=bool))
    assert (found[:, :, None] + found[None] >= found[:, None, :]).all()
    for word, head in enumerate(heads):
        assert head == 0 or found[word, head - 1] == 1


@given(heads=FORESTS, threshold=THRESHOLDS)
def test_tree_mask_is_the_papers_formula(heads, threshold) -> None:
    dis, last = steps(heads), len(heads) - 1
    near = {
        (i, j): min(dis[k][j] for k in range(max(i - 1, 0), min(i + 1, last) + 1))
        for i, j in pairs(heads)
    }
    allowed = {kind: tree.tree_allowed(heads, threshold, kind) for kind in tree.NEIGHBOURS}
    assert np.array_equal(tree.tree_allowed(heads, threshold), allowed["asymmetric"])
    for i, j in pairs(heads):
        assert allowed["asymmetric"][i, j] == (near[i, j] <= threshold)
        assert allowed["symmetric"][i, j] == (min(near[i, j], near[j, i]) <= threshold)
        assert allowed["none"][i, j] == (dis[i][j] <= threshold)


@pytest.mark.parametrize("threshold", range(5))
@pytest.mark.parametrize("down", [True, False])
def test_neighbours_end_at_both_edges(threshold, down) -> None:
    """Of a chain of heads the mask is a window, a step wider, which does not go round the ends."""
    size = 7
    heads = list(range(size)) if down else [*range(2, size + 1), 0]
    expected = tree.window_allowed(size, threshold + 1)
    assert np.array_equal(tree.tree_allowed(heads, threshold), expected)
    assert np.array_equal(
        tree.tree_allowed(heads, threshold, "none"), tree.window_allowed(size, threshold)
    )


def test_neighbours_are_those_of_the_row() -> None:
    heads = [0, 1, 1, 1, 1]  # 1 above all others
    allowed = tree.tree_allowed(heads, 0)
    assert np.flatnonzero(allowed[0]).tolist() == [0, 1]
    assert np.flatnonzero(allowed[4]).tolist() == [3, 4]
    allowed = tree.tree_allowed(heads, 1)
    assert allowed[1].all()  # beside the root
    assert np.flatnonzero(allowed[4]).tolist() == [0, 3, 4]
    assert np.flatnonzero(allowed[:, 4]).tolist() == [0, 1, 3, 4]


@given(heads=FORESTS)
def test_wide_threshold_opens_whole_trees_alone(heads) -> None:
    roots = [(ancestors(heads, word) or [word])[-1] for word in range(len(heads))]
    for threshold in (len(heads) - 1, FAR, FAR + 1):
        allowed = tree.tree_allowed(heads, threshold, "none")
        for i, j in pairs(heads):
            assert allowed[i, j] == (roots[i] == roots[j])


@given(heads=FORESTS)
def test_ancestors_are_those_above(heads) -> None:
    found = tree.ancestors(heads)
    for word in range(len(heads)):
        assert set(np.flatnonzero(found[word])) == {word, *ancestors(heads, word)}


@given(heads=FORESTS)
def test_hulls_reach_from_end_to_end_of_subtrees(heads) -> None:
    found = tree.hulls(heads)
    for top in range(len(heads)):
        subtree = [w for w in range(len(heads)) if w == top or top in ancestors(heads, w)]
        assert np.flatnonzero(found[:, top]).tolist() == [*range(min(subtree), max(subtree) + 1)]


@given(heads=FORESTS)
@example(heads=CROSSING)
@example(heads=[2, 0, 0])
@example(heads=[3, 0, 0])  # an arc above a root
def test_hulls_are_ancestors_in_projective_trees_alone(heads) -> None:
    exact, hull = tree.ancestors(heads), tree.hulls(heads)
    assert (exact <= hull).all()
    assert np.array_equal(exact, hull) == tree.is_projective(heads)
    between = [
        (word, head - 1)
        for i, head in enumerate(heads)
        if head
        for word in range(min(i, head - 1) + 1, max(i, head - 1))
    ]
    assert tree.is_projective(heads) == all(head in ancestors(heads, w) for w, head in between)


@given(heads=projective_forests())
def test_trees_without_crossings_are_projective(heads) -> None:
    assert tree.is_projective(heads)


def test_crossing_arcs_are_not_projective() -> None:
    assert not tree.is_projective(CROSSING)
    assert tree.hulls(CROSSING).sum() > tree.ancestors(CROSSING).sum()


@given(heads=FORESTS)
def test_relations_are_those_of_the_heads(heads) -> None:
    found = {kind: tree.relation(heads, kind) for kind in tree.RELATIONS}
    for i, j in pairs(heads):
        assert found["parent"][i, j] == (i == j or heads[i] == j + 1)
        assert found["child"][i, j] == (i == j or heads[j] == i + 1)
        assert found["sibling"][i, j] == (i == j or heads[i] == heads[j] != 0)


@given(words=st.integers(0, 9), width=st.integers(0, 12))
def test_window_is_as_wide_as_said(words, width) -> None:
    found = tree.window_allowed(words, width)
    assert found.shape == (words, words)
    for i, j in pairs([0] * words):
        assert found[i, j] == (abs(i - j) <= width)


def test_values_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="tree threshold is -1; it must be at least 0"):
        tree.tree_allowed([0], -1)
    with pytest.raises(ValueError, match="'both'; choices: asymmetric, symmetric, none"):
        tree.tree_allowed([0], 1, "both")
    with pytest.raises(ValueError, match="window is -2; it must be at least 0"):
        tree.window_allowed(3, -2)
    with pytest.raises(ValueError, match="'aunt'; choices: parent, child, sibling"):
        tree.relation([0], "aunt")
