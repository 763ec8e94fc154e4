"""Entities, error tokens and erroneous sentences: against conlleval's rules written out."""

from __future__ import annotations

import random
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.entity_labels import entity_types
from fairseq_plugins.targets.entity_spans import types_of
from fairseq_plugins.targets.labeling import (
    counted,
    detection_counts,
    detection_scores,
    entities,
    entity_counts,
    precision_recall_f,
    token_counts,
    word_groups,
)


def totals(count, *rows, **how):
    """Return the counts of all sentences together."""
    return tuple(counted(partial(count, **how), *rows).sum(0).tolist())


IOB = ("O", "B-A", "I-A", "B-B", "I-B")
IOBES = (*IOB, "E-A", "S-A", "E-B", "S-B")

# conlleval's two tables, of (mark before, mark here); S stands alone
ENDS = {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"), ("B", "S"), ("I", "S")}
ENDS |= {("E", mark) for mark in "BIOES"} | {("S", mark) for mark in "BIOES"}
STARTS = {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I"), ("O", "E"), ("O", "S")}
STARTS |= {(mark, "S") for mark in "BI"} | {(b, mark) for b in "ES" for mark in "BIES"}


def conlleval_entities(row):
    """Read entities as conlleval does: one look at neighbouring marks and types at a time."""
    found, start = [], None
    marks = [("O", ""), *((label[0], label[2:]) for label in row), ("O", "")]
    for place, ((before, old), (here, new)) in enumerate(zip(marks, marks[1:])):
        if before != "O" and ((before, here) in ENDS or old != new):
            found.append((old, start, place - 1))
        if here != "O" and ((before, here) in STARTS or old != new):
            start = place
    return found


def two_columns(labels):
    row = st.integers(0, 9).flatmap(
        lambda n: st.tuples(
            *(st.lists(st.sampled_from(labels), min_size=n, max_size=n) for _ in range(2))
        )
    )
    return st.lists(row, min_size=1, max_size=5).map(lambda rows: tuple(zip(*rows)))


@given(st.lists(st.sampled_from(IOBES), max_size=12))
def test_entities_are_those_of_conlleval(row):
    assert list(entities(row)) == conlleval_entities(row)


@given(two_columns(IOBES))
def test_entity_counts_are_those_of_conlleval(columns):
    gold, predicted = ([set(conlleval_entities(row)) for row in rows] for rows in columns)
    both = sum(len(g & p) for g, p in zip(gold, predicted))
    assert totals(entity_counts, *columns) == (both, sum(map(len, predicted)), sum(map(len, gold)))


@given(two_columns(IOB))
def test_entity_counts_are_the_strict_ones_of_nervaluate_on_iob(columns):
    nervaluate = pytest.importorskip("nervaluate")
    gold, predicted = ([list(row) for row in rows] for rows in columns)
    found = nervaluate.Evaluator(gold, predicted, tags=["A", "B"], loader="list").evaluate()
    strict = [item["strict"] for item in found["entities"].values()]
    each = [(one.correct, one.actual, one.possible) for one in strict]
    assert totals(entity_counts, *columns) == tuple(map(sum, zip((0, 0, 0), *each)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I-PER I-PER O I-LOC", [("PER", 0, 1), ("LOC", 3, 3)]),  # IOB1
        ("I-PER B-PER O", [("PER", 0, 0), ("PER", 1, 1)]),
        ("B-PER I-LOC I-LOC", [("PER", 0, 0), ("LOC", 1, 2)]),
        ("B-a-b I-a-b", [("a-b", 0, 1)]),
        ("S-PER B-PER E-PER", [("PER", 0, 0), ("PER", 1, 2)]),
        ("B-LOC M-LOC E-LOC S-LOC", [("LOC", 0, 2), ("LOC", 3, 3)]),  # BMES
        ("B-LOC L-LOC U-LOC U-LOC", [("LOC", 0, 1), ("LOC", 2, 2), ("LOC", 3, 3)]),  # BILOU
        ("O O", []),
        ("", []),
    ],
)
def test_entities_take_all_common_schemes(text, found):
    assert list(entities(text.split())) == found


def test_entity_with_one_wrong_edge_or_type_is_wrong():
    gold = ["B-A I-A O B-B".split()]
    assert totals(entity_counts, gold, gold) == (2, 2, 2)
    assert totals(entity_counts, gold, ["B-A O O B-A".split()]) == (0, 2, 2)


@given(two_columns(("c", "i")))
def test_token_scores_equal_scikit_learn(columns):
    gold, predicted = ([label for row in rows for label in row] for rows in columns)
    counts = totals(token_counts, *columns, positive="i")
    if not gold:
        assert counts == (0, 0, 0)
        return
    expected = precision_recall_fscore_support(
        gold, predicted, beta=0.5, labels=["i"], zero_division=0.0
    )
    scores = precision_recall_f(*counts, beta=0.5)
    assert scores == pytest.approx([float(column[0]) for column in expected[:3]])
    assert {type(score) for score in scores} == {float}


@given(two_columns(("c", "i")))
def test_detection_looks_at_whole_sentences(columns):
    truth, guess = ([int("i" in row) for row in rows] for rows in columns)
    counts = totals(detection_counts, *columns, positive="i")
    assert sum(counts) == len(truth)
    precision, recall, f1, false_alarm = detection_scores(*counts)
    expected = precision_recall_fscore_support(truth, guess, labels=[1], zero_division=0.0)
    assert (precision, recall, f1) == pytest.approx([float(column[0]) for column in expected[:3]])
    clean = [g for t, g in zip(truth, guess) if not t]
    assert false_alarm == pytest.approx(sum(clean) / len(clean) if clean else 0.0)


def test_f_half_favours_precision_over_recall():
    precise, thorough = (5, 5, 10), (5, 10, 5)
    assert precision_recall_f(*precise)[2] == precision_recall_f(*thorough)[2]
    assert (
        precision_recall_f(*precise, beta=0.5)[2] > precision_recall_f(*thorough, beta=0.5)[2] > 0
    )
    assert precision_recall_f(0, 0, 0) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("count", [entity_counts, partial(token_counts, positive="x")])
def test_rows_of_unequal_length_are_refused(count):
    with pytest.raises(InputError, match="2 gold values against 1"):
        counted(count, [["O"], ["O"]], [["O"]])
    with pytest.raises(InputError, match="sentence 1 has 2 gold labels and 1"):
        counted(count, [["O"], ["O", "O"]], [["O"], ["O"]])


SCHEMES = ("BIO", "BIOES", "BILOU", "BMES", "IO")


def written(row, form):
    return [label if label == "O" else form.format(*label.split("-")) for label in row]


def test_marks_without_hyphen_or_type_name_the_same_entities():
    rng = random.Random(4)
    for _ in range(150):
        marks = rng.choice(SCHEMES)
        labels = ["O", *(f"{m}-{k}" for m in marks.replace("O", "") for k in ("PER", "人", "a-b"))]
        gold, said = ([rng.choice(labels) for _ in range(9)] for _ in range(2))
        counts = entity_counts(gold, said)
        assert entity_counts(written(gold, "{}_{}"), written(said, "{}_{}")) == counts
        for form in ("{}-PER", "{}_PER", "{}"):
            rows = [[one_type(label) for label in row] for row in (gold, said)]
            found = entity_counts(*(written(row, form) for row in rows))
            assert found == entity_counts(*(written(row, "{}-x") for row in rows))
            assert [*word_groups(written(labels, form), "")] == ["accuracy", "entity"]


def one_type(label):
    return label.replace("a-b", "PER")


@pytest.mark.parametrize(
    "labels",
    ["c i", "O A B AB", "NOUN B_x O", "O PER LOC", "IN BE DT", "S M E", "1 2", "b_x i_x O", "O"],
)
def test_labels_that_are_no_marks_name_no_entities(labels):
    assert [*word_groups(labels.split(), "")] == ["accuracy"]
    assert types_of(labels.split()) == (("x",) if "B_x" in labels else ())


def test_types_are_those_of_either_form():
    assert entity_types(["O", "B_PER", "I_PER", "B_a-b"]) == ("PER", "a-b")
    assert entity_types(["O", "B", "I"]) == ("",)
    assert entity_types(["O", "B-R", "I-R", "B-M"]) == ("R", "M")
    assert [*word_groups(["O", "B_R", "I_R", "B_M"], "")["entity"].metrics(1, 1, 1)][-1] == (
        "entity_f0.5"
    )
