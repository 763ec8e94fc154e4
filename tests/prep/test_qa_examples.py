"""Questions with what is known of them: from a SQuAD file, from a prepared split."""

from __future__ import annotations

import json
import shutil

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.qa_examples import read_asked

TWICE = '{"id": "a", "texts": ["x"], "answers": []}\n' * 2


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
    with pytest.raises(InputError, match=said):
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
        with pytest.raises(InputError, match="valid.contexts.jsonl, .* not as they were made"):
            read_asked(examples, contexts=True)
        assert len(read_asked(examples)) == len(lines) - 1


def test_a_file_that_is_not_there_is_named(tmp_path):
    for name in ("none.json", "none.examples.jsonl"):
        with pytest.raises(FileNotFoundError, match=f"{name}: no such file"):
            read_asked(tmp_path / name)
