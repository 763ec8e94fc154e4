"""Folders whose vocabulary is the words of their own training examples."""

from __future__ import annotations

import pytest
from prep.test_text import check_counts
from raw_text import rows_of, text_options, write_pretrained, write_table

from fairseq_plugins.data.manifest import Manifest
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest, load_vocabulary
from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.plan.prepare import check_prepare
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.pretrained.directory import DEFAULT
from fairseq_plugins.text.word_vocabulary import SPECIALS

HEAD = ("sentence1", "sentence2", "label")
ROWS = [("The dog isn't red.", "a Dog", "no"), ("the dog", "caf\u00e9 [SEP] the", "yes")]


@pytest.fixture
def raw(tmp_path):
    write_table(tmp_path / "train.tsv", HEAD, *ROWS)
    write_table(tmp_path / "valid.tsv", HEAD, ("the unseen dog", "##dog a", "yes"))
    return tmp_path


def made(raw, destdir: str, **given) -> Manifest:
    files = {"train_file": raw / "train.tsv", "valid_file": raw / "valid.tsv"}
    how = {"raw_dir": "", "annotations": "none", "pretrained": DEFAULT, "words_from": "train"}
    how |= {"text_column": "sentence1", "text2_column": "sentence2"}
    return prepare(text_options(raw, destdir, dataset="plain", **{**files, **how, **given}))


def pieces(folder) -> list[str]:
    return load_vocabulary(folder, read_manifest(folder, TextManifest)).pieces


def read(folder, split: str) -> list[list[str]]:
    known = pieces(folder)
    rows = zip(*(rows_of(folder, split, f"tokens{k}") for k in (0, 1)))
    return [[known[token] for token in side] for pair in rows for side in pair]


def test_a_folder_has_the_words_of_its_training_examples(raw) -> None:
    manifest = made(raw, "out")
    check_counts(raw / "out", manifest)
    assert pieces(raw / "out")[: len(SPECIALS)] == SPECIALS
    assert pieces(raw / "out")[len(SPECIALS) :] == [
        *(
            "dog",
            "the",
            "'",
            ".",
            "Dog",
            "SEP",
            "The",
            "[",
            "]",
            "a",
            "caf\u00e9",
            "isn",
            "red",
            "t",
        )
    ]
    assert read(raw / "out", "train")[3] == ["caf\u00e9", "[", "SEP", "]", "the"]
    unknown = "[UNK]"
    valid = [["the", unknown, "dog"], [unknown, unknown, "dog", "a"]]
    assert read(raw / "out", "valid") == valid
    assert manifest.options["pretrained"] == "none"


def test_words_are_counted_and_lower_cased_as_they_are_asked_for(raw) -> None:
    manifest = made(raw, "out", lowercase=True, min_count=2)
    assert pieces(raw / "out")[len(SPECIALS) :] == ["dog", "the"]
    assert (manifest.options["min_count"], manifest.tokenizer["lowercase"]) == (2, True)
    with pytest.raises(InputError, match="--min-count 9: no word is that frequent; the most is 3"):
        made(raw, "other", lowercase=True, min_count=9)


def test_held_out_examples_give_no_words(raw) -> None:
    rows = [(f"word{number} the", "dog", "yes") for number in range(20)]
    write_table(raw / "train.tsv", HEAD, *rows)
    made(raw, "out", valid_file="", valid_fraction=0.5)
    found = {word for row in read(raw / "out", "train") for word in row}
    assert set(pieces(raw / "out")) == {*SPECIALS, *found}
    assert "[UNK]" in {word for row in read(raw / "out", "valid") for word in row}


def test_other_data_are_prepared_with_the_words_of_a_folder(raw) -> None:
    made(raw, "first", lowercase=True)
    other = made(raw, "second", train_file=raw / "valid.tsv", words_from=raw / "first")
    assert pieces(raw / "second") == pieces(raw / "first")
    assert other.tokenizer["lowercase"]
    assert read(raw / "second", "train") == read(raw / "first", "valid")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pretrained": "bert"}, "--words-from train gives the vocabulary, and so does --pretr"),
        ({"words_from": "", "min_count": 2}, "--min-count and --lowercase are of --words-from tr"),
        ({"train_file": ""}, "there is no training file; give the folder"),
        ({"words_from": "pieces"}, "was not prepared with --words-from; give --pretrained"),
        ({"words_from": "nowhere"}, "nowhere: no such folder; fairseq-plugins prepare text"),
    ],
)
def test_what_does_not_go_together_is_refused(raw, given, message) -> None:
    if given.get("words_from") == "pieces":
        write_pretrained(raw / "bert")
        made(raw, "pieces", words_from="", pretrained=raw / "bert")
    if given.get("words_from"):
        given = {"words_from": raw / given["words_from"]}
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        made(raw, "out", **given)


def test_files_of_experiments_may_ask_for_words_but_name_no_folder() -> None:
    check_prepare({"words-from": "train", "min-count": 2, "lowercase": True}, "snli")
    with pytest.raises(InputError, match="words-from"):
        check_prepare({"words-from": "../elsewhere"}, "snli")
