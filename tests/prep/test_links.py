"""Links in the place of what a preparation writes and removes: nothing elsewhere is touched."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import prepared
import pytest
from raw_corpora import contents

from fairseq_plugins.augment.perturbation.record import (
    ORIGINAL,
    RawRows,
    check_free,
    write_set,
)
from fairseq_plugins.augment.squad_augmentation import open_work
from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.products import with_products
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.shards import RECORD, SHARDS
from fairseq_plugins.prep.shares import Share
from fairseq_plugins.prep.subset import write_subset
from fairseq_plugins.prep.workspace import LOCK, WORK

prepares = pytest.mark.usefixtures("rule_tagger", "small_chunks", "rules_and_small_parts")


@pytest.fixture
def elsewhere(tmp_path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("precious.txt", "fingerprint.json", "train.000000.npz"):
        (folder / name).write_text("precious")
    return folder


def precious(elsewhere: Path) -> bool:
    found = contents(elsewhere)
    return len(found) == 3 and {*found.values()} == {b"precious"}


def test_what_was_done_through_links_does_harm(elsewhere, tmp_path):
    """The control: each of these steps reaches what lies behind a link when nobody looks."""
    (tmp_path / "lock").symlink_to(elsewhere / "precious.txt")
    with open(tmp_path / "lock", "a+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stream.truncate(0)
    assert (elsewhere / "precious.txt").read_text() == ""
    (tmp_path / "work").symlink_to(elsewhere)
    for path in (tmp_path / "work").iterdir():
        path.unlink()
    assert not precious(elsewhere)
    assert list(elsewhere.iterdir()) == []


@prepares
@pytest.mark.parametrize("name", [WORK, LOCK])
def test_linked_work_and_locks_are_refused(name, kind, raw, elsewhere, tmp_path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / name).symlink_to(elsewhere / ("precious.txt" if name == LOCK else ""))
    with pytest.raises(InputError, match=rf"{name} is a symbolic link, to .*; remove the link"):
        kind.prepare(raw, out)
    assert precious(elsewhere)
    assert not (out / FILE_NAME).exists()
    (out / name).unlink()
    kind.prepare(raw, out)


@prepares
def test_linked_products_are_replaced_and_a_linked_folder_is_welcome(
    kind, raw, whole, elsewhere, tmp_path
) -> None:
    other_disk, out = tmp_path / "disk", tmp_path / "out"
    other_disk.mkdir()
    out.symlink_to(other_disk)
    for name in whole:
        (out / name).symlink_to(elsewhere / "precious.txt")
    kind.prepare(raw, out, overwrite=True)
    assert contents(other_disk) == whole
    assert not any(path.is_symlink() for path in other_disk.iterdir())
    assert out.is_symlink()
    assert precious(elsewhere)


@prepares
@pytest.mark.parametrize("name", [SHARDS, f"{SHARDS}/1-of-2", f"{SHARDS}/1-of-2/{WORK}"])
def test_linked_shards_are_refused(name, kind, raw, whole, elsewhere, tmp_path) -> None:
    out, moved = tmp_path / "out", tmp_path / "moved"
    kind.shards(raw, out, 2)
    shutil.move(out / name, moved)
    (out / name).symlink_to(moved)
    before = contents(moved)
    for values in ({"merge": True}, {"shard": "1/2"}, {"shard": "1/2", "overwrite": True}):
        with pytest.raises(InputError, match=r"is a symbolic link, to .*; remove the link"):
            kind.prepare(raw, out, **values)
        assert contents(moved) == before
    (out / name).unlink()
    shutil.move(moved, out / name)
    record = out / SHARDS / "1-of-2" / RECORD
    (tmp_path / "record").write_bytes(record.read_bytes())
    record.unlink()
    record.symlink_to(tmp_path / "record")
    with pytest.raises(InputError, match="is a symbolic link"):
        kind.prepare(raw, out, merge=True)
    record.unlink()
    (tmp_path / "record").rename(record)
    kind.prepare(raw, out, merge=True)
    assert contents(out) == whole


def test_a_subset_writes_through_no_link(elsewhere, tmp_path) -> None:
    pairs = prepared.random_pairs(8)
    folder = prepared.prepare(tmp_path / "whole", {"train": pairs, "valid": pairs[:3]})
    (folder / "notes").write_text("codes")
    manifest = read_manifest(folder)
    manifest.segmentation["source"]["model"] = "notes"  # no name that an own product has
    with_products(folder, manifest).save(folder)
    half = tmp_path / "half"
    half.mkdir()
    (half / "notes").symlink_to(elsewhere / "precious.txt")
    write_subset(folder, half, Share(0.5, 1))
    assert (half / "notes").read_text() == "codes"
    assert precious(elsewhere)
    (half / FILE_NAME).unlink()
    (half / WORK).symlink_to(elsewhere)
    with pytest.raises(InputError, match="is a symbolic link"):
        write_subset(folder, half, Share(0.5, 1))
    assert precious(elsewhere)


def test_augmentation_work_is_no_link(elsewhere, tmp_path) -> None:
    path = tmp_path / "out.json.work"
    for link in (path.symlink_to, path.hardlink_to):
        link(elsewhere / "precious.txt")
        with (
            pytest.raises(InputError, match="is a symbolic link|has another name"),
            open_work(path, "fingerprint"),
        ):
            pass
        assert precious(elsewhere)
        path.unlink()
    with open_work(path, "fingerprint") as (found, keep):
        keep({"a": "b"})
    with open_work(path, "fingerprint") as (found, keep):
        assert found == {"a": "b"}


def test_perturbed_folders_replace_nothing_behind_a_link(elsewhere, tmp_path) -> None:
    record = {"transformation": "SwapAnt", "file": "precious.txt", "kept": False}
    rows = RawRows(None, (), b"head\n", {})
    out = tmp_path / "SwapAnt"
    write_set(out, record, rows, ())
    shutil.rmtree(out / ORIGINAL)
    (out / ORIGINAL).symlink_to(elsewhere)
    for work in (lambda: check_free(out, record), lambda: write_set(out, record, rows, ())):
        with pytest.raises(InputError, match="is a symbolic link"):
            work()
    assert precious(elsewhere)
    (out / ORIGINAL).unlink()
    (out / "precious.txt").unlink()
    (out / "precious.txt").symlink_to(elsewhere / "precious.txt")
    write_set(out, record, rows, ())
    assert precious(elsewhere)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
