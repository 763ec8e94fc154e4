"""Questions that one system answers and another does not."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from squad_files import paragraph, question, write_squad

from fairseq_plugins.evaluation.contrast import ContrastOptions, agreement, differing
from fairseq_plugins.evaluation.contrast_kinds import answer_items
from fairseq_plugins.evaluation.contrast_report import format_items
from fairseq_plugins.evaluation.squad import exact_match
from fairseq_plugins.prep.qa_examples import Asked, read_asked

GOLD = {"a": ("the Mill", "old mill"), "b": (), "c": ("1912",), "d": ("Lund",)}
ONE = {"a": "mill", "b": "a boat", "c": "1912", "d": ""}
TWO = {"a": "the old tower", "b": "", "c": "in 1912", "d": "Lund"}
THREE = {"a": "", "b": "", "c": "1912", "d": "in Lund"}


@dataclass(frozen=True)
class Plain:
    """A question of which only the gold answers are known."""

    golds: tuple[str, ...]
    text: str = "?"
    context: str = ""
    spans: tuple = ()


def items_of(gold, systems):
    questions = {name: Plain(golds) for name, golds in gold.items()}
    return answer_items(questions, systems)


def compare(gold, systems, **criteria):
    return differing(items_of(gold, systems), ContrastOptions(**criteria))


def ids(*systems, **criteria):
    return [one.id for one in compare(GOLD, [*enumerate(systems)], **criteria)]


def test_the_better_system_is_right_and_another_is_wrong():
    assert ids(ONE, TWO) == ["b", "d"]
    assert ids(ONE, TWO, better="first") == ["a", "c"]
    assert sorted(ids(ONE, TWO, better="any")) == list("abcd")
    assert ids(TWO, ONE, better="second") == ids(ONE, TWO, better="first")


def test_what_most_get_wrong_comes_first_then_the_widest_gap():
    found = compare(GOLD, [("1", ONE), ("2", TWO), ("3", THREE)], better="any")
    wrong = [example.right.count(False) for example in found]
    assert wrong == sorted(wrong, reverse=True)
    assert [example.id for example in found] == ["a", "d", "b", "c"]
    gaps = {example.id: example.gap for example in found}
    assert gaps["a"] == pytest.approx(100 * (1 - (0.5 + 0) / 2))  # "old tower" shares one word
    assert gaps["b"] == pytest.approx(50)
    assert ids(ONE, TWO, THREE, better="any", min_gap=60) == ["a", "d"]


def test_no_answer_is_right_where_there_is_none():
    (example, *_) = compare({"b": ()}, [("1", ONE), ("2", TWO)])
    assert example.right == [False, True]
    assert dict(example.view().lines) == {"gold": [("no answer", "same")]}


def test_agreement_counts_every_question_once():
    found = agreement(items_of(GOLD, [("1", ONE), ("3", THREE)]), "question")
    assert found == "4 questions: 1 all right, 1 all wrong, systems differ on the rest"


@pytest.mark.parametrize(
    ("systems", "criteria", "said"),
    [
        ([("1", ONE), ("2", {"a": ""})], {}, "2: 3 of 4 questions have no prediction, 'b' among"),
        ([("1", ONE), ("2", TWO)], {"better": "third"}, "--better 'third': choices are"),
        ([("1", ONE), ("2", TWO)], {"min_gap": -1}, "--min-gap -1: must be at least 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(systems, criteria, said):
    with pytest.raises(ValueError, match=said):
        compare(GOLD, systems, **criteria)


ANSWERS = st.lists(st.sampled_from(["", "the mill", "mill", "old mill", "Lund"]), min_size=4)


@given(ANSWERS, ANSWERS, st.sampled_from(["first", "second", "last", "any"]))
def test_both_orders_find_the_same(one, two, better):
    gold = {str(n): ("mill",) if n % 2 else () for n in range(min(len(one), len(two)))}
    first, second = ({name: said[int(name)] for name in gold} for said in (one, two))
    turned = {"first": "second", "second": "first", "last": "first", "any": "any"}[better]
    found = compare(gold, [("1", first), ("2", second)], better=better)
    other = compare(gold, [("2", second), ("1", first)], better=turned)
    assert [(e.id, e.gap) for e in found] == [(e.id, e.gap) for e in other]
    right = {name: exact_match((gold[name] or ("",))[0], first[name]) for name in gold}
    for example in found:
        assert example.right[0] == right[example.id]
        assert set(example.right) == {False, True}


CONTEXT = "Mara built the old mill in 1912.\nShe sold it | to Otto."
LONG = "Nadia found a boat. " * 40


@pytest.fixture
def asked(tmp_path):
    body = paragraph(
        CONTEXT, question("a", "When did Mara\tbuild it?", "1912"), question("b", "Who *found* it?")
    )
    more = paragraph(LONG + CONTEXT, question("c", "Who sold it?", "She"), question("d", "Why?"))
    return read_asked(write_squad(tmp_path / "dev.json", [body, more]))


SYSTEMS = (
    {"a": "in 1912", "b": "Otto", "c": "", "d": "Otto"},
    {"a": "1912", "b": "", "c": "She", "d": ""},
)


def shown(asked, style, systems=SYSTEMS):
    names = ["BERT", "Ours"]
    found = differing(answer_items(asked, [*enumerate(systems)]))
    found.sort(key=lambda one: one.id)
    return format_items(found, names=names, noun="question", is_judged=True, style=style)


def test_text_marks_the_gold_answer_and_shows_what_was_said(asked):
    first, second, third, fourth = shown(asked, "text").rstrip().split("\n\n")
    assert first.splitlines() == [
        "question a: When did Mara build it?",
        "  context  Mara built the old mill in >>1912<<. She sold it | to Otto.",
        "  gold     1912",
        "  BERT     wrong  in 1912  (F1 66.7)",
        "  Ours     right  1912  (F1 100.0)",
    ]
    assert second.splitlines()[1:] == [
        "  context  Mara built the old mill in 1912. She sold it | to Otto.",
        "  gold     no answer",
        "  BERT     wrong  Otto  (F1 0.0)",
        "  Ours     right  no answer  (F1 100.0)",
    ]
    assert third.splitlines()[1] == "  context  … >>She<< sold it | to Otto."
    assert "She sold it | to Otto." in fourth  # a wrong answer says where to look
    assert fourth.count("boat") < 5


def test_nothing_reaches_a_terminal_or_breaks_a_page(tmp_path):
    evil = "q\x1b[31m\u202eX\n\ud800"
    asked = {evil: Asked(evil, (), evil)}
    systems = ({evil: evil}, {evil: ""})
    for style in ("text", "html"):
        text = shown(asked, style, systems)
        assert not {"\x1b", "\u202e", "\ud800"} & set(text)
