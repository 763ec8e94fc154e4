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

from fairseq_plugins.data.factor_streams import controlled_columns
from fairseq_plugins.data.text_columns import SentenceColumns
from fairseq_plugins.syntax.controls import FEATURE_SOURCES, GIVEN, SHUFFLED, UNCONTROLLED, Controls
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
from fairseq_plugins.syntax.tree import check_heads, heads_of, tree_columns

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
    made = ControlledTrees(source, rows, rows.lengths, seed, "train")
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
        lengths = np.full(40, 9)
        made = ControlledTrees("random", [], lengths, seed, key)
        return {i: made[i].tolist() for i in order}

    assert trees() == trees(order=reversed(range(40)))
    for other in (trees(seed=2), trees(key="valid")):
        assert sum(other[i] == tree for i, tree in trees().items()) < 5
    assert trees()[0] != trees()[1]


def test_a_chain_hangs_each_word_on_its_left_neighbour():
    assert chain(4).tolist() == [0, 0, 1, 2]
    assert chain(0).tolist() == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(2, 6), max_size=4), max_size=6), st.sampled_from(VALUES), SEEDS
)
def test_values_keep_their_distribution_and_special_tokens(lines, source, seed):
    """Each word is of one to three subwords, each line ends in a special token."""
    values, words, count = [], [], 0
    for line in lines:
        for value in line:
            values += [value] * (1 + value % 3)
            words += [count] * (1 + value % 3)
            count += 1
        values.append(SPECIAL_ID)
        words.append(-1)
    values, words = np.array(values, dtype=np.uint8), np.array(words, dtype=np.int64)
    found = other_values(values, words, source, dice(seed))
    assert found.dtype == values.dtype
    assert (found[words < 0] == SPECIAL_ID).all()
    each = [set(found[words == word].tolist()) for word in range(count)]
    assert all(len(one) == 1 for one in each)
    drawn = Counter(value for one in each for value in one)
    own = Counter(value for line in lines for value in line)
    if source == SHUFFLED:
        assert drawn == own
    elif source == "random":
        assert set(drawn) <= set(own)
    else:
        assert set(drawn) <= {2}


def test_random_values_have_the_frequencies_of_the_split():
    values = np.repeat([2, 3, 4], [6000, 3000, 1000])
    found = other_values(values, np.arange(10_000), "random", dice(1))
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
    assert {name: rows.values.tolist() for name, rows in found.items()} == {
        "pos": [2, 2],
        "subword": [2, 2, 2],
        "heads": [0, 0],
    }


@st.composite
def lines(draw):
    """Lines of parallel text: how many subwords each word has, heads, and a value a word."""
    found = []
    for heads in draw(SPLITS):
        size = {"min_size": len(heads), "max_size": len(heads)}
        pieces = draw(st.lists(st.integers(1, 3), **size))
        found.append((heads, pieces, draw(st.lists(st.integers(2, 8), **size))))
    return found


def columns_of(given_lines, *, parsed: bool) -> dict[str, Rows]:
    table = {"pos": [], "subword": [], "words": [], "heads": []}
    for heads, pieces, values in given_lines:
        word_of = [i for i, count in enumerate(pieces) for _ in range(count)]
        numbered, above = tree_columns(heads, word_of)
        table["words"].append([*numbered, 0])
        table["heads"].append([*above, 0])
        table["pos"].append([*(values[i] for i in word_of), SPECIAL_ID])
        places = [2 + "BMEO".index(p) for p in layers_of(["subword"])[0].label(word_of)]
        table["subword"].append([*places, SPECIAL_ID])
    kept = table if parsed else {name: table[name] for name in ("pos", "subword")}
    return {name: Rows.of(rows) for name, rows in kept.items()}


@settings(max_examples=40, deadline=None)
@given(lines(), st.sampled_from(MADE), st.sampled_from(VALUES), st.booleans())
def test_parallel_text_has_the_same_controls(given_lines, source, values, parsed):
    names = ["pos", "subword", *(["heads"] if parsed else [])]
    columns = columns_of(given_lines, parsed=parsed)
    found = controlled_columns(columns, layers_of(names), Controls(source, values, seed=1), "train")
    assert {*found} == {*columns}
    rows = split_of([heads for heads, *_ in given_lines])
    own = Rows.of([value for *_, values in given_lines for value in [values]])
    made = ControlledTrees(source, rows, rows.lengths, 1, "train")
    every = np.arange(len(own.values))
    wanted = other_values(own.values, every, values, dice(1, "train", "pos")).tolist()
    for i, (heads, pieces, _) in enumerate(given_lines):
        word_of = [j for j, count in enumerate(pieces) for _ in range(count)]
        drawn, wanted = wanted[: len(heads)], wanted[len(heads) :]
        assert found["pos"][i].tolist() == [*(drawn[j] for j in word_of), SPECIAL_ID]
        if parsed:
            above = found["heads"][i].tolist()
            assert heads_of(columns["words"][i].tolist(), above) == numbers(made[i])
            assert above[-1] == 0
    if values == SHUFFLED:
        before, after = columns["subword"].values, np.concatenate([*found["subword"]])
        assert Counter(before.tolist()) == Counter(after.tolist())


def test_a_folder_without_words_takes_subwords_for_words():
    columns = {"pos": Rows.of([[5, 5, 1], [7, 1]])}
    found = controlled_columns(columns, layers_of(["pos"]), Controls(features=SHUFFLED, seed=3), "")
    assert sorted(np.concatenate([*found["pos"]]).tolist()) == [1, 1, 5, 5, 7]
    assert Controls(features=GIVEN).said == ""
