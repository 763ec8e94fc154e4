"""How questions about which systems differ are shown, and where they come from."""

from __future__ import annotations

import json
import shutil

import pytest
from squad_files import paragraph, question, write_squad

from fairseq_plugins.evaluation.answer_comparison import compare_answers
from fairseq_plugins.lab.figures.answer_examples import format_answer_examples
from fairseq_plugins.prep.qa_examples import Asked, read_asked

CONTEXT = "Mara built the old mill in 1912.\nShe sold it | to Otto."
TWICE = '{"id": "a", "texts": ["x"], "answers": []}\n' * 2
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
    gold = {name: one.golds for name, one in asked.items()}
    found = sorted(compare_answers(gold, [*enumerate(systems)]), key=lambda one: one.id)
    return format_answer_examples(found, asked, names=["BERT", "Ours"], style=style)


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


def test_markdown_is_one_row_a_question_and_hides_nothing(asked):
    head, rule, *rows = shown(asked, "markdown").splitlines()
    assert len(rows) == 4
    assert {row.replace(r"\|", "").count("|") for row in (head, rule, *rows)} == {6}
    assert "<b>1912</b>. She sold it \\| to Otto.<br>When did Mara build it?" in rows[0]
    assert "| <s>in 1912</s> | 1912 |" in rows[0]
    assert r"Who \*found\* it?" in rows[1]


def test_tsv_holds_everything(asked):
    head, *rows = (line.split("\t") for line in shown(asked, "tsv").splitlines())
    assert {len(row) for row in (head, *rows)} == {11}
    first = dict(zip(head, rows[0]))
    assert first["BERT answer"] == "in 1912"
    assert (first["BERT exact"], first["BERT F1"]) == ("0", "0.6667")
    assert first["context"] == CONTEXT.replace("\n", " ")
    assert dict(zip(head, rows[1]))["Ours answer"] == ""


def test_unknown_styles_are_refused(asked):
    with pytest.raises(ValueError, match="style: unknown value 'html'; choose from text, markdown"):
        shown(asked, "html")


def test_a_prepared_split_holds_the_questions_of_its_file(answer_runs, tmp_path):
    official = read_asked(answer_runs / "raw" / "dev-v2.0.json")
    examples = answer_runs / "data" / "valid.examples.jsonl"
    prepared = read_asked(examples, contexts=True)
    assert prepared == official
    assert all(one.context for one in prepared.values())
    shutil.copy(examples, tmp_path)
    alone = read_asked(tmp_path / "valid.examples.jsonl", contexts=True)
    assert read_asked(examples) == alone
    assert [(one.text, one.answers) for one in alone.values()] == [
        (one.text, one.answers) for one in official.values()
    ]
    assert not any(one.context for one in alone.values())


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "examples.jsonl:1: no question of a prepared folder"),
        ({"id": "a", "texts": ["x", "y"], "answers": []}, "examples.jsonl:1: no question"),
        ({"id": "a", "texts": ["x"], "answers": [5]}, "examples.jsonl:1: no question"),
        ({"id": ["a"], "texts": ["x"], "answers": []}, "examples.jsonl:1: no question"),
        ({"id": "a", "texts": [5], "answers": []}, "examples.jsonl:1: no question"),
        ({"id": "a", "texts": ["x"], "answers": [{"text": 5}]}, "examples.jsonl:1: no question"),
        (
            {"id": "a", "texts": ["x"], "answers": [{"text": "x", "answer_start": "z"}]},
            "examples.jsonl:1: no question",
        ),
        (TWICE, "examples.jsonl:2: question 'a' is there twice"),
        ("", "examples.jsonl holds no question"),
        ({"id": "a", "texts": ["x"]}, "question 'a' has no gold answers to compare with"),
    ],
)
def test_what_is_no_question_is_named(row, said, tmp_path):
    path = tmp_path / "valid.examples.jsonl"
    path.write_text(row if isinstance(row, str) else json.dumps(row))
    with pytest.raises(ValueError, match=said):
        read_asked(path)


def test_contexts_that_do_not_belong_are_named(answer_runs, tmp_path):
    for path in (answer_runs / "data").glob("valid.*"):
        shutil.copy(path, tmp_path)
    examples, contexts = (tmp_path / f"valid.{name}.jsonl" for name in ("examples", "contexts"))
    lines = examples.read_text().splitlines(keepends=True)
    examples.write_text("".join(lines[1:]))
    with pytest.raises(
        ValueError, match=rf"{len(lines) - 1} questions, valid.paragraph.\* {len(lines)}"
    ):
        read_asked(examples, contexts=True)
    for text in (contexts.read_text().splitlines()[0], '{"x": 1}', "junk"):
        contexts.write_text(f"{text}\n")
        with pytest.raises(ValueError, match="valid.contexts.jsonl, .* not as they were made"):
            read_asked(examples, contexts=True)
        assert len(read_asked(examples)) == len(lines) - 1


def test_nothing_reaches_a_terminal_or_breaks_a_table(tmp_path):
    evil = "q\x1b[31m\u202eX\n\ud800"
    asked = {evil: Asked(evil, (), evil)}
    systems = ({evil: evil}, {evil: ""})
    for style in ("text", "markdown"):
        text = shown(asked, style, systems)
        assert not {"\x1b", "\u202e", "\ud800"} & set(text)
    tsv = shown(asked, "tsv", systems)
    assert tsv.count("\n") == 2
    tsv.encode()


def test_a_file_that_is_not_there_is_named(tmp_path):
    for name in ("none.json", "none.examples.jsonl"):
        with pytest.raises(FileNotFoundError, match=f"{name}: no such file"):
            read_asked(tmp_path / name)
