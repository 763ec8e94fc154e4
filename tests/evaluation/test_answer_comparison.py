"""Questions that one system answers and another does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.evaluation.answer_comparison import answer_agreement, compare_answers
from fairseq_plugins.evaluation.squad import exact_match

GOLD = {"a": ("the Mill", "old mill"), "b": (), "c": ("1912",), "d": ("Lund",)}
ONE = {"a": "mill", "b": "a boat", "c": "1912", "d": ""}
TWO = {"a": "the old tower", "b": "", "c": "in 1912", "d": "Lund"}
THREE = {"a": "", "b": "", "c": "1912", "d": "in Lund"}


def ids(*systems, **criteria):
    return [one.id for one in compare_answers(GOLD, [*enumerate(systems)], **criteria)]


def test_the_better_system_is_right_and_another_is_wrong():
    assert ids(ONE, TWO) == ["b", "d"]
    assert ids(ONE, TWO, better="first") == ["a", "c"]
    assert sorted(ids(ONE, TWO, better="any")) == list("abcd")
    assert ids(TWO, ONE, better="second") == ids(ONE, TWO, better="first")


def test_what_most_get_wrong_comes_first_then_the_widest_gap():
    found = compare_answers(GOLD, [("1", ONE), ("2", TWO), ("3", THREE)], better="any")
    wrong = [sum(not said.exact for said in example.said) for example in found]
    assert wrong == sorted(wrong, reverse=True)
    assert [example.id for example in found] == ["a", "d", "b", "c"]
    gaps = {example.id: example.gap for example in found}
    assert gaps["a"] == pytest.approx(100 * (1 - (0.5 + 0) / 2))  # "old tower" shares one word
    assert gaps["b"] == pytest.approx(50)
    assert ids(ONE, TWO, THREE, better="any", min_gap=60) == ["a", "d"]


def test_no_answer_is_right_where_there_is_none():
    (example, *_) = compare_answers({"b": ()}, [("1", ONE), ("2", TWO)])
    assert [said.exact for said in example.said] == [0, 1]
    assert not example.golds


def test_agreement_counts_every_question_once():
    found = answer_agreement(GOLD, [("1", ONE), ("3", THREE)])
    assert found == "4 questions: 1 all right, 1 all wrong, systems differ on the rest"


@pytest.mark.parametrize(
    ("systems", "criteria", "said"),
    [
        ([("1", ONE)], {}, "two systems"),
        ([("1", ONE), ("2", {"a": ""})], {}, "2: 3 of 4 questions have no prediction, 'b' among"),
        ([("1", ONE), ("2", TWO)], {"better": "third"}, "better: unknown value 'third'"),
        ([("1", ONE), ("2", TWO)], {"min_gap": -1}, "min_gap"),
    ],
)
def test_what_cannot_be_compared_is_refused(systems, criteria, said):
    with pytest.raises(ValueError, match=said):
        compare_answers(GOLD, systems, **criteria)


ANSWERS = st.lists(st.sampled_from(["", "the mill", "mill", "old mill", "Lund"]), min_size=4)


@given(ANSWERS, ANSWERS, st.sampled_from(["first", "second", "last", "any"]))
def test_both_orders_find_the_same(one, two, better):
    gold = {str(n): ("mill",) if n % 2 else () for n in range(min(len(one), len(two)))}
    first, second = ({name: said[int(name)] for name in gold} for said in (one, two))
    turned = {"first": "second", "second": "first", "last": "first", "any": "any"}[better]
    found = compare_answers(gold, [("1", first), ("2", second)], better=better)
    other = compare_answers(gold, [("2", second), ("1", first)], better=turned)
    assert [(e.id, e.gap) for e in found] == [(e.id, e.gap) for e in other]
    right = {name: exact_match((gold[name] or ("",))[0], first[name]) for name in gold}
    for example in found:
        assert example.said[0].exact == right[example.id]
        assert {said.exact for said in example.said} == {0, 1}
