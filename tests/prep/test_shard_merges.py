"""Merges of divided preparations: stopped, repeated, over folders that are there already."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from raw_corpora import contents
from safetensors import safe_open
from safetensors.numpy import save
from stops import Stopped, stop_now, stopped_at

from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.errors import InputError
from fairseq_plugins.files import sha256
from fairseq_plugins.prep import engine, shards, workspace
from fairseq_plugins.prep.shards import RECORD, SHARDS
from fairseq_plugins.prep.workspace import WORK

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("rule_tagger", "small_chunks", "rules_and_small_parts"),
]


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
            patch.setattr(workspace if name == "close_work" else engine, name, stop_now)
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
    monkeypatch.setattr(engine, "make", stop_now)
    manifest = kind.prepare(raw, tmp_path / "out", merge=True)
    assert manifest.splits == json.loads(whole[FILE_NAME])["splits"]
    kind.prepare(raw, tmp_path / "out", shard="1/2")  # nothing is left to do
    assert contents(tmp_path / "out") == whole


def test_finished_folder_of_other_options_is_left_alone(kind, raw, whole, tmp_path) -> None:
    other, named = kind.other
    for values in ({"shard": "1/2"}, {"merge": True}):
        with pytest.raises(InputError, match=rf"holds another preparation \({named}.*--overwrite"):
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
    with pytest.raises(InputError, match="holds no shards"):
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


def spoil_numbers(path, change) -> None:
    """Change the first rows of numbers of a chunk."""
    with safe_open(path, "np") as archive:
        arrays = {name: archive.get_tensor(name) for name in archive.keys()}  # noqa: SIM118
    name = next(n for n in arrays if n.endswith(("source.ids", "tokens0.ids")) and len(arrays[n]))
    change(arrays, name)
    path.write_bytes(save(arrays))


def negative(arrays, name):
    arrays[name][0] = -1


def beyond(arrays, name):
    arrays[name][-1] = 2**30


def uneven(arrays, name):
    arrays[name] = arrays[name][:-1]


def fractional(arrays, name):
    arrays[name] = arrays[name].astype(np.float32)


@pytest.mark.parametrize("change", [negative, beyond, uneven, fractional])
def test_numbers_that_stand_for_nothing_are_not_merged(change, kind, raw, tmp_path) -> None:
    """Of a shard whose record is in order; such a number became another subword."""
    out = tmp_path / "out"
    kind.shards(raw, out, 2)
    chunks = sorted((out / SHARDS / "1-of-2" / WORK).glob("*.safetensors"))
    if not chunks:
        return  # this one is cut when it is merged
    spoil_numbers(chunks[0], change)
    record = out / SHARDS / "1-of-2" / RECORD
    body = json.loads(record.read_text())
    body["files"][chunks[0].name] = sha256(chunks[0])
    record.write_text(json.dumps(body))
    with pytest.raises(InputError, match=rf"{chunks[0].name} is no chunk of this preparation, or"):
        kind.prepare(raw, out, merge=True)
    assert not (out / FILE_NAME).exists()
