"""The manifest: what it says, and files that are none."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.translation_manifest import TranslationManifest
from fairseq_plugins.errors import InputError


@pytest.fixture
def manifest() -> TranslationManifest:
    side = dict.fromkeys(("tokenizer", "normalizer", "subwords"), "x")
    side |= {"model": "codes.bpe", "vocabulary": None}
    return TranslationManifest(
        source_lang="en",
        target_lang="de",
        features=["pos"],
        segmentation={"source": side, "target": dict(side)},
        annotator={"name": "a", "version": "1", "hash": "00"},
        splits={"train": {"lines": 1, "read": 1, "tokens": {"en": 2, "de": 3, "en.pos": 2}}},
        options={"bpe_size": 3, "subset": {"seed": 1}},
    )


def test_saved_manifest_comes_back(manifest, tmp_path) -> None:
    manifest.save(tmp_path)
    assert read_manifest(tmp_path) == manifest
    assert [p.name for p in tmp_path.iterdir()] == [FILE_NAME]


def test_differences_name_each_decision(manifest) -> None:
    assert manifest.differences(replace(manifest, splits={})) == []
    options = {"bpe_size": 4, "subset": {"seed": 2}, "new": None}
    other = replace(manifest, options=options)
    assert manifest.differences(other) == [
        "options.bpe_size 3 -> 4",
        "options.subset.seed 1 -> 2",
    ]
    assert manifest.fingerprint() != other.fingerprint()


def test_files_are_streams_dictionaries_and_models(manifest, tmp_path) -> None:
    names = [path.name for path in manifest.files(tmp_path)]
    assert len(names) == len(set(names)) == 6 + 3 + 1
    assert {"codes.bpe", "dict.en.pos.txt", "train.en-de.en.pos.idx"} <= set(names)


def test_annotator_is_named_in_one_line(manifest) -> None:
    assert manifest.annotator_id == "a 1 00"
    assert replace(manifest, annotator={}).annotator_id == ""


def test_unfinished_folder_says_what_to_do(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="run the same command again"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no manifest"),
        ("[]", "is no manifest"),
        ("7", "is no manifest"),
        ("{}", "is no manifest"),
        ('{"format": "other", "format_version": 1}', "has format 'other' version 1"),
        ('{"format": "fairseq_plugins.translation", "format_version": 9}', "version 9"),
    ],
)
def test_file_that_is_no_manifest_is_refused(text, message, tmp_path) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(InputError, match=message):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "does not fit this release"),
        ({"features": "pos"}, "'features' is 'pos', expected a list"),
        ({"source_lang": None}, "'source_lang' is None, expected a str"),
        ({"splits": []}, r"'splits' is \[\], expected a dict"),
    ],
)
def test_manifest_that_does_not_fit_is_refused(change, message, manifest, tmp_path) -> None:
    manifest.save(tmp_path)
    body = json.loads((tmp_path / FILE_NAME).read_text())
    (tmp_path / FILE_NAME).write_text(json.dumps(body | change))
    with pytest.raises(InputError, match=message):
        read_manifest(tmp_path)


def test_manifest_that_lacks_a_field_is_refused(manifest, tmp_path) -> None:
    manifest.save(tmp_path)
    body = json.loads((tmp_path / FILE_NAME).read_text())
    del body["segmentation"]
    (tmp_path / FILE_NAME).write_text(json.dumps(body))
    with pytest.raises(InputError, match="segmentation"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("name", ["/etc/passwd", "../codes.bpe", "a/b", "..", ""])
@pytest.mark.parametrize("place", ["model", "split", "stream", "lang"])
def test_names_that_lead_out_of_the_folder_are_refused(manifest, tmp_path, name, place) -> None:
    if place == "model":
        manifest.segmentation["target"]["model"] = name or "."
    elif place == "split":
        manifest.splits[name] = manifest.splits.pop("train")
    elif place == "stream":
        manifest.splits["train"]["tokens"][name] = 1
    else:
        manifest = replace(manifest, source_lang=name)
    manifest.save(tmp_path)
    with pytest.raises(InputError, match="no plain file name"):
        read_manifest(tmp_path)


def test_nested_entries_that_lack_a_part_are_refused(manifest, tmp_path) -> None:
    del manifest.segmentation["target"]["tokenizer"]
    manifest.save(tmp_path)
    with pytest.raises(InputError, match="segmentation lacks 'target'"):
        read_manifest(tmp_path)
    manifest.segmentation["target"] |= {"tokenizer": ["moses"]}
    manifest.save(tmp_path)
    with pytest.raises(InputError, match=r"of 'target' says \['moses'\] for 'tokenizer'"):
        read_manifest(tmp_path)
    replace(manifest, segmentation={}, splits={}).save(tmp_path)
    with pytest.raises(InputError, match="segmentation lacks 'source'"):  # of a run as well
        read_manifest(tmp_path)
    manifest.segmentation["target"] |= {"tokenizer": "moses", "sequences": "yes"}
    manifest.save(tmp_path)
    with pytest.raises(InputError, match="of 'target' says 'yes' for 'sequences'"):
        read_manifest(tmp_path)
    del manifest.segmentation["target"]["sequences"]
    manifest.splits["train"].pop("lines")
    manifest.save(tmp_path)
    with pytest.raises(InputError, match="'train' lacks its counts"):
        read_manifest(tmp_path)
