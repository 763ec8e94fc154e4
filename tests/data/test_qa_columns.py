"""Streams of questions read back as they were written, and refused when they do not fit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from prepared_questions import answers_row, offsets_of, passages, place_of, prepare, stream
from prepared_text import encode

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.passages import Texts
from fairseq_plugins.data.qa_columns import QuestionColumns
from fairseq_plugins.data.text_folders import read_questions
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.pretrained.families import RowFormat
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.syntax.rows import Rows


@pytest.fixture
def folder(tmp_path):
    splits = {"train": passages(8), "test": passages(3, 1, gold=False)}
    return prepare(tmp_path, splits, annotations=("pos", "heads"))


def asked():
    """Return number of the passage, passage and question of each question in ``train``."""
    return [(i, told, q) for i, told in enumerate(passages(8)) for q in told.questions]


def read(folder, split="train"):
    return QuestionColumns.read(folder, split, layers_of(["pos", "case", "heads"]))


def test_columns_are_those_of_questions_and_passages(folder):
    columns = read(folder)
    assert len(columns.questions.tokens) == len(asked()) > len(passages(8))
    for i, (number, told, question) in enumerate(asked()):
        question_side, passage_side = encode(question.text.split()), encode(told.context.split())
        assert columns.questions.tokens[i].tolist() == question_side.tokens
        assert columns.contexts.tokens[i].tolist() == passage_side.tokens
        assert columns.contexts.layers["pos"][i].tolist() == passage_side.layers["pos"]
        roots = [j if h == 0 else h - 1 for j, h in enumerate(passage_side.layers["heads"])]
        assert columns.contexts.layers["heads"][i].tolist() == roots
        assert columns.paragraph[i] == number
        assert columns.offsets[number].tolist() == [n for s in offsets_of(told.context) for n in s]
        answer = place_of(told.context, *question.answers[0]) if question.answers else (-1, -1)
        assert tuple(columns.gold.first[i].tolist()) == answer
        assert columns.gold.states[i] == (2 if question.answers else 1)


def test_passages_are_held_once(folder):
    columns = read(folder)
    for rows in (columns.contexts.tokens, columns.contexts.layers["heads"], columns.contexts.words):
        assert len(rows.values) < rows.lengths.sum()
        assert rows.values is type(rows).gather(rows, np.array([0])).values


def test_gathered_rows_are_those_of_the_numbers():
    rows = Rows.of([[1, 2], [], [3]])
    found = rows.gather(np.array([2, 0, 2, 1]))
    assert [row.tolist() for row in found] == [[3], [1, 2], [3], []]
    assert found.lasts.tolist() == [3, 2, 3, -1]
    assert [row.tolist() for row in found.gather(np.array([1]))] == [[1, 2]]


def test_split_without_gold_has_none(folder):
    assert read(folder, "test").gold is None
    assert read(folder).gold.complete


def texts_of(folder):
    columns = read(folder)
    return Texts.read(folder, "train", columns.paragraph, columns.offsets)


def test_texts_are_those_of_questions_and_passages(folder):
    texts = texts_of(folder)
    for i, (_, told, question) in enumerate(asked()):
        passage = texts.passage(i, np.array([[1, 0, 2, 0, 2]]), RowFormat())
        assert (passage.id, passage.question) == (question.id, question.text)
        assert passage.context == told.context
        assert passage.answers == tuple(text for text, _ in question.answers)
        for text, start in question.answers:
            first, last = place_of(told.context, text, start)
            assert passage.context[passage.offsets[first, 0] : passage.offsets[last, 1]] == text
    assert texts_without_gold(folder).answers == (None,) * len(texts_without_gold(folder).ids)


def texts_without_gold(folder):
    columns = read(folder, "test")
    return Texts.read(folder, "test", columns.paragraph, columns.offsets)


def rows_of(folder, name):
    rows = Rows.read(folder / f"train.{name}")
    return [row.astype(int).tolist() for row in rows]


def first_answerable():
    return next(i for i, (_, _, question) in enumerate(asked()) if question.answers)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("paragraph", lambda rows, _: rows[:-1], "paragraph has .* rows instead of"),
        ("paragraph", lambda rows, _: [[*rows[0], 1], *rows[1:]], "paragraph: example 1 has 2"),
        ("paragraph", lambda rows, _: [*rows[:-1], [8]], "has a passage that is none of the 8"),
        ("offsets1", lambda rows, _: [rows[0][:-2], *rows[1:]], "offsets1: example 1 has"),
        ("offsets1", lambda rows, _: [*rows[:-1], rows[-1][::-1]], "passage 8 has wordpieces that"),
        (
            "offsets1",
            lambda rows, _: [[0, 0, *rows[0][2:]], *rows[1:]],
            "do not follow one another",
        ),
        ("answers", lambda rows, _: rows[1:], "answers has .* rows instead of"),
        ("answers", lambda rows, _: [[], *rows[1:]], "example 1 has a row that is no state"),
        ("answers", lambda rows, _: [[2, 0], *rows[1:]], "example 1 has a row that is no state"),
        (
            "answers",
            lambda rows, _: [rows[0], [3], *rows[2:]],
            "example 2 has a state beyond 0 to 2",
        ),
        ("answers", lambda rows, _: [[1, 0, 0], *rows[1:]], "example 1 has a place of no answer"),
        ("answers", lambda rows, _: [[2, 1, 0], *rows[1:]], "example 1 has an answer that is not"),
        ("answers", lambda rows, n: [[2, 0, n], *rows[1:]], "example 1 has an answer that is not"),
    ],
)
def test_streams_that_disagree_are_refused(folder, name, change, message):
    longest = len(offsets_of(passages(8)[0].context))
    stream(folder / "train", name, change(rows_of(folder, name), longest))
    with pytest.raises(InputError, match=message):
        read(folder)


@pytest.mark.parametrize(
    ("name", "first", "message"),
    [
        ("paragraph", [-1], "example 1 has a passage that is none of the 8"),
        ("offsets1", [-1, 0], "passage 1 has wordpieces that do not follow"),
        ("answers", [-1], "example 1 has a state beyond 0 to 2"),
        ("answers", [2, -1, 0], "example 1 has an answer that is not in its passage"),
    ],
)
def test_numbers_below_zero_are_refused(folder, name, first, message):
    """They would count from the end."""
    rows = rows_of(folder, name)
    rows[0] = [*first, *(rows[0][2:] if name == "offsets1" else [])]
    stream(folder / "train", name, rows, ids=2**31)
    with pytest.raises(InputError, match=message):
        read(folder)


def test_wordpieces_that_no_vocabulary_has_are_refused(folder):
    manifest = read_manifest(folder, TextManifest)
    greatest = max(
        side.tokens.values.max() for side in (read(folder).questions, read(folder).contexts)
    )
    read_questions(folder, manifest, "train", (), pieces=greatest + 1)
    with pytest.raises(InputError, match=f"id {greatest} is no wordpiece of the vocabulary"):
        read_questions(folder, manifest, "train", (), pieces=greatest)


def test_answer_at_the_very_end_is_not_refused(folder):
    rows = rows_of(folder, "answers")
    rows[0] = [2, 0, len(offsets_of(passages(8)[0].context)) - 1]
    stream(folder / "train", "answers", rows)
    assert read(folder).gold.first[0].tolist() == rows[0][1:]


def test_answers_that_cannot_be_placed_are_known_as_such(folder):
    rows = [[2] for _ in asked()]
    stream(folder / "train", "answers", rows)
    gold = read(folder).gold
    assert gold.complete
    assert gold.states.tolist() == [2] * len(rows)
    assert gold.first.tolist() == [[-1, -1]] * len(rows)


@pytest.mark.parametrize("name", ["paragraph", "offsets1", "answers", "tokens1", "heads0"])
def test_missing_stream_is_named(folder, name):
    (folder / f"train.{name}.idx").unlink()
    with pytest.raises(FileNotFoundError, match=rf"train\.{name}.*prepare the folder again"):
        read(folder)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("examples", lambda lines: lines[:-1], "examples.jsonl has .* lines instead of"),
        ("examples", lambda lines: [lines[0], "{", *lines[2:]], "examples.jsonl:2: damaged line"),
        ("examples", lambda lines: ['{"id": 1}', *lines[1:]], "examples.jsonl:1: .*KeyError"),
        ("contexts", lambda lines: ["[]", *lines[1:]], "contexts.jsonl:1: damaged line"),
        ("contexts", lambda lines: [*lines, lines[0]], "contexts.jsonl has 9 lines instead of 8"),
        (
            "contexts",
            lambda lines: [json.dumps({"context": "by"}), *lines[1:]],
            "contexts.jsonl:1: the context has 2 characters, but train.offsets1 reaches to",
        ),
    ],
)
def test_damaged_texts_are_refused(folder, name, change, message):
    path = folder / f"train.{name}.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{line}\n" for line in change(lines)))
    with pytest.raises(InputError, match=message):
        texts_of(folder)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=f"{name}.jsonl is missing"):
        texts_of(folder)


def test_unparsed_passage_of_raw_text_is_named_by_its_question():
    side = encode(["by", "night"])
    lost = encode(["by"])
    del lost.layers["heads"]
    offsets = [np.array(offsets_of(text)) for text in ("by night", "by")]
    with pytest.raises(InputError, match="the passage of question 1 was not parsed"):
        QuestionColumns.of([side, side], [side, lost], [0, 1], offsets, names=["heads"])


def test_prepared_rows_are_what_the_format_says():
    """The helper of these tests writes state and places."""
    told = next(told for told in passages(8) if "new paris" in told.context)
    row = answers_row(told.context, told.questions[0])
    assert row[0] == 2
    assert len(row) == 5
