"""What a run keeps of its prepared folder: enough for raw text, whole, and its own alone."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
from dataclasses import replace
from pathlib import Path

import prepared
import pytest
from prepared_text import examples, prepare

from fairseq_plugins.bundles.run_folder import (
    FOLDER,
    Origin,
    check_place,
    keep,
    kept_by,
    open_copy,
    prepared_folder,
    told_of,
    unlike,
)
from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.products import with_products
from fairseq_plugins.data.text_folders import open_folder
from fairseq_plugins.data.translation_folders import load_layers, shared_manifest
from fairseq_plugins.errors import InputError

SPLITS = {"train": examples("classes", 30, 1), "valid": examples("classes", 7, 2)}


@pytest.fixture
def folder(tmp_path) -> Path:
    return prepare(tmp_path / "data", "classes", SPLITS)


@pytest.fixture
def run(folder, tmp_path) -> Path:
    keep(tmp_path / "run", folder, "for people")
    return tmp_path / "run"


def found(run: Path, folder: Path, *, copy: str | None = None, given: Path | None = None) -> str:
    """Return where a checkpoint of the run reads."""
    origin = Origin(str(folder), copy=kept_by(run) if copy is None else copy)
    return prepared_folder(run / "checkpoint_best.pt", origin, given)


def change(folder: Path, **fields) -> None:
    """Let a manifest say something else."""
    manifest = read_manifest(folder)
    replace(manifest, **fields).save(folder)


def test_it_holds_what_raw_text_needs_and_no_data(folder, run) -> None:
    names = {path.name for path in (run / FOLDER).iterdir()}
    assert names == {"README.md", "labels.txt", FILE_NAME, "vocab.txt"}
    for name in ("labels.txt", "vocab.txt"):
        assert (run / FOLDER / name).read_bytes() == (folder / name).read_bytes()
    manifest = open_folder(run / FOLDER, "text_classification")
    assert (manifest.splits, {*manifest.products}) == ({}, {"labels.txt", "vocab.txt"})
    assert manifest.labels == read_manifest(folder).labels
    assert str(folder.parent) not in (run / FOLDER / FILE_NAME).read_text()
    assert [path.name for path in run.iterdir()] == [FOLDER]


def test_it_holds_dictionaries_and_inventories_of_parallel_text(tmp_path) -> None:
    pairs = {"train": prepared.random_pairs(20)}
    folder = prepared.prepare(tmp_path / "data", pairs, parse=True, truecase=True)
    keep(tmp_path / "run", folder, "")
    place = tmp_path / "run" / FOLDER
    names = {path.name for path in place.iterdir()} - {"README.md"}
    assert names == {path.name for path in folder.iterdir() if "train" not in path.name}
    kept, whole = (shared_manifest([str(path)]) for path in (place, folder))
    layers = load_layers([str(place)], kept)
    assert [layer.name for layer in layers] == [one.name for one in load_layers([folder], whole)]
    os.remove(folder / "train.en-de.en.bin")  # raw text needs no streams
    assert unlike(place, folder) == ""
    lines = (folder / "dict.en.txt").read_text().splitlines()
    (folder / "dict.en.txt").write_text("".join(f"{line}\n" for line in reversed(lines)))
    assert "dict.en.txt" in unlike(place, folder)


def test_the_folder_is_read_while_it_is_as_it_was(folder, run) -> None:
    assert found(run, folder) == str(folder)
    moved = run.rename(run.with_name("moved"))
    assert found(moved, folder) == str(folder)
    folder.rename(folder.with_name("gone"))
    assert found(moved, folder) == str(moved / FOLDER)
    assert found(moved, folder, given=folder.with_name("gone")) == str(folder.with_name("gone"))


@pytest.mark.parametrize(
    "changed",
    [
        {"labels": ["yes", "no"]},
        {"annotator": {"name": "toy", "version": "2", "hash": "def"}},
        {"inputs": {"wordnet": {"version": "4"}}},
        {"tokenize": "characters"},
        "vocab.txt",
        "examples gone",
    ],
    ids=str,
)
def test_a_folder_that_was_changed_is_not_read(folder, run, caplog, changed) -> None:
    if changed == "vocab.txt":
        text = (folder / changed).read_text()
        (folder / changed).write_text(text.replace("\nnew\n", "\nnow\n"))
        assert (folder / changed).read_text() != text
    elif changed == "examples gone":
        os.remove(folder / "train.tokens0.bin")
    else:
        change(folder, **changed)
    with caplog.at_level(logging.WARNING):
        assert found(run, folder) == str(run / FOLDER)
    assert f"{folder} is not as it was" in caplog.text
    assert found(run, folder, given=folder) == str(folder)
    assert found(run, folder, copy="") == str(folder)  # a checkpoint of an older release


def test_other_data_and_other_tools_make_no_difference(folder, run) -> None:
    prepare(folder, "classes", {"more": examples("classes", 9, 5)}, versions={"spacy": "9"})
    assert found(run, folder) == str(folder)


def test_of_several_folders_the_first_is_compared(folder, run, tmp_path) -> None:
    both = f"{folder}{os.pathsep}{prepare(tmp_path / 'other', 'classes', SPLITS)}"
    assert prepared_folder(run / "a.pt", Origin(both, copy=kept_by(run))) == both
    (tmp_path / "other").rename(tmp_path / "gone")
    assert prepared_folder(run / "a.pt", Origin(both, copy=kept_by(run))) == str(run / FOLDER)


def test_another_runs_copy_is_not_taken(folder, run, tmp_path) -> None:
    strange = "0" * 64
    assert found(run, folder, copy=strange) == str(folder)
    folder.rename(tmp_path / "gone")
    with pytest.raises(FileNotFoundError) as caught:
        found(run, folder, copy=strange)
    assert all(part in str(caught.value) for part in (str(folder), str(run / FOLDER), "--data"))
    with pytest.raises(FileNotFoundError, match="folder nowhere is not there; give its place"):
        found(run, folder, given=Path("nowhere"))


@pytest.mark.parametrize("name", ["", "vocab.txt", FILE_NAME])
def test_links_are_refused(folder, run, tmp_path, name) -> None:
    outside = (run / FOLDER / name).rename(tmp_path / "outside")
    (run / FOLDER / name).symlink_to(outside)
    with pytest.raises(InputError, match=r"prepared.* is a symbolic link"):
        found(run, folder)
    if not name:
        with pytest.raises(InputError, match="is a symbolic link"):
            check_place(run, folder)


@pytest.mark.parametrize("harm", ["other", "longer", "gone"])
def test_files_that_were_changed_are_refused(folder, run, harm) -> None:
    path = run / FOLDER / "labels.txt"
    content = {"other": b"no\nyet\n", "longer": b"no\nyes\nmaybe\n"}
    path.write_bytes(content[harm]) if harm in content else path.unlink()
    with pytest.raises((ValueError, FileNotFoundError), match=r"labels\.txt .*unchanged copy"):
        found(run, folder)


def test_a_manifest_that_leads_elsewhere_is_refused(tmp_path) -> None:
    folder = prepared.prepare(tmp_path / "data", {"train": prepared.random_pairs(5)})
    keep(tmp_path / "run", folder, "")
    path = tmp_path / "run" / FOLDER / FILE_NAME
    body = json.loads(path.read_text())
    body["segmentation"]["source"]["model"] = "../../secret"
    path.write_text(json.dumps(body))
    with pytest.raises(InputError, match="no plain file name"):
        open_copy(path.parent)


def test_a_place_is_free_kept_or_taken(folder, run, tmp_path) -> None:
    assert not check_place(tmp_path / "new", folder)
    assert check_place(run, folder)
    other = prepare(tmp_path / "other", "classes", SPLITS, labels=["yes", "no"])
    assert not check_place(run, other)  # nothing was trained yet
    before = kept_by(run)
    keep(run, other, "")
    assert kept_by(run) != before
    assert [path.name for path in run.iterdir()] == [FOLDER]
    assert open_copy(run / FOLDER).labels == ["yes", "no"]
    (run / "checkpoint_last.pt").touch()
    assert check_place(run, other)
    with pytest.raises(InputError, match="checkpoint_last.pt.*labels.*another --save-dir"):
        check_place(run, folder)


def test_a_prepared_folder_that_lies_there_is_never_touched(folder, tmp_path) -> None:
    own = prepare(tmp_path / "run" / FOLDER, "classes", SPLITS)
    with pytest.raises(InputError, match="prepared is there.*another --save-dir"):
        check_place(tmp_path / "run", folder)
    assert check_place(tmp_path / "run", own)
    assert found(tmp_path / "run", own) == str(own)
    os.remove(own / FILE_NAME)
    with pytest.raises(InputError, match="prepared is there"):
        check_place(tmp_path / "run", folder)


def made(place: Path, splits: dict, **fields) -> Path:
    """Prepare a folder whose manifest has the hashes of all files."""
    prepare(place, "classes", splits, **fields)
    with_products(place, read_manifest(place)).save(place)
    return place


NAMES = ["data-bin/toy", "data", "данные", "数据", "بيانات", "🙂 data", "a b", "x'y"]
TEST = {"test": examples("classes", 5, 3)}
HASHES = {"inputs": {"train": {"sha256": "1" * 64}, "valid": {"sha256": "2" * 64}}}
OTHER = {"inputs": {"train": {"sha256": "1" * 64}, "valid": {"sha256": "3" * 64}}}


@pytest.fixture(scope="module")
def variants(tmp_path_factory) -> dict[str, Path]:
    """A folder that a run was trained on, copies of it, and others that read text alike."""
    root = tmp_path_factory.mktemp("variants")
    other = {"train": SPLITS["train"], "valid": examples("classes", 7, 9)}
    return {
        "own": made(root / "own", SPLITS, **HASHES),
        "own and more": made(root / "more", SPLITS | TEST, **HASHES),
        "other validation": made(root / "other", other, **OTHER),
        "other training": made(root / "training", SPLITS | {"train": other["valid"]}, **OTHER),
        "test alone": made(root / "test", TEST, **OTHER),
        "no manifest": prepare(root / "none", "classes", SPLITS),
    }


@pytest.mark.parametrize("release", ["this", "earlier"])
def test_data_of_another_folder_are_never_taken_for_the_runs(
    variants, tmp_path, monkeypatch, caplog, release
) -> None:
    os.remove(variants["no manifest"] / FILE_NAME) if release == "this" else None
    dice, outcomes = random.Random(2), []
    for number in range(120):
        here, there = (tmp_path / str(number) / name for name in ("here", "there"))
        typed = Path(dice.choice(NAMES))
        for place in (here, there):
            (place / typed).parent.mkdir(parents=True)
        shutil.copytree(variants["own"], here / typed)
        monkeypatch.chdir(here)
        asked = str(typed if dice.random() < 0.7 else here / typed)
        run = here / "run"
        keep(run, here / typed, "")
        told = told_of(run, asked) if release == "this" else {"prepared": kept_by(run)}
        if dice.random() < 0.3:
            run = run.rename(there / "moved")
        if dice.random() < 0.3 and release == "this":
            shutil.rmtree(run / FOLDER)
        lies = {}
        for place in (here, there):
            lies[place] = dice.choice([*variants, "nothing"])
            shutil.rmtree(place / typed, ignore_errors=True)
            if lies[place] != "nothing":
                (place / typed).symlink_to(variants[lies[place]])
        monkeypatch.chdir(dice.choice([here, there]))
        caplog.clear()
        try:
            read = prepared_folder(run / "checkpoint_best.pt", Origin.of(asked, told))
        except (ValueError, FileNotFoundError) as error:
            outcomes.append("refused" if "--data" in str(error) else str(error))
            continue
        data = read_manifest(Path(read)).splits.keys() & SPLITS.keys()
        if Path(read) == run / FOLDER:
            assert not data
            outcomes.append("copy" if caplog.text else "copy, nothing there")
            continue
        for name in SPLITS:
            file = f"{name}.examples.jsonl"
            assert (Path(read) / file).read_bytes() == (variants["own"] / file).read_bytes()
        outcomes.append("own")
        if release == "this":
            fits = [place for place in (here, there) if lies[place].startswith("own")]
            assert Path(read).resolve() in [(place / typed).resolve() for place in fits]
    refused = ["refused"] if release == "this" else []
    assert {*outcomes} == {"own", "copy", "copy, nothing there", *refused}


@pytest.mark.parametrize(
    "state",
    [None, [], {"folder": 3, "splits": []}, {"splits": "a", "prepared": b"x"}, "x"],
)
def test_what_a_checkpoint_says_of_its_folder_is_read_by_type(state) -> None:
    assert Origin.of("data", state) == Origin("data")
    assert Origin.of(None, state) == Origin()


def test_data_that_nobody_could_have_written_are_others(variants) -> None:
    for splits in ({1: "a"}, {"valid": 2, None: []}, {("a",): "\x1b"}):
        other = Origin.of("data", {"splits": splits}).other_data(variants["own"])
        assert "are others" in other
        assert other.isprintable()
