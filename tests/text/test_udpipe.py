"""UDPipe as the annotator, trained here on a toy treebank: words, sentences, trees, refusals."""

from __future__ import annotations

import pickle
from argparse import Namespace

import pytest
from raw_corpora import contents, make_options, write_lines

from fairseq_plugins.cli.main import main
from fairseq_plugins.data.manifest import TRANSLATION, Manifest
from fairseq_plugins.prep.recipes import translation
from fairseq_plugins.text.annotators import load_annotator
from fairseq_plugins.text.pipeline import udpipe_training
from fairseq_plugins.text.source_encoder import SourceEncoder

pytestmark = pytest.mark.slow

NOUNS = ["chat", "chien", "lapin", "loup"]
QUICK = {
    "tokenizer": "epochs=8;batch_size=20;segment_size=20",
    "tagger": "iterations=4",
    "parser": "iterations=2;hidden_layer=20;embedding_upostag=5;embedding_feats=5;"
    "embedding_deprel=5;structured_interval=0;transition_system=projective;"
    "transition_oracle=static",
}


def toy(count: int) -> str:
    """Sentences ``Le chat va au bois .``, whose ``au`` stands for ``à le``."""
    blocks = []
    for i in range(count):
        noun = NOUNS[i % 4]
        rows = [
            *[("1", "Le", "le", "DET", "2", "det"), ("2", noun, noun, "NOUN", "3", "nsubj")],
            *[("3", "va", "aller", "VERB", "0", "root"), ("4-5", "au", *"____")],
            *[("4", "à", "à", "ADP", "6", "case"), ("5", "le", "le", "DET", "6", "det")],
            *[("6", "bois", "bois", "NOUN", "3", "obl"), ("7", ".", ".", "PUNCT", "3", "punct")],
        ]
        lines = [f"# text = Le {noun} va au bois."]
        for number, form, lemma, tag, head, relation in rows:
            misc = "SpaceAfter=No" if number == "6" else "_"
            columns = [number, form, lemma, tag, "_", "_", head, relation, "_", misc]
            lines.append("\t".join(columns))
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("udpipe")
    (folder / "train.conllu").write_text(toy(60), encoding="utf-8")
    options = [word for name, value in QUICK.items() for word in (f"--{name}", value)]
    command = ["train-udpipe", "--train", str(folder / "train.conllu"), *options]
    assert main([*command, "--out", str(folder / "fr.udpipe")]) == 0
    return folder / "fr.udpipe"


def opened(model, *names):
    return load_annotator(names, f"udpipe:{model}")


def test_words_of_raw_text_have_their_values_and_places(model):
    line = "Le chien va au bois."
    (note,) = opened(model, "heads", "lemma", "dep").annotate_text([line])
    assert note.words == ["Le", "chien", "va", "au", "bois", "."]
    assert [line[begin:end] for begin, end in note.spans] == note.words
    assert note.layers["lemma"][2:5] == ["aller", "à", "bois"]  # that of the first part of au
    assert note.layers["pos"][:3] == ["DET", "NOUN", "VERB"]
    assert note.layers["heads"] == [2, 3, 0, 5, 3, 3]
    assert note.layers["dep"][2] == "root"


def test_sentences_of_a_line_become_one_and_their_trees_a_forest(model):
    annotator = opened(model, "heads")
    one, two, nothing = annotator.annotate_text(
        ["Le loup va au bois.", "Le loup va au bois. Le chat va au bois.", ""]
    )
    assert two.words[: len(one.words)] == one.words
    assert two.layers["heads"][: len(one.words)] == one.layers["heads"]
    assert two.layers["heads"].count(0) == 2
    assert (nothing.words, nothing.layers["heads"]) == ([], [])


def test_given_words_stay_and_a_copy_says_the_same(model):
    annotator = opened(model, "heads")
    words = [["Le", "chat", "va"], [], ["bois", "\U0001f600", "a\u0301"]]
    found = annotator.annotate_words(words)
    assert [note.words for note in found] == words
    again = pickle.loads(pickle.dumps(annotator))  # noqa: S301 (our own)
    assert again.annotate_words(words) == found
    assert again.identity() == annotator.identity()


def test_raw_text_is_annotated_as_the_folder_was(model, tmp_path):
    lines = [f"Le {noun} va au bois." for noun in NOUNS * 3]
    write_lines(tmp_path / "train.fr", lines)
    write_lines(tmp_path / "train.en", ["The animal goes."] * len(lines))
    options = {"source_lang": "fr", "target_lang": "en", "trainpref": tmp_path / "train"}
    options |= {"layers": "pos,lemma,heads", "spacy_model": f"udpipe:{model}", "tokenizer": "none"}
    options |= {"subwords": "sentencepiece", "bpe_size": 40}
    translation.prepare(make_options(tmp_path / "out", **options))
    translation.prepare(make_options(tmp_path / "two", workers=2, **options))
    assert contents(tmp_path / "out") == contents(tmp_path / "two")
    manifest = Manifest.load(tmp_path / "out", TRANSLATION)
    assert manifest.annotator["name"] == "udpipe_fr"
    with pytest.raises(
        ValueError, match="does not decide which path is loaded: give --spacy-model"
    ):
        SourceEncoder.from_folder(tmp_path / "out", manifest)
    encoder = SourceEncoder.from_folder(tmp_path / "out", manifest, f"udpipe:{model}")
    for index, sentence in enumerate(encoder.encode(lines[:4])):
        for name in ("pos", "lemma", "heads", "words"):
            found = load_row(tmp_path / "out", f"fr.{name}", index)
            assert found[:-1] == sentence.columns[name]


def load_row(folder, stream, index):
    from fairseq_plugins.data.rows import Rows

    return Rows.read(folder / f"train.fr-en.{stream}")[index].tolist()


@pytest.mark.parametrize(
    ("path", "names", "message"),
    [
        ("none.udpipe", ["pos"], "no UDPipe model .*none.udpipe"),
        ("text.udpipe", ["pos"], "text.udpipe is no UDPipe model"),
        ("bytes.udpipe", ["pos"], "bytes.udpipe is no UDPipe model"),
        ("short.udpipe", ["pos"], "short.udpipe is no UDPipe model"),
        ("", ["ent"], "UDPipe models give no named entities"),
    ],
)
def test_what_cannot_be_had_is_refused_at_once(model, tmp_path, path, names, message):
    (tmp_path / "text.udpipe").write_text("nothing of the kind")
    (tmp_path / "bytes.udpipe").write_bytes(b"\xef\xbb\xbf" * 200)  # such heads end the process
    (tmp_path / "short.udpipe").write_bytes(model.read_bytes()[:500])
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        opened(tmp_path / path if path else model, *names)


def test_what_cannot_be_trained_is_refused_at_once(tmp_path):
    train = tmp_path / "train.conllu"
    train.write_text(toy(4), encoding="utf-8")
    options = {"ud_dir": None, "dev": None, **QUICK}
    with pytest.raises(ValueError, match="is a folder; give the name of a file"):
        udpipe_training.train(Namespace(train=train, out=tmp_path, **options))
    with pytest.raises(ValueError, match="train.conllu: is there already"):
        udpipe_training.train(Namespace(train=train, out=train, **options))
    train.write_text("é", encoding="latin-1")
    with pytest.raises(ValueError, match=r"train.conllu:1: .*UTF-8"):
        udpipe_training.train(Namespace(train=train, out=tmp_path / "m", **options))
