"""Folders of older releases hold a value a subword; they are read as folders of today."""

from __future__ import annotations

import pytest
import torch
from older_folders import make_older
from prepared import PAIR, batches, make_model, make_task, prepare, random_pairs

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.pair_columns import FactorRows, read_side
from fairseq_plugins.data.streams import stream_prefix, write_stream
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax import rows as syntax_rows
from fairseq_plugins.syntax.controls import Controls
from fairseq_plugins.syntax.layers import layers_of

WORDS = [[1, 2, 2, 3, 0], [1, 0], [1, 2, 0]]
HEADS = [[2, 2, 2, 2, 0], [1, 0], [1, 1, 0]]
TEXT = [("a go@@ b Cat", "x y"), ("dog", "x"), ("dog E", "x")]


def make(folder, features, *, parse=False):
    pairs = random_pairs(40, longest=15)
    return prepare(folder, {"train": pairs}, features=features, parse=parse, truecase=True)


@pytest.mark.parametrize("at_once", [7, 100])
@pytest.mark.parametrize(
    ("features", "parse"),
    [(["pos", "subword"], False), (["case"], False), (["pos", "subword"], True), ([], True)],
)
@pytest.mark.parametrize("how", [("parse", "given"), ("shuffled", "random"), ("chain", "shuffled")])
def test_both_forms_give_the_same_rows(features, parse, how, at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(syntax_rows, "ROWS_AT_ONCE", at_once)
    folder, layers = make(tmp_path, features, parse=parse), layers_of(features)
    layers += layers_of(["heads"]) if parse else []

    def rows(limit, of_target=False):
        own = layers_of(["truecase"]) if of_target else layers
        how_read = {"of_target": of_target, "controls": Controls(*how, seed=2)}
        side = read_side(folder, read_manifest(folder), "train", own, **how_read)
        return [*FactorRows(side, own, limit)]

    wanted = [rows(None), rows(6), rows(None, of_target=True)]
    make_older(folder)
    assert not read_manifest(folder).by_word
    for ours, theirs in zip([rows(None), rows(6), rows(None, of_target=True)], wanted):
        assert all(map(torch.equal, ours, theirs)), (features, how)


def test_both_forms_give_the_same_batches(tmp_path):
    folder, found = make(tmp_path, ["pos", "case", "subword"], parse=True), []
    for _ in range(2):
        task = make_task(folder)
        make_model(task)
        task.load_dataset("train")
        found.append(batches(task, "train", max_tokens=100))
        make_older(folder)
    for ours, theirs in zip(*found, strict=True):
        for name, tensor in ours["net_input"].items():
            assert torch.equal(tensor, theirs["net_input"][name]), name


@pytest.fixture
def folder(tmp_path):
    return make_older(prepare(tmp_path, {"train": TEXT}, features=["pos", "subword"], parse=True))


def changed(rows, line, place, value):
    rows = [list(row) for row in rows]
    rows[line][place] = value
    return rows


@pytest.mark.parametrize(
    ("stream", "rows", "message"),
    [
        ("heads", changed(HEADS, 0, 3, 4), "line 1: word 3 has head 4, but the sentence has 3"),
        ("heads", changed(HEADS, 2, 1, 9), "line 3: word 2 has head 9, but the sentence has 2"),
        ("heads", changed(HEADS, 2, 0, 2), "line 3: .*cycle"),
        ("heads", changed(HEADS, 0, 2, 3), "line 1 has several values for a word"),
        ("heads", changed(HEADS, 1, 1, 1), "line 2 has several values for a word, none, or one"),
        ("heads", changed(HEADS, 1, 0, 0), "line 2 has several values for a word, none, or one"),
        ("heads", [[2, 2, 2, 0], *HEADS[1:]], "line 1 has 4 entries instead of 5"),
        ("heads", HEADS[:-1], " has 2 rows instead of 3"),
        ("words", changed(WORDS, 0, 0, 2), "line 1 leaves words out"),
        ("words", changed(WORDS, 0, 3, 1), "line 1 leaves words out"),
        ("words", changed(WORDS, 2, 1, 4), "line 3 leaves words out"),
        ("words", changed(WORDS, 2, 2, 2), "line 3 does not end in no word"),
        ("subword", [[200] * len(row) for row in WORDS], "line 1: id 200 is no value of feature"),
        ("subword", WORDS[:-1], " has 2 rows instead of 3"),
        ("pos", [[2, 3, 3, 2, 1], [200, 1], [2, 2, 1]], "line 2: id 200 is no value of feature"),
    ],
)
def test_damaged_streams_name_the_line(folder, stream, rows, message):
    write_stream(stream_prefix(folder, "train", PAIR, f"en.{stream}"), rows, 256)
    with pytest.raises(InputError, match=rf"en\.{stream}.*{message}"):
        read_side(folder, read_manifest(folder), "train", layers_of(["pos", "subword", "heads"]))
