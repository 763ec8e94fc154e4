"""Feature streams that do not fit their tokens are refused with file and line."""

from __future__ import annotations

import pytest
from prepared import PAIR, prepare, random_pairs

from fairseq_plugins.data.factor_streams import check_split, split_parts
from fairseq_plugins.data.streams import stream_prefix, write_stream
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.layers import layers_of

TEXT = ("a b Cat", "dog", "E fox")  # rows of 4, 2 and 3 ids with </s>


@pytest.fixture
def folder(tmp_path):
    return prepare(tmp_path, {"train": [(line, "x") for line in TEXT]})


def check(folder, **options):
    layers = layers_of(["pos", "case"])
    check_split(folder, "train", PAIR, "en", layers, **options)


def overwrite(folder, rows, stream="en.pos"):
    write_stream(stream_prefix(folder, "train", PAIR, stream), rows, 256)


def test_a_sound_split_passes(folder):
    check(folder, lines=3)


def test_missing_stream(folder):
    (folder / "train.en-de.en.pos.idx").unlink()
    with pytest.raises(FileNotFoundError, match=r"train\.en-de\.en\.pos\.idx is missing"):
        check(folder)


def test_fewer_rows(folder):
    overwrite(folder, [[2, 2, 2, 1], [2, 1]])
    with pytest.raises(InputError, match=r"en\.pos has 2 rows instead of 3"):
        check(folder)


def test_fewer_targets(folder):
    overwrite(folder, [[4, 2]], "de")
    with pytest.raises(InputError, match=r"en-de\.de has 1 rows instead of 3"):
        check(folder)


def test_shorter_row_names_its_line(folder):
    overwrite(folder, [[2, 2, 2, 1], [2, 1], [2, 1]])
    with pytest.raises(InputError, match=r"en\.pos: line 3 has 2 entries instead of 3"):
        check(folder)


@pytest.mark.parametrize("value", [19, 200, 0])
def test_id_outside_the_inventory_names_its_line_and_value(folder, value):
    overwrite(folder, [[2, 2, 2, 1], [value, 1], [2, 2, 1]])
    with pytest.raises(InputError, match=rf"line 2: id {value} is no value .*'pos'.* 1 to 18"):
        check(folder)


def test_largest_id_passes(folder):
    overwrite(folder, [[2, 2, 2, 1], [18, 1], [2, 2, 1]])
    check(folder)


def test_cut_binary(folder):
    path = folder / "train.en-de.en.case.bin"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(InputError, match=r"case\.bin has 7 bytes, but its index says 9"):
        check(folder)


def test_manifest_of_other_data(folder):
    with pytest.raises(InputError, match="holds 3 lines, but the manifest says 4"):
        check(folder, lines=4)


def test_split_that_is_not_there_names_those_that_are(tmp_path):
    pairs = random_pairs(3)
    folder = prepare(tmp_path, {"train": pairs, "train1": pairs, "valid": pairs})
    with pytest.raises(FileNotFoundError, match="no split 'test'.*splits: train, train1, valid"):
        split_parts(folder, "test", PAIR, "en", combine=False)
    assert split_parts(folder, "train", PAIR, "en", combine=True) == ["train", "train1"]
    assert split_parts(folder, "train", PAIR, "en", combine=False) == ["train"]
