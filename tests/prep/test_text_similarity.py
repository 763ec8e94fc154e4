"""Word similarities on their way into a prepared folder, and from it to raw text."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
from raw_corpora import contents
from raw_datasets import write_raw
from raw_text import RuleParser, examples_of, rows_of, text_options, word_pieces, write_pretrained
from small_wordnet import SENSES, write_small_wordnet

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.errors import InputError
from fairseq_plugins.prep.recipes import text as text_recipe
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.syntax.layers import layers_of
from fairseq_plugins.text import text_encoder, wordnet
from fairseq_plugins.text.text_encoder import TextEncoder
from fairseq_plugins.text.word_similarity import RULE, WordSimilarity

PAIRS = [
    ("A dog sees the Cat .", "the hound falls"),
    ("buy", "We bought a big car, didn't we?"),
    ("small", "large large"),
    ("\u200b", "\u200b"),
    *((f"the day {i} of cats", "a night of dogs") for i in range(8)),
]
EVERYTHING = "pos,heads,similarity"


@pytest.fixture(autouse=True)
def _rule_parser(monkeypatch) -> None:
    """Put the rule where spaCy is loaded, and cut files into chunks of five examples."""

    def load(annotations, model="", tokenize=""):
        return RuleParser() if text_encoder.needs_annotator(annotations, tokenize) else None

    def reopen(folder, recorded, annotations, named, tokenize):
        return load(annotations, tokenize=tokenize)

    monkeypatch.setattr(text_recipe, "load_annotator", load)
    monkeypatch.setattr(text_encoder, "reopen_annotator", reopen)
    monkeypatch.setattr(text_recipe, "CHUNK_EXAMPLES", 5)


@pytest.fixture
def raw(tmp_path):
    """A raw folder of PAWS pairs, with a pretrained directory and a WordNet in it."""
    write_pretrained(tmp_path / "bert")
    write_small_wordnet(tmp_path / "wordnet")
    lines = [f"{i}\t{a}\t{b}\t{i % 2}\n" for i, (a, b) in enumerate(PAIRS)]
    (tmp_path / "dev.tsv").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def options(raw, destdir="out", annotations=EVERYTHING, **values):
    fixed = {"dataset": "paws_wiki", "raw_dir": "", "valid_file": raw / "dev.tsv"}
    if "similarity" in annotations:
        fixed["wordnet"] = raw / "wordnet"
    return text_options(raw, destdir, **{**fixed, "annotations": annotations, **values})


@pytest.mark.parametrize("tokenize", ["whitespace", "spacy"])
@pytest.mark.parametrize("annotations", [EVERYTHING, "similarity"])
def test_folder_holds_the_similarity_of_all_words_of_a_pair(raw, tokenize, annotations) -> None:
    manifest = prepare(options(raw, tokenize=tokenize, annotations=annotations))
    assert manifest.annotations == annotations.split(",")
    assert manifest.compares_words
    folder, similarity = raw / "out", WordSimilarity(raw / "wordnet")
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json",
        *(path.name for path in manifest.files(folder)),
    }
    assert "valid.similarity1.bin" in {path.name for path in manifest.files(folder)}
    names = manifest.annotations
    coder = TextEncoder(word_pieces(), tokenize, layers_of(names), RuleParser(), similarity)
    rows = rows_of(folder, "valid", "similarity1")
    assert np.fromfile(folder / "valid.similarity1.bin", np.uint8).tolist() == sum(rows, [])
    values = {value for row in rows for value in row}
    assert {0, 255} < values
    for row, example in zip(rows, examples_of(folder, "valid")):
        ((first, second),) = coder.encode([Example("0", tuple(example["texts"]))])
        assert row == similarity.table(first.words, second.words) == second.layers["similarity"]
        assert "similarity" not in first.layers


def test_numbers_stand_word_by_word_of_the_second_sentence(raw) -> None:
    coder = TextEncoder(word_pieces(), similarity=WordSimilarity(raw / "wordnet"))
    ((_, second),) = coder.encode([Example("0", ("the dog sees", "hound dog"))])
    assert second.layers["similarity"] == [0, 255, 0, 0, 255, 0]


def test_single_sentences_have_no_similarity(raw) -> None:
    coder = TextEncoder(word_pieces(), similarity=WordSimilarity(raw / "wordnet"))
    ((alone,),) = coder.encode([Example("0", ("the dog",))])
    assert "similarity" not in alone.layers


def test_number_of_workers_and_a_second_run_change_no_byte(raw) -> None:
    prepare(options(raw, "one"))
    for count in (2, 3):
        prepare(options(raw, f"by{count}", workers=count))
        assert contents(raw / f"by{count}") == contents(raw / "one")
    before = contents(raw / "one")
    prepare(options(raw, "one", overwrite=True))
    assert contents(raw / "one") == before


def test_database_and_rule_decide_the_folder(raw, monkeypatch) -> None:
    manifest = prepare(options(raw))
    entry = manifest.inputs["wordnet"]
    assert (entry["version"], entry["rule"]) == ("0.1", RULE)
    assert "nltk" in manifest.versions
    (raw / "wordnet").rename(raw / "moved")
    prepare(options(raw, wordnet=raw / "moved"))  # the same database: nothing to do
    write_small_wordnet(raw / "other", SENSES[:-2])
    with pytest.raises(InputError, match=r"inputs\.wordnet\.sha256"):
        prepare(options(raw, wordnet=raw / "other"))
    monkeypatch.setattr("fairseq_plugins.text.word_similarity.RULE", "max-wup-1")
    with pytest.raises(InputError, match=r"inputs\.wordnet\.rule"):
        prepare(options(raw, wordnet=raw / "moved"))


def test_folders_without_similarity_know_no_wordnet(raw) -> None:
    manifest = prepare(options(raw, annotations="pos,heads"))
    assert "wordnet" not in manifest.inputs
    assert "wordnet" not in manifest.options
    assert "nltk" not in manifest.versions
    assert not list((raw / "out").glob("*similarity*"))


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"annotations": "pos", "wordnet": "x"}, ValueError, "--wordnet has no work to do: "),
        ({"wordnet": "none"}, FileNotFoundError, "no WordNet database in none .*--wordnet DIR"),
        ({"annotations": "similarity", "spacy_model": "x"}, ValueError, "--spacy-model has no"),
    ],
)
def test_what_cannot_be_prepared_is_refused_before_any_work(raw, values, error, message) -> None:
    with pytest.raises(error, match=message):
        prepare(options(raw, **values))
    assert not (raw / "out").exists()


def test_single_sentences_are_refused(raw) -> None:
    write_raw("cola", raw / "raw", count=3)
    values = {"dataset": "cola", "raw_dir": raw / "raw", "valid_file": ""}
    message = "single sentences: --layers pos,heads,similarity would .*leave similarity out"
    with pytest.raises(InputError, match=message):
        prepare(options(raw, **values))
    assert not (raw / "out").exists()


def test_manifest_of_single_sentences_with_similarity_is_refused(raw) -> None:
    manifest = prepare(options(raw))
    replace(manifest, sentences=1).save(raw / "out")
    with pytest.raises(InputError, match="only pairs have a similarity"):
        read_manifest(raw / "out", TextManifest)


def encoded(raw, manifest):
    """Encode the pairs as raw text with the encoder of the folder."""
    coder = TextEncoder.from_folder(raw / "out", manifest)
    return coder.encode([Example(str(i), pair) for i, pair in enumerate(PAIRS)])


def test_raw_text_is_compared_as_the_folder_was(raw, caplog) -> None:
    manifest = prepare(options(raw))
    found = [second.layers["similarity"] for _, second in encoded(raw, manifest)]
    assert found == rows_of(raw / "out", "valid", "similarity1")
    assert not [r for r in caplog.records if "[UNK]" not in r.getMessage()]


def test_raw_text_needs_a_wordnet(raw, monkeypatch, caplog) -> None:
    """The one it was made with, or another one, with a warning."""
    manifest = prepare(options(raw))
    (raw / "wordnet").rename(raw / "moved")
    monkeypatch.setattr(wordnet, "USUAL", ())
    for name in ("WNSEARCHDIR", "WNHOME"):
        monkeypatch.delenv(name, raising=False)
    message = "out has from WordNet, so raw text needs WordNet, too: no WordNet database"
    with pytest.raises(FileNotFoundError, match=message):
        encoded(raw, manifest)
    monkeypatch.setenv("WNSEARCHDIR", str(raw / "moved"))
    with caplog.at_level(logging.WARNING):
        encoded(raw, manifest)
    assert not [r for r in caplog.records if "[UNK]" not in r.getMessage()]
    monkeypatch.setenv("WNSEARCHDIR", str(write_small_wordnet(raw / "other", SENSES[:-2])))
    encoded(raw, manifest)
    assert "ANOTHER WORDNET" in caplog.text


def test_encoder_needs_what_its_annotations_say() -> None:
    with pytest.raises(InputError, match="similarity needs WordNet"):
        TextEncoder(word_pieces(), annotations=layers_of(("similarity",)))
