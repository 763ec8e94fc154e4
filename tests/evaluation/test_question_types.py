"""Errors by question word."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.evaluation import question_types
from fairseq_plugins.evaluation.question_types import (
    ALL,
    OTHER,
    QUESTION_WORDS,
    count_errors,
    question_type,
)

QUESTIONS = {
    "a": "What did Mara build?",
    "b": "In which town did who build it?",
    "c": "Is it red?",
    "d": "When was it built?",
    "e": "what's new",
}
GOLD = {"a": ["The mill", "a tower"], "b": ["Lund"], "c": [], "d": ["1912"], "e": []}
RIGHT = {"a": "mill!", "b": "lund", "c": "", "d": "1912", "e": ""}
SILENT = dict.fromkeys(QUESTIONS, "")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is it?", "what"),
        ("HOW many?", "how"),
        ("In which year did who win?", "which"),
        ("Who said where it is?", "who"),
        ("what's new?", "what"),
        ("Whom did they see?", OTHER),
        ("Whatever happened?", OTHER),
        ("Somewhere?", OTHER),
        ("Is it?", OTHER),
        ("", OTHER),
        ("Why", "why"),
    ],
)
def test_the_first_of_the_seven_words_decides(question, kind):
    assert question_type(question) == kind


@given(st.text(max_size=60))
def test_every_question_has_one_type(question):
    assert question_type(question) in (*QUESTION_WORDS, OTHER)
    assert question_type(f"why {question}") == "why"


def test_errors_are_counted_by_exact_match():
    found = count_errors(QUESTIONS, GOLD, {"right": RIGHT, "silent": SILENT}, samples=20)
    counts = {(one.kind, one.system): (one.wrong, one.questions) for one in found}
    assert {
        kind: n for kind, system, n in ((*k, v) for k, v in counts.items()) if system == "right"
    } == {
        "what": (0, 2),
        "when": (0, 1),
        "which": (0, 1),
        OTHER: (0, 1),
        ALL: (0, 5),
    }
    assert counts["what", "silent"] == (1, 2)  # the second has no answer
    assert counts[OTHER, "silent"] == (0, 1)
    assert counts[ALL, "silent"] == (3, 5)
    assert next(one for one in found if one.kind == ALL).p_value is None
    assert all(one.p_value is None for one in count_errors(QUESTIONS, GOLD, {"r": RIGHT}))


@given(st.lists(st.sampled_from(["", "x", "y"]), min_size=12, max_size=12))
def test_types_add_up_to_all(answers):
    texts = [f"{word} is it?" for word in (*QUESTION_WORDS, "can", "who", "who", "how", "is")]
    questions = {str(i): text for i, text in enumerate(texts)}
    gold = {name: ["x"] if int(name) % 3 else [] for name in questions}
    found = count_errors(questions, gold, {"a": dict(zip(questions, answers))})
    *parts, whole = found
    assert whole.kind == ALL
    assert sum(one.wrong for one in parts) == whole.wrong
    assert sum(one.questions for one in parts) == whole.questions == 12
    assert 0 <= whole.percent <= 100


def test_a_clear_difference_is_marked_and_none_is_not():
    questions = {str(i): "Who?" for i in range(60)}
    gold = {name: ["x"] for name in questions}
    right = dict.fromkeys(questions, "x")
    wrong = {name: "y" if int(name) % 2 else "x" for name in questions}
    found = count_errors(questions, gold, {"a": right, "b": wrong, "c": right}, samples=200)
    by_system = {one.system: one.p_value for one in found if one.kind == "who"}
    assert by_system["a"] is None
    assert by_system["b"] < 0.05
    assert by_system["c"] == 1.0
    text = question_types.format_text(found)
    assert text.count("30 (50.0 %) *") == 2
    assert "than a's" in text
    untested = count_errors(questions, gold, {"a": right, "b": wrong}, samples=0)
    assert "*" not in question_types.format_text(untested)


def test_a_type_of_one_question_has_no_p_value():
    found = count_errors({"1": "Who?"}, {"1": ["x"]}, {"a": {"1": "x"}, "b|<i>": {"1": "y"}})
    assert all(one["p_value"] is None for one in json.loads(question_types.format_json(found)))
    rows = list(csv.DictReader(io.StringIO(question_types.format_csv(found))))
    assert {row["p"] for row in rows} == {""}
    assert r"| b\|\<i> |" in question_types.format_markdown(found)


def test_formats_tell_the_same():
    found = count_errors(QUESTIONS, GOLD, {"one|two": RIGHT, "silent": SILENT}, samples=5)
    rows = json.loads(question_types.format_json(found))
    lines = list(csv.DictReader(io.StringIO(question_types.format_csv(found))))
    assert [(r["kind"], r["wrong"]) for r in rows] == [(r["type"], int(r["wrong"])) for r in lines]
    markdown = question_types.format_markdown(found)
    assert r"| type | questions | one\|two | silent |" in markdown
    assert "| all | 5 | 0 (0.0 %) | 3 (60.0 %)" in markdown
    assert lines[0]["p"] == ""


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="mine: 1 of 5 questions are missing, 'd' among them"):
        count_errors(QUESTIONS, GOLD, {"mine": {k: v for k, v in RIGHT.items() if k != "d"}})
    with pytest.raises(ValueError, match="gold answers: 5 of 5"):
        count_errors(QUESTIONS, {}, {"mine": RIGHT})
    with pytest.raises(ValueError, match="needs questions"):
        count_errors({}, GOLD, {"mine": RIGHT})
