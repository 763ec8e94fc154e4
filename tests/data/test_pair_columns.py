"""Layers beside parallel text: rows of features, and streams that do not fit are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from prepared import PAIR, prepare, random_pairs

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.pair_columns import FactorRows, check_tokens, read_side, split_parts
from fairseq_plugins.data.streams import stream_prefix, write_stream
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax import rows as syntax_rows
from fairseq_plugins.syntax.labels import SPECIAL_ID
from fairseq_plugins.syntax.layers import layers_of

TEXT = ("a b Cat", "dog", "go@@ go@@ fox")  # in the last, one word


@pytest.fixture
def folder(tmp_path):
    return prepare(tmp_path, {"train": [(line, "x") for line in TEXT]}, parse=True)


def read(folder, names=("pos", "case", "subword", "heads"), **how):
    return read_side(folder, read_manifest(folder), "train", layers_of(names), **how)


def overwrite(folder, stream, rows):
    write_stream(stream_prefix(folder, "train", PAIR, stream), rows, 256)


def test_rows_of_words_become_rows_of_subwords(folder):
    layers = layers_of(["case", "subword", "heads"])
    rows = FactorRows(read(folder), layers)
    lower, upper = (layers[0].inventory.ids([case])[0] for case in ("lower", "upper"))
    b, m, e, o = layers[1].inventory.ids("BMEO")
    end = [SPECIAL_ID, SPECIAL_ID, 0, 0]
    assert [row.tolist() for row in rows] == [
        [[lower, o, 1, 2], [lower, o, 2, 2], [upper, o, 3, 2], end],
        [[lower, o, 1, 1], end],
        [[lower, b, 1, 1], [lower, m, 1, 1], [lower, e, 1, 1], end],
    ]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int64])
def test_numbers_of_words_do_not_wrap_around(kind):
    values = np.append(np.arange(1, 256), [0, 1]).astype(kind)
    with pytest.raises(InputError, match="leaves words out"):
        syntax_rows.check_succession(
            "words", syntax_rows.Rows(values, np.array([len(values)])), least=1
        )


def test_a_line_without_words_has_special_values(folder):
    overwrite(folder, "en.words", [[1, 2, 3], [0], [1, 1, 1]])
    for name in ("pos", "case"):
        overwrite(folder, f"en.{name}", [[2, 2, 2], [], [2]])
    overwrite(folder, "en.heads", [[2, 0, 2], [], [0]])
    row = FactorRows(read(folder), layers_of(["pos", "case", "heads"]))[1]
    assert row.tolist() == [[SPECIAL_ID, SPECIAL_ID, 0, 0]] * 2


@pytest.mark.parametrize("at_once", [1, 100])
@pytest.mark.parametrize(
    ("stream", "rows", "message"),
    [
        ("pos", [[2, 2, 2], [2]], r"en\.pos has 2 rows instead of 3"),
        ("pos", [[2, 2, 2], [2], [2, 2]], r"en\.pos: line 3 has 2 entries instead of 1"),
        ("pos", [[2, 2, 2], [19], [2]], r"line 2: id 19 is no value .*'pos'.* 1 to 18"),
        ("pos", [[2, 2, 2], [0], [2]], r"line 2: id 0 is no value .*'pos'.* 1 to 18"),
        ("words", [[1, 2, 3], [1, 1], [1, 1, 1]], r"en\.words: line 2 has 2 entries instead of 1"),
        ("words", [[1, 2, 3], [2], [1, 1, 1]], r"en\.words: line 2 leaves words out"),
        ("words", [[1, 2, 3], [1], [1, 1, 0]], r"en\.words: line 3 leaves words out"),
        ("heads", [[2, 0, 2], [0], [9]], r"en\.heads: line 3: word 1 has head 9, but the sent"),
        ("heads", [[2, 3, 2], [0], [0]], r"en\.heads: line 1: .*cycle"),
    ],
)
def test_streams_that_do_not_fit_name_the_line(folder, stream, rows, message, at_once, monkeypatch):
    monkeypatch.setattr(syntax_rows, "ROWS_AT_ONCE", at_once)
    read(folder)
    overwrite(folder, f"en.{stream}", rows)
    with pytest.raises(InputError, match=message):
        read(folder)


def test_missing_and_cut_files(folder):
    overwrite(folder, "en.pos", [[2, 2, 2], [18], [2]])  # the largest id
    read(folder)
    path = folder / "train.en-de.en.case.bin"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(InputError, match=r"case\.bin has 3 bytes, but its index says 5"):
        read(folder)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"train\.en-de\.en\.case\.bin is missing"):
        read(folder)


def test_sides_that_disagree(folder):
    manifest = read_manifest(folder)
    check_tokens(folder, manifest, "train")
    with pytest.raises(InputError, match="holds 3 lines, but the manifest says 4"):
        check_tokens(folder, replace(manifest, splits={"train": {"lines": 4}}), "train")
    overwrite(folder, "de", [[4, 2]])
    with pytest.raises(InputError, match=r"en-de\.de has 1 rows instead of 3"):
        check_tokens(folder, manifest, "train")


def test_long_rows_keep_a_tree(tmp_path):
    folder = prepare(tmp_path, {"train": random_pairs(30, longest=20)}, parse=True)
    layers, side = layers_of(["pos", "subword", "heads"]), read(folder)
    whole, short = FactorRows(side, layers), FactorRows(side, layers, limit=6)
    assert sum(len(row) > 6 for row in whole) > 10
    for long, row in zip(whole, short):
        if len(long) <= 6:
            assert torch.equal(long, row)
            continue
        assert row[-1].tolist() == [SPECIAL_ID, SPECIAL_ID, 0, 0]
        assert torch.equal(row[:-1, :3], long[:5, :3])
        root = int(long[0, 3])  # on which all words hang; if it is cut, on the first
        assert set(row[:-1, 3].tolist()) == {root if root <= row[-2, 2] else 1}


def test_split_that_is_not_there_names_those_that_are(tmp_path):
    pairs = random_pairs(3)
    folder = prepare(tmp_path, {"train": pairs, "train1": pairs, "valid": pairs})
    what = (folder, read_manifest(folder))
    with pytest.raises(FileNotFoundError, match="no split 'test'.*splits: train, train1, valid"):
        split_parts(*what, "test", combine=False)
    assert split_parts(*what, "train", combine=True) == ["train", "train1"]
    assert split_parts(*what, "train", combine=False) == ["train"]
