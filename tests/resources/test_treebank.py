"""Reading treebank sentences as documents of spaCy."""

from __future__ import annotations

import pytest

spacy = pytest.importorskip("spacy")

from fairseq_plugins.errors import InputError  # noqa: E402
from fairseq_plugins.text.pipeline import treebank  # noqa: E402

ROWS = [
    ("1", "I", "PRON", "4", "nsubj", "_"),
    ("2-3", "don't", "_", "_", "_", "_"),
    ("2", "do", "AUX", "4", "aux", "_"),
    ("3", "n't", "PART", "4", "advmod", "_"),
    ("4", "like", "VERB", "0", "root", "_"),
    ("4.1", "like", "VERB", "_", "_", "_"),
    ("5", "half", "ADJ", "7", "compound", "SpaceAfter=No"),
    ("6", "-", "PUNCT", "5", "punct", "SpaceAfter=No"),
    ("7", "measures", "NOUN", "4", "obj", "SpaceAfter=No"),
    ("8", "!!", "PUNCT", "4", "punct", "SpaceAfter=No"),
]
TEXT = "I don't like half-measures!!"


def conllu(rows=ROWS, text=TEXT) -> str:
    lines = [f"# text = {text}"]
    for number, form, tag, head, dep, misc in rows:
        lines.append("\t".join([number, form, "_", tag, "_", "_", head, dep, "_", misc]))
    return "\n".join(lines) + "\n\n"


def read(folder, split):
    path = treebank.split_file(folder, split)
    return list(treebank.read_docs(path, spacy.blank("en").vocab))


@pytest.fixture
def sentence(tmp_path):
    (tmp_path / "en_ewt-ud-train.conllu").write_text(conllu(), encoding="utf-8")
    (only,) = read(tmp_path, "train")
    return only


def test_reading_takes_words_their_annotation_and_the_blanks_of_the_text(sentence):
    assert [word.text for word in sentence] == "I do n't like half - measures !!".split()
    assert sentence.text == TEXT + " "
    assert (sentence[3].head.i, sentence[3].dep_) == (3, "ROOT")
    assert not any(sentence.has_annotation(name) for name in ("TAG", "LEMMA", "MORPH"))


def test_a_token_that_its_words_do_not_spell_is_one_word_in_the_place_of_its_first(tmp_path):
    rows = [
        ("1-2", "zum", "_", "_", "_", "_"),
        ("1", "zu", "ADP", "3", "case", "_"),
        ("2", "dem", "DET", "3", "det:def", "_"),
        ("3", "Haus", "NOUN", "0", "root", "_"),
    ]
    (tmp_path / "train.conllu").write_text(conllu(rows, "zum Haus"), encoding="utf-8")
    (only,) = read(tmp_path, "train")
    assert [(w.text, w.pos_, w.dep_, w.head.i) for w in only] == [
        ("zum", "ADP", "case", 1),
        ("Haus", "NOUN", "ROOT", 1),
    ]


@pytest.mark.parametrize(
    ("rows", "text", "message"),
    [
        (ROWS, "I do not like half-measures!!", "do not spell"),
        ([("1", "a", "X", "2", "dep", "_"), ("2", "b", "X", "1", "dep", "_")], "a b", "cycle"),
        ([("1", "a", "X", "_", "dep", "_")], "a", "number"),
    ],
)
def test_read_docs_names_file_and_line_of_a_broken_sentence(tmp_path, rows, text, message):
    path = tmp_path / "train.conllu"
    path.write_text(conllu(rows, text), encoding="utf-8")
    with pytest.raises(InputError, match=rf"train\.conllu:\d+.*{message}"):
        read(tmp_path, "train")


def test_read_docs_rejects_a_line_with_missing_fields(tmp_path):
    path = tmp_path / "dev.conllu"
    path.write_text("# text = a\n1\ta\n\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"dev\.conllu:2: expected 10"):
        read(tmp_path, "dev")


def test_reading_without_the_split_names_the_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="test.conllu"):
        read(tmp_path, "test")


def test_language_and_licence_are_read_off_the_folder(tmp_path):
    assert (treebank.language_of(tmp_path), treebank.licence_of(tmp_path)) == ("", "")
    for split in ("train", "dev"):
        (tmp_path / f"de_gsd-ud-{split}.conllu").write_text("", encoding="utf-8")
    (tmp_path / "README.md").write_text("# Summary\nLicense: CC BY-SA 4.0\n", encoding="utf-8")
    assert (treebank.language_of(tmp_path), treebank.licence_of(tmp_path)) == ("de", "CC BY-SA 4.0")
