"""Text parsed as it is written or in small letters: in folders, on raw text, in bundles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from raw_corpora import contents
from raw_text import CASED, rows_of, text_options, write_pretrained, write_table

from fairseq_plugins.bundles.folder import kept_manifest
from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.data.manifest import Manifest
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.text.lowered import LoweredAnnotator
from fairseq_plugins.text.text_encoder import TextEncoder

LINES = ["The US Beat Mr Brown .", "MARY Saw The Apple", "a dog Barked At May"]


@pytest.fixture
def raw(tmp_path) -> Path:
    """A folder with a table, a pretrained directory that lower-cases and one that does not."""
    write_pretrained(tmp_path / "bert")
    write_pretrained(tmp_path / "cased", CASED)
    rows = [(line, "yes" if i else "no") for i, line in enumerate(LINES)]
    write_table(tmp_path / "train.tsv", ("text", "label"), *rows)
    return tmp_path


def prepared(raw: Path, name: str, **given) -> Manifest:
    given = {"dataset": "plain", "train_file": raw / "train.tsv", **given}
    return prepare(text_options(raw, name, **given))


def parses(folder: Path) -> list:
    return [rows_of(folder, "train", name) for name in ("pos0", "heads0")]


@pytest.mark.parametrize("tokenize", ["whitespace", "spacy"])
def test_small_letters_change_parses_and_nothing_else(raw, tokenize) -> None:
    one = prepared(raw, "one", tokenize=tokenize)
    two = prepared(raw, "two", tokenize=tokenize, parse_text="as-tokenised")
    small = [(line.lower(), "yes" if i else "no") for i, line in enumerate(LINES)]
    write_table(raw / "small.tsv", ("text", "label"), *small)
    prepared(raw, "small", tokenize=tokenize, train_file=raw / "small.tsv")
    assert parses(raw / "two") != parses(raw / "one")
    assert parses(raw / "two") == parses(raw / "small")
    for name in ("tokens0", "words0", "case0"):
        assert rows_of(raw / "two", "train", name) == rows_of(raw / "one", "train", name)
    assert two.annotator == one.annotator | {"text": "as-tokenised"}
    assert two.annotator_id == f"{one.annotator_id} as-tokenised"


def test_parses_of_cased_text_are_what_they_were(raw) -> None:
    prepared(raw, "one")
    prepared(raw, "two", parse_text="cased")
    assert contents(raw / "one") == contents(raw / "two")
    assert "as-tokenised" not in (raw / "two" / "manifest.json").read_text()
    assert "parse_text" not in (raw / "two" / "manifest.json").read_text()


def test_an_encoder_of_cased_text_has_cased_text_parsed(raw) -> None:
    found = [
        prepared(raw, f"in-{value}", pretrained=raw / "cased", parse_text=value)
        for value in ("cased", "as-tokenised")
    ]
    assert parses(raw / "in-cased") == parses(raw / "in-as-tokenised")
    assert found[0].annotator == found[1].annotator


@pytest.mark.slow
def test_raw_text_is_parsed_as_the_folder_was(raw, caplog) -> None:
    """Also by what a bundle keeps of the folder."""
    for value in ("cased", "as-tokenised"):
        folder, manifest = raw / f"in-{value}", prepared(raw, f"in-{value}", parse_text=value)
        for known in (read_manifest(folder, TextManifest), kept_manifest(manifest)):
            coder = TextEncoder.from_folder(folder, known)
            assert isinstance(coder.annotator, LoweredAnnotator) is (value == "as-tokenised")
            rows = coder.encode([Example("0", (line,)) for line in LINES])
            found = [[row.layers[name] for (row,) in rows] for name in ("pos", "heads")]
            assert found == parses(folder)
    assert "DIFFERS" not in caplog.text


def test_a_folder_is_not_finished_by_another_option(raw) -> None:
    prepared(raw, "out", parse_text="as-tokenised")
    with pytest.raises(InputError, match=r"parse_text"):
        prepared(raw, "out")
    prepared(raw, "out", overwrite=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parse_text": "lower"}, "--parse-text 'lower': choices are cased, as-tokenised"),
        ({"parse_text": "as-tokenised", "layers": "none"}, "no pipeline to show text to: --layers"),
        (
            {"parse_text": "as-tokenised", "train_conllu": "x.conllu"},
            "no pipeline to show text to: CoNLL-U files are parsed already",
        ),
    ],
)
def test_what_has_no_work_to_do_is_refused(raw, given, message) -> None:
    with pytest.raises(InputError, match=message):
        prepared(raw, "out", **given)


def test_a_manifest_that_says_otherwise_is_refused(raw) -> None:
    prepared(raw, "out", parse_text="as-tokenised")
    path = raw / "out" / "manifest.json"
    body = json.loads(path.read_text())
    body["annotator"]["text"] = "upper"
    path.write_text(json.dumps(body))
    with pytest.raises(InputError, match="was shown 'upper'; choices: cased, as-tokenised"):
        read_manifest(raw / "out", TextManifest)
