"""Trees on disk are refused with file and line when they are none."""

from __future__ import annotations

import pytest
import torch
from prepared import PAIR, prepare, random_pairs, tree_of

from fairseq_plugins.data.factor_streams import (
    FactorStreams,
    check_split,
    cut_row,
    open_factors,
)
from fairseq_plugins.data.streams import stream_prefix, write_stream
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax import trees
from fairseq_plugins.syntax.labels import SPECIAL_ID
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.syntax.rows import Rows
from fairseq_plugins.syntax.tree import shortened_columns

WORDS = [[1, 2, 2, 3, 0], [0], [1, 2, 0]]
HEADS = [[2, 2, 2, 2, 0], [0], [1, 1, 0]]

TREES = (TREE,) = layers_of(["heads"])


def check(words=WORDS, heads=HEADS):
    TREE.checked("x.heads", Rows.of(heads), words=Rows.of(words))


def changed(rows, line, place, value):
    rows = [list(row) for row in rows]
    rows[line][place] = value
    return rows


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_sound_trees_pass(at_once, monkeypatch) -> None:
    monkeypatch.setattr(trees, "LINES_AT_ONCE", at_once)
    check()
    check([], [])
    lines = [source.split() for source, _ in random_pairs(50)]
    columns = [tree_of(line) for line in lines]
    check(*([[*row, 0] for row in rows] for rows in zip(*columns)))


@pytest.mark.parametrize("at_once", [1, 100])
@pytest.mark.parametrize(
    ("heads", "line", "message"),
    [
        (changed(HEADS, 0, 3, 4), 1, "word 3 has head 4, but the sentence has 3 words"),
        (changed(HEADS, 2, 1, 9), 3, "word 2 has head 9, but the sentence has 2 words"),
        (changed(HEADS, 2, 0, 2), 3, "cycle"),
        (changed(HEADS, 0, 2, 3), 1, "word 2 with head 3 does not fit"),
        (changed(HEADS, 2, 1, 0), 3, "word 2 with head 0 does not fit"),
        (changed(HEADS, 1, 0, 1), 2, "word 0 with head 1 does not fit"),
    ],
)
def test_heads_that_form_no_tree(heads, line, message, at_once, monkeypatch) -> None:
    monkeypatch.setattr(trees, "LINES_AT_ONCE", at_once)
    with pytest.raises(InputError, match=rf"x\.heads, line {line}: .*{message}.*prepare the"):
        check(heads=heads)


@pytest.mark.parametrize(
    ("place", "value", "line"), [((0, 0), 2, 1), ((0, 3), 1, 1), ((2, 1), 4, 3), ((2, 2), 2, 3)]
)
def test_words_that_are_not_counted(place, value, line) -> None:
    with pytest.raises(InputError, match=rf"line {line}: word"):
        check(words=changed(WORDS, *place, value))


def test_more_words_than_heads_name_the_line(tmp_path) -> None:
    folder = prepare(tmp_path, {"train": [("a b Cat", "x"), ("dog", "x")]}, parse=True)
    check_split(folder, "train", PAIR, "en", TREES)
    write_stream(stream_prefix(folder, "train", PAIR, "en.heads"), [[3, 3, 0], [1, 0]], 1000)
    check_split(folder, "train", PAIR, "en", [])
    with pytest.raises(InputError, match=r"en\.heads: line 1 has 3 entries instead of 4"):
        check_split(folder, "train", PAIR, "en", TREES)
    (folder / "train.en-de.en.words.bin").unlink()
    with pytest.raises(FileNotFoundError, match=r"en\.words\.bin is missing"):
        check_split(folder, "train", PAIR, "en", TREES)


def test_long_rows_keep_a_tree(tmp_path) -> None:
    pairs = random_pairs(30, longest=20)
    folder = prepare(tmp_path, {"train": pairs}, parse=True)
    layers = layers_of(["pos", "heads"])
    streams = open_factors(folder, ["train"], PAIR, "en", layers)
    whole, short = FactorStreams(streams, layers), FactorStreams(streams, layers, limit=6)
    assert sum(len(row) > 6 for row in whole) > 10
    for long, row in zip(whole, short):
        if len(long) <= 6:
            assert torch.equal(long, row)
            continue
        assert row[-1].tolist() == [SPECIAL_ID, 0, 0]
        assert torch.equal(row[:-1, :2], long[:5, :2])
        assert tuple(row[:-1, 1:].T.tolist()) == shortened_columns(*long[:-1, 1:].T.tolist(), 5)


def test_rows_without_trees_are_cut_as_they_are() -> None:
    row, layers = torch.tensor([[5, 6], [7, 8], [1, 1]]), layers_of(["pos", "case"])
    assert cut_row(row, 2, layers).tolist() == [[5, 6], [1, 1]]
    assert cut_row(row, None, layers) is row
    assert cut_row(torch.zeros(10, 0, dtype=torch.long), 4, []).shape == (4, 0)  # words alone
