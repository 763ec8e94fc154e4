"""Trees, values and questions in the place of those that were prepared: what holds of all."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_trees import FORESTS
from trees import own_heads

from fairseq_plugins.data.text_columns import SentenceColumns
from fairseq_plugins.syntax.controls import FEATURE_SOURCES, SHUFFLED, UNCONTROLLED, Controls
from fairseq_plugins.syntax.drawn import (
    MADE,
    ControlledTrees,
    chain,
    dice,
    donors,
    fitted,
    other_questions,
    other_values,
    random_tree,
)
from fairseq_plugins.syntax.labels import SPECIAL_ID
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.syntax.rows import Rows
from fairseq_plugins.syntax.tree import check_heads

LENGTHS = st.lists(st.integers(0, 6), max_size=12).map(np.array).map(lambda a: a.astype(np.int64))
SPLITS = st.lists(FORESTS, min_size=1, max_size=8)
SEEDS = st.integers(-3, 2**40)
VALUES = FEATURE_SOURCES[1:]


def numbers(tree: np.ndarray) -> list[int]:
    """Return parents from 0, roots their own, as heads from 1."""
    return [0 if head == i else int(head) + 1 for i, head in enumerate(tree)]


def split_of(forests) -> Rows:
    return Rows.of(own_heads(heads) for heads in forests)


def is_projective(tree: np.ndarray) -> bool:
    arcs = [(min(i, h), max(i, h)) for i, h in enumerate(tree.tolist()) if i != h]
    root = numbers(tree).index(0)
    crossing = any(a < c < b < d for (a, b), (c, d) in product(arcs, arcs))
    return not crossing and not any(a < root < b for a, b in arcs)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), SEEDS)
def test_a_random_tree_is_a_projective_tree_of_its_length(length, seed):
    tree = random_tree(length, dice(seed))
    assert len(tree) == length
    check_heads(numbers(tree), one_root=True)
    assert is_projective(tree)


@pytest.mark.parametrize(("length", "kinds"), [(2, 2), (3, 7), (4, 30)])
def test_random_trees_are_all_projective_ones_alike(length, kinds):
    draws = 200 * kinds
    found = Counter(tuple(random_tree(length, dice(1, i))) for i in range(draws))
    assert len(found) == kinds
    assert sum((n - 200) ** 2 / 200 for n in found.values()) < kinds + 5 * kinds**0.5  # chi-square


@settings(max_examples=60, deadline=None)
@given(LENGTHS, SEEDS)
def test_trees_go_round_among_sentences_of_one_length(lengths, seed):
    found = donors(lengths, dice(seed))
    counts = Counter(lengths.tolist())
    for i, donor in enumerate(found.tolist()):
        assert donor != i or len(lengths) == 1
        if counts[lengths[i]] > 1:
            assert lengths[donor] == lengths[i]
        elif len(lengths) > 1:
            longer = [n for n in counts if n > lengths[i]]
            nearest = min(longer) if longer else max(n for n in counts if n < lengths[i])
            assert lengths[donor] == nearest
    kept = [d for i, d in enumerate(found.tolist()) if counts[lengths[i]] > 1]
    assert sorted(kept) == [i for i, n in enumerate(lengths.tolist()) if counts[n] > 1]


@settings(max_examples=60, deadline=None)
@given(FORESTS, st.integers(0, 12))
def test_a_tree_is_fitted_to_any_length(heads, length):
    tree = np.array(own_heads(heads), dtype=np.int64)
    found = fitted(tree, length)
    assert len(found) == length
    check_heads(numbers(found))
    if length == len(tree):
        assert (found == tree).all()
    if length > len(tree):
        assert (found[: len(tree)] == tree).all()


@settings(max_examples=60, deadline=None)
@given(SPLITS, st.sampled_from(MADE), SEEDS)
def test_all_made_trees_are_trees_of_their_sentences(forests, source, seed):
    rows = split_of(forests)
    made = ControlledTrees(source, rows, seed, "train")
    for heads, tree in zip(forests, made, strict=True):
        assert len(tree) == len(heads)
        check_heads(numbers(tree))
    if source == SHUFFLED:
        counts = Counter(map(len, forests))
        shared = [tuple(own_heads(heads)) for heads in forests if counts[len(heads)] > 1]
        given_trees = [tuple(t.tolist()) for t in made if counts[len(t)] > 1]
        assert Counter(shared) == Counter(given_trees)


def test_what_is_drawn_belongs_to_seed_split_and_number_alone():
    def trees(seed=1, key="train", order=range(40)):
        made = ControlledTrees("random", Rows.of([[0] * 9] * 40), seed, key)
        return {i: made[i].tolist() for i in order}

    assert trees() == trees(order=reversed(range(40)))
    for other in (trees(seed=2), trees(key="valid")):
        assert sum(other[i] == tree for i, tree in trees().items()) < 5
    assert trees()[0] != trees()[1]


def test_a_chain_hangs_each_word_on_its_left_neighbour():
    assert chain(4).tolist() == [0, 0, 1, 2]
    assert chain(0).tolist() == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(SPECIAL_ID, 6), max_size=30), st.sampled_from(VALUES), SEEDS)
def test_values_keep_their_distribution_and_special_ones_their_places(values, source, seed):
    values = np.array(values, dtype=np.uint8)
    found = other_values(values, source, dice(seed))
    assert found.dtype == values.dtype
    assert ((found == SPECIAL_ID) == (values == SPECIAL_ID)).all()
    own, drawn = (Counter(x[x != SPECIAL_ID].tolist()) for x in (values, found))
    if source == SHUFFLED:
        assert drawn == own
    else:
        assert {*drawn} <= ({*own} if source == "random" else {2})


def test_random_values_have_the_frequencies_of_the_split():
    values = np.repeat([2, 3, 4], [6000, 3000, 1000])
    found = other_values(values, "random", dice(1))
    assert np.allclose(np.bincount(found)[2:] / 10_000, [0.6, 0.3, 0.1], atol=0.03)
    assert not (found == values).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 30), SEEDS)
def test_every_example_is_asked_anothers_question(count, seed):
    asked = other_questions(count, seed, "train")
    assert sorted(asked) == [*range(count)]
    assert (asked != np.arange(count)).all()


def test_without_controls_nothing_changes():
    layers = layers_of(["pos", "subword", "heads"])
    held = {"pos": Rows.of([[2, 3]]), "heads": Rows.of([[0, 0]])}
    words = Rows.of([[0, 0, 1]])
    columns = SentenceColumns(words, words, held)
    for controls in (UNCONTROLLED, Controls(trees="gold"), Controls(trees="full")):
        assert columns.controlled(layers, controls, "").layers == held
    found = columns.controlled(layers, Controls("chain", "constant"), "").layers
    assert {name: rows[0].tolist() for name, rows in found.items()} == {
        "pos": [2, 2],
        "subword": [2, 2, 2],
        "heads": [0, 0],
    }


@st.composite
def lines(draw):
    """Sentences: how many subwords each word has, heads, and a value a word."""
    found = []
    for heads in draw(SPLITS):
        size = {"min_size": len(heads), "max_size": len(heads)}
        pieces = draw(st.lists(st.integers(1, 3), **size))
        found.append((heads, pieces, draw(st.lists(st.integers(2, 8), **size))))
    return found


@settings(max_examples=40, deadline=None)
@given(lines(), st.sampled_from(MADE), st.sampled_from(VALUES))
def test_values_and_trees_are_exchanged_by_words(given_lines, source, values):
    trees = split_of([heads for heads, *_ in given_lines])
    own = Rows.of([row for *_, row in given_lines])
    words = [[i for i, count in enumerate(n) for _ in range(count)] for _, n, _ in given_lines]
    columns = SentenceColumns(Rows.of(words), Rows.of(words), {"pos": own, "heads": trees})
    controls, layers = Controls(source, values, seed=1), layers_of(["pos", "subword", "heads"])
    found = columns.controlled(layers, controls, "train").layers
    made = ControlledTrees(source, trees, 1, "train")
    assert [tree.tolist() for tree in found["heads"]] == [tree.tolist() for tree in made]
    wanted = other_values(own.values, values, dice(1, "train", "pos"))
    assert (found["pos"].values == wanted).all()
    if values == SHUFFLED:
        places = np.concatenate([columns.of_row(layers[1:2], i)[0] for i in range(len(words))])
        assert Counter(found["subword"].values.tolist()) == Counter(places.tolist())
