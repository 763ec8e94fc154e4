"""Fractions of a training set: nested, seeded, all else unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from raw_corpora import contents, invented_pairs, make_options, stream_rows, write_pairs

from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep import subset
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.prep.shares import Share
from fairseq_plugins.prep.subset import choose_lines, write_subset

STREAMS = ("en", "de", "en.words", "en.pos", "en.case")


@pytest.fixture
def folder(tmp_path, rule_tagger) -> Path:
    """Two training parts and a test set."""
    for seed, (name, count) in enumerate({"a": 30, "b": 12, "test": 6}.items()):
        write_pairs(tmp_path / name, invented_pairs(count, seed))
    options = {"trainpref": f"{tmp_path / 'a'},{tmp_path / 'b'}", "testpref": tmp_path / "test"}
    prepare(make_options(tmp_path / "whole", **options))
    return tmp_path / "whole"


def test_smaller_fractions_lie_in_larger_ones() -> None:
    chosen = [set(choose_lines(200, Share(f, 3))[0]) for f in (0.01, 0.1, 0.5, 1.0)]
    assert [len(lines) for lines in chosen] == [2, 20, 100, 200]
    for small, large in zip(chosen, chosen[1:]):
        assert small < large
    assert set(choose_lines(200, Share(0.5, 4))[0]) != chosen[2]
    assert list(choose_lines(9, Share(0.001, 0))[0]) == sorted(choose_lines(9, Share(0.001, 0))[0])
    assert len(choose_lines(9, Share(0.001, 0))[0]) == 1


@pytest.mark.parametrize("fraction", [0, -0.1, 1.1, float("nan")])
def test_fraction_that_is_none_is_refused(fraction) -> None:
    with pytest.raises(InputError, match="must be above 0 and at most 1"):
        choose_lines(10, Share(fraction, 0))[0]


def test_lines_keep_their_partners_and_features(folder, tmp_path) -> None:
    write_subset(folder, tmp_path / "half", Share(0.5, 1))
    for split, lines in (("train", 30), ("train1", 12)):
        chosen = choose_lines(lines, Share(0.5, 1))[0]
        for stream in STREAMS:
            rows = stream_rows(folder, split, stream)
            kept = stream_rows(tmp_path / "half", split, stream)
            assert kept == [rows[i] for i in chosen]


def test_everything_else_stays(folder, tmp_path) -> None:
    manifest = write_subset(folder, tmp_path / "half", Share(0.5, 1))
    before, after = contents(folder), contents(tmp_path / "half")
    assert set(before) == set(after)
    for name in before:
        if not name.startswith(("train", FILE_NAME)):
            assert after[name] == before[name], name
    assert manifest.splits["train"]["lines"] == 15
    assert manifest.splits["test"] == read_manifest(folder).splits["test"]
    for stream, ids in manifest.splits["train1"]["tokens"].items():
        assert sum(map(len, stream_rows(tmp_path / "half", "train1", stream))) == ids


def test_lines_that_are_held_out_keep_their_partners(folder, tmp_path) -> None:
    manifest = write_subset(folder, tmp_path / "parted", Share(1.0, 1, 0.2))
    kept, held = choose_lines(30, Share(1.0, 1, 0.2))
    assert sorted([*kept, *held]) == [*range(30)]
    for stream in STREAMS:
        rows = stream_rows(folder, "train", stream)
        for split, chosen in (("train", kept), ("select", held)):
            assert stream_rows(tmp_path / "parted", split, stream) == [rows[i] for i in chosen]
        assert stream_rows(tmp_path / "parted", "train1", stream) == stream_rows(
            folder, "train1", stream
        )
    assert (manifest.splits["train"]["lines"], manifest.splits["select"]["lines"]) == (24, 6)


def test_whole_fraction_is_the_whole(folder, tmp_path) -> None:
    write_subset(folder, tmp_path / "all", Share(1.0, 1))
    before, after = contents(folder), contents(tmp_path / "all")
    assert {k: v for k, v in after.items() if k != FILE_NAME} == {
        k: v for k, v in before.items() if k != FILE_NAME
    }


def test_finished_subset_is_left_and_another_refused(folder, tmp_path) -> None:
    write_subset(folder, tmp_path / "half", Share(0.5, 1))
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "half").iterdir()}
    write_subset(folder, tmp_path / "half", Share(0.5, 1))
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "half").iterdir()} == times
    for fraction, seed in ((0.4, 1), (0.5, 2)):
        with pytest.raises(InputError, match="holds other data"):
            write_subset(folder, tmp_path / "half", Share(fraction, seed))


def test_subset_of_a_subset_is_refused(folder, tmp_path) -> None:
    write_subset(folder, tmp_path / "half", Share(0.5, 1))
    with pytest.raises(InputError, match="is itself a subset"):
        write_subset(tmp_path / "half", tmp_path / "quarter", Share(0.5, 1))


def test_folder_without_training_text_is_refused(folder, tmp_path, rule_tagger) -> None:
    given = {"bpe_codes": folder / "codes.bpe", "srcdict": folder / "dict.en.txt"}
    options = {**given, "tgtdict": folder / "dict.de.txt", "testpref": tmp_path / "test"}
    prepare(make_options(tmp_path / "tested", **options))
    with pytest.raises(InputError, match=r"has no training split \(splits: test\)"):
        write_subset(tmp_path / "tested", tmp_path / "half", Share(0.5, 1))


def test_stopped_subset_is_written_again(folder, tmp_path, monkeypatch) -> None:
    write_subset(folder, tmp_path / "straight", Share(0.5, 1))
    with monkeypatch.context() as patch:
        patch.setattr(subset, "write_stream", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_subset(folder, tmp_path / "half", Share(0.5, 1))
    (tmp_path / "half" / "train.en-de.en.bin.tmp9").write_bytes(b"half")
    assert not (tmp_path / "half" / FILE_NAME).is_file()
    write_subset(folder, tmp_path / "half", Share(0.5, 1))
    assert contents(tmp_path / "half") == contents(tmp_path / "straight")


def test_foreign_files_are_not_replaced(folder, tmp_path) -> None:
    destination = tmp_path / "foreign"
    destination.mkdir()
    precious = destination / "train.en-de.en.bin"
    precious.write_bytes(b"not ours")
    with pytest.raises(InputError, match="files of another tool"):
        write_subset(folder, destination, Share(0.5, 1))
    assert precious.read_bytes() == b"not ours"
