"""Merges of divided preparations: stopped, repeated, over folders that are there already."""

from __future__ import annotations

import json
import shutil

import pytest
from raw_corpora import contents
from stops import Stopped, stop_now, stopped_at

from fairseq_plugins.prep import shards, workspace
from fairseq_plugins.prep.manifest import FILE_NAME
from fairseq_plugins.prep.shards import RECORD, SHARDS
from fairseq_plugins.prep.workspace import WORK

pytestmark = pytest.mark.usefixtures("rule_tagger", "small_chunks", "rules_and_small_parts")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", ["find_parts", "open_work", "remove_shards", "shutil.rmtree"])
def test_stopped_merge_is_finished_by_the_next(
    step, after, kind, raw, whole, tmp_path, monkeypatch
) -> None:
    out = tmp_path / "out"
    kind.shards(raw, out, 2)
    with stopped_at(monkeypatch, shards, step, after=after):
        kind.prepare(raw, out, merge=True)
    assert (out / FILE_NAME).exists() == (step in ("remove_shards", "shutil.rmtree"))
    kind.prepare(raw, out, merge=True)
    assert contents(out) == whole
    assert not (out / SHARDS).exists()


def test_merge_stopped_in_its_own_work_goes_on(kind, raw, whole, tmp_path, monkeypatch) -> None:
    out = tmp_path / "out"
    kind.shards(raw, out, 3)
    for name in ("close_work", "report"):
        with monkeypatch.context() as patch:
            patch.setattr(workspace if name == "close_work" else kind.module, name, stop_now)
            with pytest.raises(Stopped):
                kind.prepare(raw, out, merge=True)
        assert (out / SHARDS / "3-of-3" / RECORD).is_file()
        (out / FILE_NAME).unlink()
        if name == "close_work":
            assert (out / WORK).is_dir()
    (out / WORK).mkdir(exist_ok=True)
    kind.prepare(raw, out, merge=True)
    assert contents(out) == whole


def test_merging_twice_does_nothing(kind, raw, whole, tmp_path, monkeypatch) -> None:
    kind.shards(raw, tmp_path / "out", 2)
    kind.prepare(raw, tmp_path / "out", merge=True)
    monkeypatch.setattr(kind.module, "make", stop_now)
    manifest = kind.prepare(raw, tmp_path / "out", merge=True)
    assert manifest.splits == json.loads(whole[FILE_NAME])["splits"]
    kind.prepare(raw, tmp_path / "out", shard="1/2")  # nothing is left to do
    assert contents(tmp_path / "out") == whole


def test_finished_folder_of_other_options_is_left_alone(kind, raw, whole, tmp_path) -> None:
    other, named = kind.other
    for values in ({"shard": "1/2"}, {"merge": True}):
        with pytest.raises(ValueError, match=rf"holds another preparation \({named}.*--overwrite"):
            kind.prepare(raw, tmp_path / "whole", **values, **other)
    kind.shards(raw, tmp_path / "whole", 2, overwrite=True, **other)
    found = contents(tmp_path / "whole")
    assert {name: found[name] for name in whole} == whole  # until the merge
    kind.prepare(raw, tmp_path / "whole", merge=True)  # it is finished; what is new stays
    assert (tmp_path / "whole" / SHARDS / "2-of-2" / RECORD).is_file()
    kind.prepare(raw, tmp_path / "whole", merge=True, overwrite=True, **other)
    kind.prepare(raw, tmp_path / "fresh", **other)
    assert contents(tmp_path / "whole") == contents(tmp_path / "fresh")


def test_bad_shards_leave_a_finished_folder_alone(kind, raw, whole, tmp_path) -> None:
    with pytest.raises(ValueError, match="holds no shards"):
        kind.prepare(raw, tmp_path / "whole", merge=True, overwrite=True, **kind.other[0])
    assert contents(tmp_path / "whole") == whole


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", ["remove_shards", "shutil.rmtree"])
def test_merge_that_overwrites_can_be_repeated(
    step, after, kind, raw, whole, tmp_path, monkeypatch
) -> None:
    out = tmp_path / "whole"
    kind.shards(raw, out, 2, overwrite=True)
    with stopped_at(monkeypatch, shards, step, after=after):
        kind.prepare(raw, out, merge=True, overwrite=True)
    for _ in range(2):
        kind.prepare(raw, out, merge=True, overwrite=True)
        assert contents(out) == whole
    assert not (out / SHARDS).exists()


def test_what_a_killed_removal_left_blocks_no_later_merge(kind, raw, whole, tmp_path) -> None:
    out = tmp_path / "out"
    kind.shards(raw, out, 2)
    left = out / SHARDS / f"1-of-2{shards.REMOVED}"
    shutil.copytree(out / SHARDS / "1-of-2", left)
    kind.prepare(raw, out, merge=True)
    assert contents(out) == whole
    assert not (out / SHARDS).exists()
