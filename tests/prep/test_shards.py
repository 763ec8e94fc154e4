"""Preparations divided over machines: the same bytes as undivided ones, or one clear refusal."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preparations import KINDS, count_work
from raw_corpora import contents
from stops import Stopped, stop_now

from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep import engine
from fairseq_plugins.prep.recipes import translation_chunks
from fairseq_plugins.prep.running import Shard
from fairseq_plugins.prep.shards import RECORD, SHARDS, WorkLayout
from fairseq_plugins.prep.workspace import WORK, locked

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("rule_tagger", "small_chunks", "rules_and_small_parts"),
]


@pytest.mark.parametrize("of", [1, 2, 3, 40])
def test_shards_merge_to_the_bytes_of_an_undivided_preparation(
    of, kind, raw, whole, tmp_path
) -> None:
    kind.shards(raw, tmp_path / "out", of, workers=1 + of % 2)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [SHARDS]
    manifest = kind.prepare(raw, tmp_path / "out", merge=True)
    assert contents(tmp_path / "out") == whole
    assert not (tmp_path / "out" / SHARDS).exists()
    assert manifest.splits == json.loads(whole[FILE_NAME])["splits"]


def test_each_chunk_is_made_by_one_shard_and_none_by_the_merge(
    kind, raw, tmp_path, monkeypatch
) -> None:
    with monkeypatch.context() as patch:
        made = count_work(kind, patch)
        kind.prepare(raw, tmp_path / "whole")
        total, counts = len(made), []
        for number in (1, 2, 3):
            made.clear()
            kind.prepare(raw, tmp_path / "out", shard=f"{number}/3")
            counts.append(len(made))
    assert sum(counts) == total
    assert max(counts) - min(counts) <= 1
    monkeypatch.setattr(*kind.work, stop_now)
    kind.prepare(raw, tmp_path / "out", merge=True)


def test_ready_codes_let_shards_cut_as_well(tmp_path, monkeypatch) -> None:
    kind = KINDS["translation cut at once"]
    kind.write(tmp_path)
    kind.shards(tmp_path, tmp_path / "out", 2)
    monkeypatch.setattr(translation_chunks, "encode_line", stop_now)
    kind.prepare(tmp_path, tmp_path / "out", merge=True)
    threshold = kind.options(tmp_path, tmp_path / "other", bpe_vocabulary_threshold=2)
    assert not threshold.cuts_at_once  # it counts the subwords of all chunks


def test_shard_stopped_and_run_again_goes_on(kind, raw, whole, tmp_path, monkeypatch) -> None:
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        count_work(kind, patch, most=2)
        with pytest.raises(Stopped):
            kind.prepare(raw, out, shard="1/2")
    assert not (out / SHARDS / "1-of-2" / RECORD).exists()
    kind.prepare(raw, out, shard="2/2")
    with pytest.raises(InputError, match=r"lacks or has only begun shard 1/2: make it with"):
        kind.prepare(raw, out, merge=True)
    with monkeypatch.context() as patch:
        again = count_work(kind, patch)
        kind.prepare(raw, out, shard="1/2")
    with monkeypatch.context() as patch:
        fresh = count_work(kind, patch)
        kind.prepare(raw, tmp_path / "fresh", shard="1/2")
    assert len(again) == len(fresh) - 2
    kind.prepare(raw, out, merge=True)
    assert contents(out) == whole


def test_killed_shard_goes_on(tmp_path, monkeypatch) -> None:
    kind = KINDS["translation"]
    kind.write(tmp_path)
    kind.prepare(tmp_path, tmp_path / "whole")
    work = tmp_path / "out" / SHARDS / "1-of-2" / WORK
    with monkeypatch.context() as patch:
        annotate = translation_chunks.annotate_lines
        patch.setattr(
            translation_chunks,
            "annotate_lines",
            lambda *args, **how: time.sleep(0.1) or annotate(*args, **how),
        )
        child = os.fork()
        if child == 0:
            os.setsid()
            kind.prepare(tmp_path, tmp_path / "out", shard="1/2", workers=2)
            os._exit(0)
        end = time.monotonic() + 30
        while not list(work.glob("*.jsonl")):
            assert time.monotonic() < end
            time.sleep(0.005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert not (work.parent / RECORD).exists()
    (work / "train.000000.annotated.jsonl.tmp77").write_text("half")
    kind.shards(tmp_path, tmp_path / "out", 2)
    kind.prepare(tmp_path, tmp_path / "out", merge=True)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_shard_run_twice_does_nothing(kind, raw, tmp_path, monkeypatch) -> None:
    kind.prepare(raw, tmp_path / "out", shard="2/3")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / SHARDS).rglob("*.*")}
    monkeypatch.setattr(engine, "make", stop_now)
    kind.prepare(raw, tmp_path / "out", shard="2/3")
    found = {path: path.stat().st_mtime_ns for path in times}
    assert found == times


def test_missing_shards_are_named(kind, raw, tmp_path) -> None:
    with pytest.raises(InputError, match=r"holds no shards: make them with --shard 1/n"):
        kind.prepare(raw, tmp_path / "out", merge=True)
    kind.prepare(raw, tmp_path / "out", shard="2/4")
    kind.prepare(raw, tmp_path / "out", shard="4/4")
    with pytest.raises(InputError, match=r"lacks or has only begun shard 1/4, 3/4: "):
        kind.prepare(raw, tmp_path / "out", merge=True)
    assert not (tmp_path / "out" / FILE_NAME).exists()


def test_shards_of_two_divisions_are_refused(kind, raw, tmp_path) -> None:
    kind.prepare(raw, tmp_path / "out", shard="1/2")
    kind.prepare(raw, tmp_path / "out", shard="1/3")
    with pytest.raises(InputError, match=r"holds shards of 2 and of 3: remove"):
        kind.prepare(raw, tmp_path / "out", merge=True)


def test_shards_of_other_options_are_refused(kind, raw, whole, tmp_path) -> None:
    other, named = kind.other
    out = tmp_path / "out"
    kind.prepare(raw, out, shard="1/2")
    kind.prepare(raw, out, shard="2/2", **other)
    with pytest.raises(InputError, match=rf"shard 2/2 in .* is of another preparation \({named}"):
        kind.prepare(raw, out, merge=True)
    with pytest.raises(InputError, match=rf"holds a shard of another .*{named}.*--overwrite"):
        kind.prepare(raw, out, shard="2/2")
    kind.prepare(raw, out, shard="2/2", overwrite=True)
    kind.prepare(raw, out, merge=True)
    assert contents(out) == whole


def test_shards_of_other_input_are_refused(kind, raw, tmp_path) -> None:
    kind.shards(raw, tmp_path / "out", 2)
    name, old, new = kind.last
    text = (raw / name).read_text(encoding="utf-8")
    assert old in text
    (raw / name).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=r"shard 1/2 .* is of another preparation \(inputs\."):
        kind.prepare(raw, tmp_path / "out", merge=True)


def test_damaged_shards_are_refused_and_made_again(kind, raw, whole, tmp_path) -> None:
    out = tmp_path / "out"
    kind.shards(raw, out, 2)
    victim = next(path for path in sorted((out / SHARDS / "2-of-2" / WORK).glob("train.0*")))
    whole_file = victim.read_bytes()
    victim.write_bytes(whole_file[:-1])  # as a copy that broke off
    with pytest.raises(InputError, match=rf"shard 2/2 .*{victim.name} is missing or not whole"):
        kind.prepare(raw, out, merge=True)
    victim.unlink()
    with pytest.raises(InputError, match=rf"shard 2/2 .*{victim.name} is missing or not whole"):
        kind.prepare(raw, out, merge=True)
    kind.prepare(raw, out, shard="2/2")
    assert victim.read_bytes() == whole_file
    kind.prepare(raw, out, merge=True)
    assert contents(out) == whole


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text[:-9], "is no record of a shard"),
        (lambda text: "[]", "is no record of a shard"),
        (lambda text: text.replace('"format_version": 4', '"format_version": 9'), "this release"),
        (lambda text: text.replace('"train.', '"../train.'), "this release reads"),
        (lambda text: text.replace('"shard": "1/2"', '"shard": "2/2"'), "record of shard 2/2"),
    ],
)
def test_damaged_records_are_refused(change, reason, tmp_path) -> None:
    kind = KINDS["text"]
    kind.write(tmp_path)
    kind.shards(tmp_path, tmp_path / "out", 2)
    path = tmp_path / "out" / SHARDS / "1-of-2" / RECORD
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=rf"1-of-2/shard.json.*{reason}"):
        kind.prepare(tmp_path, tmp_path / "out", merge=True)


def test_shards_from_other_machines_are_copied_beside_each_other(
    kind, raw, tmp_path, monkeypatch
) -> None:
    for number in (1, 2):  # each machine has the input elsewhere
        shutil.copytree(raw, tmp_path / f"machine{number}" / "data")
        monkeypatch.chdir(tmp_path / f"machine{number}")
        kind.prepare(Path("data"), Path("out"), shard=f"{number}/2")
    shutil.copytree("out", tmp_path / "machine1" / "out", dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "machine1")
    kind.prepare(Path("data"), Path("out"), merge=True)
    kind.prepare(Path("data"), Path("whole"))
    assert contents(Path("out")) == contents(Path("whole"))


def test_parallel_text_may_lie_elsewhere_on_each_machine(tmp_path) -> None:
    kind = KINDS["translation cut at once"]
    kind.write(tmp_path)
    for number in (1, 2):
        shutil.copytree(tmp_path, tmp_path.with_name(f"{tmp_path.name}-{number}"))
        place = tmp_path.with_name(f"{tmp_path.name}-{number}")
        kind.prepare(place, tmp_path / "out", shard=f"{number}/2")
    kind.prepare(tmp_path, tmp_path / "out", merge=True)
    kind.prepare(tmp_path, tmp_path / "whole")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_shards_of_other_bytes_are_refused(kind, raw, tmp_path) -> None:
    kind.shards(raw, tmp_path / "out", 2)
    victim = min((tmp_path / "out" / SHARDS / "2-of-2" / WORK).glob("train.0*"))
    found = victim.read_bytes()
    victim.write_bytes(found[:-2] + bytes([found[-2] ^ 1]) + found[-1:])
    with pytest.raises(InputError, match=rf"shard 2/2 .*{victim.name} is missing or not whole"):
        kind.prepare(raw, tmp_path / "out", merge=True)


def test_files_of_another_tool_are_seen_before_a_shard_is_made(kind, raw, tmp_path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "dict.en.txt").write_text("precious 1\n")
    with pytest.raises(InputError, match=r"holds files of another tool.*dict.en.txt"):
        kind.prepare(raw, tmp_path / "out", shard="1/2")
    assert not (tmp_path / "out" / SHARDS).exists()


def test_every_shard_checks_all_input_first(kind, raw, tmp_path, monkeypatch) -> None:
    path = raw / kind.last[0]
    path.write_bytes(path.read_bytes() + b"\xff\n")
    monkeypatch.setattr(engine, "make", stop_now)
    for number in (1, 2):
        with pytest.raises(InputError, match=path.name):
            kind.prepare(raw, tmp_path / "out", shard=f"{number}/2")


def test_shards_of_one_folder_are_made_side_by_side(kind, raw, tmp_path, monkeypatch) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr("fairseq_plugins.prep.workspace.PATIENCE", 0.1)
    with locked(out / SHARDS / "1-of-2"):
        with pytest.raises(InputError, match=r"1-of-2 is being prepared by another process"):
            kind.prepare(raw, out, shard="1/2")
        kind.prepare(raw, out, shard="2/2")
    assert (out / SHARDS / "2-of-2" / RECORD).is_file()


def test_undivided_preparation_says_that_there_are_shards(
    kind, raw, whole, tmp_path, caplog
) -> None:
    kind.prepare(raw, tmp_path / "out", shard="1/2")
    kind.prepare(raw, tmp_path / "out")
    assert "holds shards, which --merge would take in" in caplog.text
    shutil.rmtree(tmp_path / "out" / SHARDS)
    assert contents(tmp_path / "out") == whole


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "/", "a/b", "1/2/3", "-1/3", "1.0/2"])
def test_impossible_shards_are_refused(text, kind, tmp_path) -> None:
    with pytest.raises(InputError, match=r"--shard .*: give i/n with i from 1 to n"):
        kind.options(tmp_path, tmp_path / "out", shard=text)


def test_one_part_and_all_together_are_refused(kind, tmp_path) -> None:
    with pytest.raises(InputError, match=r"--shard 1/2 makes one part and --merge"):
        kind.options(tmp_path, tmp_path / "out", shard="1/2", merge=True)


def test_shares_are_no_content(kind, tmp_path) -> None:
    made = [
        kind.options(tmp_path, tmp_path / "out", **values).recorded()
        for values in ({}, {"shard": "1/2"}, {"merge": True}, {"workers": 7, "overwrite": True})
    ]
    assert all(record == made[0] for record in made)
    assert not {"shard", "merge"} & made[0].keys()


@given(of=st.integers(1, 60), number=st.integers(0, 1000))
def test_every_chunk_is_of_exactly_one_shard_and_found_there(of, number) -> None:
    parts = tuple(Path(str(i)) for i in range(1, of + 1))
    owners = [
        i for i in range(1, of + 1) if WorkLayout(Path("f"), Path("w"), Shard(i, of)).owns(number)
    ]
    merge = WorkLayout(Path("f"), Path("w"), Shard(merge=True), parts)
    assert [merge.place(number)] == [parts[i - 1] for i in owners]
    assert merge.owns(number)
