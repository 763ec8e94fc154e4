"""The bundled pipeline: loads plainly, tags raw text and given words, and is what its card says."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

spacy = pytest.importorskip("spacy")
from spacy.tokens import Doc  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "fairseq_plugins" / "resources" / "__init__.py"
UPOS = set("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
SENTENCES = [
    ["The", "old", "dog", "chased", "a", "small", "cat", "in", "the", "garden", "."],
    ["She", "has", "bought", "three", "books", ",", "but", "he", "did", "not", "read", "them", "."],
]
TAGS = [
    "DET ADJ NOUN VERB DET ADJ NOUN ADP DET NOUN PUNCT".split(),
    "PRON AUX VERB NUM NOUN PUNCT CCONJ PRON AUX PART VERB PRON PUNCT".split(),
]
BARS = {
    "upos": 93,
    "uas": 83,
    "las": 79,
    "upos_lower": 90,
    "upos_moses": 92,
}


def load_module():
    spec = importlib.util.spec_from_file_location("resources", MODULE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def path():
    return load_module().pipeline_path("bundled")


@pytest.fixture(scope="module")
def nlp(path):
    return spacy.load(path)


@pytest.fixture(scope="module")
def meta(path):
    return json.loads((path / "meta.json").read_text(encoding="utf-8"))


def given(nlp, words):
    return nlp(Doc(nlp.vocab, words=words))


def test_path_is_found_without_importing_spacy(path):
    code = f"import runpy, sys; runpy.run_path({str(MODULE)!r}); sys.exit('spacy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert (path / "config.cfg").is_file()


@pytest.mark.slow
def test_pipeline_loads_and_tags_in_a_process_that_imports_only_spacy(path):
    code = f"import spacy; print(*[t.pos_ for t in spacy.load({str(path)!r})('A cat sat.')])"
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout.split() == ["DET", "NOUN", "VERB", "PUNCT"]


@pytest.mark.parametrize(("words", "tags"), zip(SENTENCES, TAGS, strict=True))
def test_given_words_get_their_tags(nlp, words, tags):
    assert [token.pos_ for token in given(nlp, words)] == tags


@pytest.mark.parametrize(("words", "tags"), zip(SENTENCES, TAGS, strict=True))
def test_raw_text_gets_the_same_tags(nlp, words, tags):
    text = re.sub(r" (?=[.,])", "", " ".join(words))
    assert [token.pos_ for token in nlp(text)] == tags


def test_lower_cased_words_get_their_tags(nlp):
    words = [word.lower() for word in SENTENCES[0]]
    assert [token.pos_ for token in given(nlp, words)] == TAGS[0]


def test_moses_contractions_get_their_tags(nlp):
    doc = given(nlp, ["They", "don", "'t", "know", "what", "it", "'s", "worth", "."])
    assert [token.pos_ for token in doc][1:4] == ["AUX", "PART", "VERB"]


def test_tree_has_the_verb_on_top_and_its_arguments_below(nlp):
    doc = given(nlp, SENTENCES[0])
    assert [token.i for token in doc if token.head is token or token.head.i == token.i] == [3]
    assert {(doc[2].head.i, doc[2].dep_), (doc[6].head.i, doc[6].dep_)} == {
        (3, "nsubj"),
        (3, "obj"),
    }


def test_every_token_has_a_coarse_tag_even_where_the_words_are_odd(nlp):
    doc = given(nlp, ["🙂", "xqzzy", "@-@", "12:30", "http://a.b", "ß", "…"])
    assert {token.pos_ for token in doc} <= UPOS
    assert all(label.startswith("POS=") for label in nlp.get_pipe("morphologizer").labels)


def test_tags_do_not_depend_on_the_batch(nlp):
    docs = [given(nlp, words) for words in SENTENCES]
    batch = list(nlp.pipe([Doc(nlp.vocab, words=w) for w in SENTENCES * 20], batch_size=7))
    for doc, other in zip(docs * 20, batch, strict=True):
        assert [(t.pos_, t.head.i, t.dep_) for t in doc] == [
            (t.pos_, t.head.i, t.dep_) for t in other
        ]


def test_two_loads_agree(nlp, path):
    again = spacy.load(path)
    for words in SENTENCES:
        assert given(nlp, words).to_json() == given(again, words).to_json()


def test_meta_names_pipeline_licence_and_source(meta):
    assert (meta["lang"], meta["name"], meta["version"]) == ("en", "ewt_small", "1.0.0")
    assert meta["license"] == "CC BY-SA 4.0"
    assert "EWT" in meta["sources"][0]["name"]


@pytest.mark.parametrize(("name", "bar"), BARS.items())
def test_measured_score_clears_its_bar(meta, name, bar):
    assert meta["performance"][name] >= bar


def test_directory_is_small_and_carries_card_and_licence(path):
    files = [file for file in path.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 8e6
    assert "Attribution-ShareAlike" in (path / "LICENSE").read_text(encoding="utf-8")
    assert "Stanford" in (path / "LICENSE").read_text(encoding="utf-8")


def test_card_shows_the_measured_figures(path, meta):
    card = (path / "README.md").read_text(encoding="utf-8")
    for name, value in meta["performance"].items():
        assert str(value) in card, name


def test_saved_config_knows_no_training_paths(path):
    config = spacy.util.load_config(path / "config.cfg")
    assert set(config["paths"].values()) == {None}
