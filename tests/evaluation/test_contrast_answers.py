"""Questions that one system answers and another does not, and errors by question word."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from squad_files import paragraph, question, write_squad

from fairseq_plugins.evaluation.contrast import (
    Contrast,
    ContrastOptions,
    agreement,
    differing,
    format_items,
)
from fairseq_plugins.evaluation.contrast_answers import (
    ALL,
    OTHER,
    QUESTION_WORDS,
    answer_items,
    errors_by_type,
    question_type,
)
from fairseq_plugins.prep.qa_examples import Asked, read_asked
from fairseq_plugins.targets.squad import exact_match

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
    return answer_items({name: Plain(golds) for name, golds in gold.items()}, systems)


def compare(gold, systems, **criteria):
    return differing(items_of(gold, systems), ContrastOptions(**criteria))


def ids(*systems, **criteria):
    return [one.id for one in compare(GOLD, systems, **criteria)]


def test_the_better_system_is_right_and_another_is_wrong():
    assert ids(ONE, TWO) == ["b", "d"]
    assert ids(ONE, TWO, better="first") == ["a", "c"]
    assert sorted(ids(ONE, TWO, better="any")) == list("abcd")
    assert ids(TWO, ONE, better="last") == ids(ONE, TWO, better="first")


def test_what_most_get_wrong_comes_first_then_the_widest_gap():
    found = compare(GOLD, [ONE, TWO, THREE], better="any")
    wrong = [example.right.count(False) for example in found]
    assert wrong == sorted(wrong, reverse=True)
    assert [example.id for example in found] == ["a", "d", "b", "c"]
    gaps = {example.id: example.gap for example in found}
    assert gaps["a"] == pytest.approx(100 * (1 - (0.5 + 0) / 2))  # "old tower" shares one word
    assert gaps["b"] == pytest.approx(50)
    assert ids(ONE, TWO, THREE, better="any", min_gap=60) == ["a", "d"]


def test_no_answer_is_right_where_there_is_none():
    (example, *_) = compare({"b": ()}, [ONE, TWO])
    assert example.right == [False, True]
    assert dict(example.view().lines) == {"gold": [("no answer", "same")]}


def test_agreement_counts_every_question_once():
    found = agreement(items_of(GOLD, [ONE, THREE]), "question")
    assert found == "4 questions: 1 all right, 1 all wrong, systems differ on the rest"


ANSWERS = st.lists(st.sampled_from(["", "the mill", "mill", "old mill", "Lund"]), min_size=4)


@given(ANSWERS, ANSWERS, st.sampled_from(["first", "last", "any"]))
def test_both_orders_find_the_same(one, two, better):
    gold = {str(n): ("mill",) if n % 2 else () for n in range(min(len(one), len(two)))}
    first, second = ({name: said[int(name)] for name in gold} for said in (one, two))
    turned = {"first": "last", "last": "first", "any": "any"}[better]
    found = compare(gold, [first, second], better=better)
    other = compare(gold, [second, first], better=turned)
    assert [(e.id, e.gap) for e in found] == [(e.id, e.gap) for e in other]
    right = {name: exact_match((gold[name] or ("",))[0], first[name]) for name in gold}
    for example in found:
        assert example.right[0] == right[example.id]
        assert set(example.right) == {False, True}


CONTEXT = "Mara built the old mill in 1912.\nShe sold it | to Otto."
LONG = "Nadia found a boat. " * 40


@pytest.fixture
def squad(tmp_path):
    body = paragraph(
        CONTEXT, question("a", "When did Mara\tbuild it?", "1912"), question("b", "Who *found* it?")
    )
    more = paragraph(LONG + CONTEXT, question("c", "Who sold it?", "She"), question("d", "Why?"))
    return write_squad(tmp_path / "dev.json", [body, more])


SYSTEMS = (
    {"a": "in 1912", "b": "Otto", "c": "", "d": "Otto"},
    {"a": "1912", "b": "", "c": "She", "d": ""},
)


def shown(asked, style, systems=SYSTEMS):
    found = sorted(differing(answer_items(asked, systems)), key=lambda one: one.id)
    return format_items(found, Contrast("question", found, is_judged=True), ["BERT", "Ours"], style)


def test_text_marks_the_gold_answer_and_shows_what_was_said(squad):
    first, second, third, fourth = shown(read_asked(squad), "text").rstrip().split("\n\n")
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


@pytest.fixture
def files(tmp_path):
    for name, answers in zip(("plain", "ours"), SYSTEMS):
        (tmp_path / f"{name}.json").write_text(json.dumps(answers))
    return [tmp_path / "plain.json", tmp_path / "ours.json"]


def test_the_command_counts_errors_by_question_word(run_here, squad, files, tmp_path):
    page = tmp_path / "page.html"
    given = [files[0], f"BERTQA={files[1]}", "--gold", squad]
    told = run_here("compare", *given, "--html", page).out
    table = [line.split() for line in told.partition("differ on the rest\n\n")[2].splitlines()]
    assert table[0] == ["type", "questions", "plain", "BERTQA"]
    counted = [*table[1:5]]
    assert [row[:3] for row in counted] == [
        ["who", "2", "2"],
        ["when", "1", "1"],
        ["why", "1", "1"],
        ["all", "4", "4"],
    ]
    assert "<td>BERTQA</td>" in page.read_text()


def test_what_cannot_be_compared_is_one_line(run_here, squad, files, tmp_path):
    for words, said in (
        ([files[0]], "needs the predictions of two systems"),
        ([files[0], tmp_path / "no.json"], "no.json: no such file"),
        ([*files, "--min-gap", -1], "--min-gap -1.0: must be at least 0"),
        ([*files, "--split", "valid"], "--split is for models, and"),
        ([f"A={one}" for one in files], "two systems are called 'A'"),
        ([f"ours={files[0]}", files[1]], "two systems are called 'ours'"),
    ):
        done = run_here("compare", *words, "--gold", squad, fails=True)
        assert done.err.count("\n") == 1
        assert said in done.err
    files[1].write_text('{"a": ""}')
    said = run_here("compare", *files, "--gold", squad, fails=True).err
    assert "ours.json: 3 of 4 questions have no prediction, 'b' among them" in said
    write_squad(squad, [paragraph("Mara.", question("a", "Who?", gold=False))])
    said = run_here("compare", *files, "--gold", squad, fails=True).err
    assert "'a' has no gold answers" in said


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What is it?", "what"),
        ("HOW many?", "how"),
        ("In which year did who win?", "which"),
        ("Who said where it is?", "who"),
        ("what's new?", "what"),
        ("Whom did they see?", OTHER),
        ("Whatever happened? Somewhere?", OTHER),
        ("", OTHER),
        ("Why", "why"),
    ],
)
def test_the_first_of_the_seven_words_decides(text, kind):
    assert question_type(text) == kind


@settings(max_examples=10)
@given(st.lists(st.sampled_from(["", "x", "y"]), min_size=12, max_size=12))
def test_types_add_up_to_all(answers):
    texts = [f"{word} is it?" for word in (*QUESTION_WORDS, "can", "who", "who", "how", "is")]
    gold = [("x",) if n % 3 else () for n in range(12)]
    asked = {str(n): Plain(*both) for n, both in enumerate(zip(gold, texts))}
    _, *rows = errors_by_type(asked, ["a"], [dict(zip(asked, answers))])
    kinds, questions, cells = zip(*rows)
    *wrong, whole = (int(cell.split()[0]) for cell in cells)
    assert kinds[-1] == ALL
    assert sum(wrong) == whole
    assert whole == sum(answer != "".join(one) for answer, one in zip(answers, gold))
    assert sum(map(int, questions[:-1])) == int(questions[-1]) == 12


def test_a_clear_difference_is_marked_and_none_is_not():
    asked = {str(i): Plain(("x",), "Who?") for i in range(60)}
    right = dict.fromkeys(asked, "x")
    wrong = {name: "y" if int(name) % 2 else "x" for name in asked}
    found = errors_by_type(asked, "abc", [right, wrong, right], samples=200)
    assert found[1] == ["who", "60", "0 (0.0 %)", "30 (50.0 %) *", "0 (0.0 %)"]
    single = errors_by_type({"1": Plain(("x",))}, "ab", [{"1": "x"}, {"1": "y"}])
    assert single[-1][-1] == "1 (100.0 %)"  # of one question nothing can be said
