"""Streams read back as they were written, and refused when they do not fit each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prepared_text import LABELS, encode, examples, prepare

from fairseq_plugins.data.passages import read_ids
from fairseq_plugins.data.streams import write_stream
from fairseq_plugins.data.text_columns import SentenceColumns
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.syntax.rows import Rows
from fairseq_plugins.targets.gold import ClassIds, Numbers
from fairseq_plugins.targets.label_sets import parted
from fairseq_plugins.targets.table import TARGETS


@pytest.fixture
def folder(tmp_path):
    splits = {"train": examples("classes", 12), "test": examples("classes", 5, gold=False)}
    return prepare(tmp_path, "classes", splits)


@given(st.lists(st.lists(st.integers(0, 300), max_size=5), max_size=8))
def test_rows_are_those_given(rows):
    made = Rows.of(rows)
    assert [made[i].tolist() for i in range(len(made))] == rows
    assert made.lasts.tolist() == [row[-1] if row else -1 for row in rows]


@pytest.mark.parametrize("ids", [2, 300, 40_000])
def test_rows_are_read_as_written(tmp_path, ids):
    rows = [[ids - 1, 0], [], [1], [], [0, 0, 1]]
    write_stream(tmp_path / "x", rows, ids)
    read = Rows.read(tmp_path / "x")
    assert [read[i].tolist() for i in range(len(read))] == rows


def test_stream_of_empty_rows_can_be_read(tmp_path):
    write_stream(tmp_path / "x", [[], []], 2)
    assert [row.tolist() for row in Rows.read(tmp_path / "x")] == [[], []]


def test_columns_are_those_of_the_sentences(folder):
    column = SentenceColumns.read(folder, "train", 0, layers_of(["pos", "case"]))
    for i, example in enumerate(examples("classes", 12)):
        expected = encode(example.texts[0].split())
        assert column.tokens[i].tolist() == expected.tokens
        assert column.words[i].tolist() == expected.word_of
        for name in ("pos", "case"):
            assert column.layers[name][i].tolist() == expected.layers[name]
        assert column.word_counts[i] == len(expected.words)


def test_columns_of_raw_text_are_those_of_the_folder(folder):
    read = SentenceColumns.read(folder, "train", 0, layers_of(["pos"]))
    raw = [encode(e.texts[0].split()) for e in examples("classes", 12)]
    taken = SentenceColumns.of(raw, ["pos"])
    for ours, theirs in [
        (taken.tokens, read.tokens),
        (taken.layers["pos"], read.layers["pos"]),
    ]:
        assert np.array_equal(ours.values, theirs.values)
        assert np.array_equal(ours.lengths, theirs.lengths)


def test_missing_stream_is_named(folder):
    (folder / "train.pos0.idx").unlink()
    with pytest.raises(FileNotFoundError, match=r"train\.pos0.*prepare the folder again"):
        SentenceColumns.read(folder, "train", 0, layers_of(["pos"]))
    SentenceColumns.read(folder, "train", 0, layers_of(["case"]))


@pytest.mark.parametrize(
    ("stream", "change", "message"),
    [
        ("words", lambda rows: rows[:-1], "words0 has 11 rows instead of 12"),
        ("words", lambda rows: [rows[0], rows[1][:-1], *rows[2:]], "words0: example 2 has"),
        ("pos", lambda rows: [*rows[:-1], [*rows[-1], 2]], "pos0: example 12 has"),
        ("words", lambda rows: [[x + 1 for x in rows[0]], *rows[1:]], "words0: example 1 leaves"),
        ("words", lambda rows: [*rows[:-1], [2 * x for x in rows[-1]]], "example 12 leaves words"),
        ("words", lambda rows: [*rows[:-1], rows[-1][::-1]], "example 12 leaves words out"),
    ],
)
def test_streams_that_disagree_are_refused(folder, stream, change, message):
    rows = Rows.read(folder / f"train.{stream}0")
    write_stream(folder / f"train.{stream}0", change([row.tolist() for row in rows]), 30)
    with pytest.raises(InputError, match=message):
        SentenceColumns.read(folder, "train", 0, layers_of(["pos"]))


def test_cut_off_stream_is_refused(folder):
    path = folder / "train.tokens0.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="but its index says"):
        SentenceColumns.read(folder, "train", 0, [])


@pytest.mark.parametrize("kind", LABELS)
def test_gold_is_that_of_the_examples(tmp_path, kind):
    some = examples(kind, 9)
    missing = examples(kind, 9, gold=False)
    prepare(tmp_path, kind, {"train": some, "some": [*some[:4], missing[4], *some[5:]]})
    target = kind if kind in TARGETS and kind != "entities" else "word_labels"
    for split, holes in (("train", []), ("some", [4])):
        gold = TARGETS[target].gold.read(tmp_path, split, len(LABELS[kind]))
        assert gold.complete == (not holes)
        for i, example in enumerate(some):
            assert gold[i] == (None if i in holes else expected_gold(example, kind))


def expected_gold(example, kind):
    if kind == "score":
        return float(example.label)
    if kind == "classes":
        return LABELS[kind].index(example.label)
    if kind == "multi_label":
        return [LABELS[kind].index(label) for label in parted(example.label)]
    return [LABELS[kind].index(label) for label in example.word_labels]


def test_score_that_is_no_number_is_refused_with_its_line(tmp_path):
    prepare(tmp_path, "score", {"train": examples("score", 3)})
    for wrong in ("high", "nan", "-inf"):
        (tmp_path / "train.score.txt").write_text(f"1.0\n\n{wrong}\n")
        with pytest.raises(
            InputError, match=rf"train\.score\.txt:3: '{wrong}' is no finite number"
        ):
            Numbers.read(tmp_path, "train", 0)
    (tmp_path / "train.score.txt").write_text("1.0\n\n0.5\n")
    gold = Numbers.read(tmp_path, "train", 0)
    assert [gold[i] for i in range(3)] == [1.0, None, 0.5]
    assert math.isnan(gold.values[1])


def test_labels_beyond_the_inventory_are_refused(folder):
    with pytest.raises(InputError, match="is no label of labels.txt, whose ids are 0 to 0"):
        ClassIds.read(folder, "train", 1)


def test_ids_are_those_of_the_examples(folder):
    assert read_ids(folder, "train") == [example.id for example in examples("classes", 12)]


@pytest.mark.parametrize("least", [0, 1])
def test_ids_below_the_least_are_refused_whatever_their_type(least):
    for kind in (np.int32, np.uint16):
        Rows(np.array([least, 5], kind), np.array([2])).check("here", 6, "id", least)
    low = np.array([5, least - 1], np.int32)
    with pytest.raises(InputError, match=f"here, line 1: id {least - 1} is no id"):
        Rows(low, np.array([2])).check("here", 6, "id", least)
