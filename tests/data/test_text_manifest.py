"""The manifest of a folder of examples: its files, and files that are none of it."""

from __future__ import annotations

import json

import pytest

from fairseq_plugins.data.folder_names import WINDOWS
from fairseq_plugins.data.manifest import FILE_NAME, Manifest
from fairseq_plugins.data.manifests import is_product, read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.data.translation_manifest import TranslationManifest
from fairseq_plugins.errors import InputError

SPANS = {
    "task": "extractive_qa",
    "target": "spans",
    "labels": [],
    "positive": "",
    "splits": {},
    "windows": {"max_positions": 384, "doc_stride": 128, "max_query_length": 64},
}


def manifest(**changes) -> Manifest:
    """A manifest of pairs with classes."""
    values = {
        "dataset": "toy",
        "task": "text_classification",
        "target": "classes",
        "labels": ["no", "yes"],
        "positive": "yes",
        "metric": "f1",
        "sentences": 2,
        "tokenizer": {"lowercase": True, "strip_accents": True, "chinese_characters": True},
        "tokenize": "whitespace",
        "annotations": ["pos", "heads"],
        "annotator": {"name": "a", "version": "1", "hash": "00"},
        "splits": {
            "train": {"examples": 3, "labelled": 3, "tokens": 9, "words": 9, "longest": 5},
            "test": {"examples": 2, "labelled": 0, "tokens": 4, "words": 4, "longest": 5},
        },
    }
    return TextManifest(**{**values, **changes})


def test_saved_manifest_comes_back(tmp_path) -> None:
    manifest().save(tmp_path)
    assert read_manifest(tmp_path, TextManifest) == manifest()
    assert read_manifest(tmp_path, TextManifest).annotator_id == "a 1 00"


def test_files_are_streams_texts_and_labels(tmp_path) -> None:
    names = {path.name for path in manifest().files(tmp_path)}
    streams = {f"{s}{k}" for s in ("tokens", "words", "case", "pos", "heads") for k in (0, 1)}
    assert {name for name in names if name.startswith("test.")} == {
        *(f"test.{stream}.{ext}" for stream in streams for ext in ("bin", "idx")),
        "test.examples.jsonl",
    }
    assert {"train.label.bin", "train.label.idx", "labels.txt", "vocab.txt"} < names
    scores = manifest(target="score", labels=[], positive="", annotations=[], sentences=1)
    names = {path.name for path in scores.files(tmp_path)}
    assert "train.score.txt" in names
    assert not {"labels.txt", "test.score.txt", "train.pos0.bin", "train.tokens1.bin"} & names


def test_folder_of_spans_has_its_own_files(tmp_path) -> None:
    counts = {"examples": 3, "labelled": 0, "paragraphs": 1, "answerable": 0}
    spans = manifest(**{**SPANS, "splits": {"test": counts}})
    spans.save(tmp_path)
    assert read_manifest(tmp_path, TextManifest) == spans
    names = {path.name for path in spans.files(tmp_path)}
    own = {
        f"test.{name}.{ext}"
        for name in ("offsets1", "paragraph", "answers")
        for ext in ("bin", "idx")
    }
    assert {*own, "test.contexts.jsonl", "test.examples.jsonl", "misaligned.jsonl"} < names
    assert not {"labels.txt", "test.label.bin"} & names
    assert all(map(is_product, names))


def test_folder_of_an_older_release_has_no_windows(tmp_path) -> None:
    manifest().save(tmp_path)
    body = json.loads((tmp_path / FILE_NAME).read_text())
    del body["windows"]
    (tmp_path / FILE_NAME).write_text(json.dumps(body))
    assert read_manifest(tmp_path, TextManifest).windows == {}


def test_manifests_of_other_kinds_are_told_apart(tmp_path) -> None:
    manifest().save(tmp_path)
    with pytest.raises(InputError, match="folder of prepare text .*; one of prepare translation"):
        read_manifest(tmp_path, TranslationManifest)
    body = json.loads((tmp_path / FILE_NAME).read_text())
    body["format"] = TranslationManifest.FORM
    (tmp_path / FILE_NAME).write_text(json.dumps(body))
    with pytest.raises(InputError, match="folder of prepare translation; one of prepare text or "):
        read_manifest(tmp_path, TextManifest)


def test_folder_without_one_names_its_command(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no folder of prepare text"):
        read_manifest(tmp_path, TextManifest)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "spans"}, "no target 'spans' of task 'text_classification'"),
        ({"target": "word_labels"}, "no target 'word_labels' of task 'text_classification'"),
        ({"sentences": 3}, "'sentences' is 3, expected 1 or 2"),
        ({"tokenize": "moses"}, "'tokenize' is 'moses'; choices are whitespace, characters, spacy"),
        ({"annotations": ["gist"]}, r"'annotations' are \['gist'\]; choices are pos, case"),
        ({"target": "score"}, "target 'score' does not go with the labels"),
        ({"labels": []}, "target 'classes' does not go with the labels"),
        ({"labels": ["a", "a"]}, "a label is named twice"),
        ({"positive": "maybe"}, "the positive label 'maybe' is none of"),
        ({"splits": {"train": {"examples": 3}}}, "split 'train' lacks its counts"),
        ({"labels": [1, 2]}, r"'labels' are \[1, 2\], expected texts"),
        ({"labels": [["a"], ["b"]]}, "'labels' are .*, expected texts"),
        ({"labels": ["yes", "n\no"]}, "a label is empty, or holds a tab or line break"),
        ({"annotations": [["pos"]]}, "'annotations' are .*, expected texts"),
        ({"tokenizer": {"lowercase": True}}, "'tokenizer' says None for 'strip_accents'"),
        ({"splits": {"train": [3]}}, "split 'train' lacks its counts"),
        ({"splits": {"train": {"examples": -1, "labelled": 0}}}, "split 'train' lacks its counts"),
        ({"submission": {"test": {"file": "../x", "labels": {}}}}, "'../x' is no plain file name"),
        ({"submission": {"test": {"file": "x"}}}, "submission of split 'test' lacks its file or"),
        ({"submission": {"test": "x"}}, "submission of split 'test' lacks its file or labels"),
        ({"splits": {"../x": {"examples": 1, "labelled": 1}}}, "'../x' is no plain file name"),
        ({**SPANS, "labels": ["a"]}, "target 'spans' does not go with the labels"),
        ({**SPANS, "sentences": 1}, "'spans' are of questions and contexts"),
        ({**SPANS, "annotations": ["similarity"]}, "'spans' are of questions and contexts"),
        ({**SPANS, "windows": {"max_positions": 384}}, "'windows' are .*, expected a number above"),
        ({**SPANS, "windows": dict.fromkeys(WINDOWS, 0)}, "'windows' are .*, expected a number"),
        ({**SPANS, "splits": {"train": {"examples": 1, "labelled": 1}}}, "lacks its counts"),
    ],
)
def test_entries_that_do_not_fit_are_refused(changes, message, tmp_path) -> None:
    manifest(**changes).save(tmp_path)
    with pytest.raises(InputError, match=message):
        read_manifest(tmp_path, TextManifest)


def test_bottomless_json_is_no_manifest(tmp_path) -> None:
    (tmp_path / FILE_NAME).write_text("[" * 100_000)
    with pytest.raises(InputError, match="is no manifest of fairseq_plugins"):
        read_manifest(tmp_path, TextManifest)
