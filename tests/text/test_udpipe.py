"""UDPipe as the annotator, trained here on a toy treebank: words, sentences, trees, refusals."""

from __future__ import annotations

import json
import lzma
import pickle
import random
import struct
import subprocess
import sys
from argparse import Namespace
from collections import Counter

import pytest
from raw_corpora import contents, make_options, write_lines

from fairseq_plugins.cli.main import main
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.translation_manifest import TranslationManifest
from fairseq_plugins.door import udpipe_models, udpipe_trial
from fairseq_plugins.errors import InputError
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
    command = ["train-pipeline", "--train", str(folder / "train.conllu"), *options]
    assert main([*command, "--output", str(folder / "fr.udpipe")]) == 0
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
    manifest = read_manifest(tmp_path / "out", TranslationManifest)
    assert manifest.annotator["name"] == "udpipe_fr"
    with pytest.raises(
        ValueError, match="does not decide which path is loaded: give --spacy-model"
    ):
        SourceEncoder.from_folder(tmp_path / "out", manifest)
    encoder = SourceEncoder.from_folder(tmp_path / "out", manifest, f"udpipe:{model}")
    for index, sentence in enumerate(encoder.encode(lines[:4])):
        for name in ("pos", "lemma", "heads"):
            assert load_row(tmp_path / "out", f"fr.{name}", index) == sentence.layers[name]
        numbers = [word + 1 for word in sentence.word_of]
        assert load_row(tmp_path / "out", "fr.words", index) == numbers


def load_row(folder, stream, index):
    from fairseq_plugins.syntax.rows import Rows

    return Rows.read(folder / f"train.fr-en.{stream}")[index].tolist()


@pytest.mark.parametrize(
    ("path", "names", "message"),
    [
        ("none.udpipe", ["pos"], "no UDPipe model .*none.udpipe"),
        ("text.udpipe", ["pos"], "text.udpipe: refused: it is no UDPipe model"),
        ("bytes.udpipe", ["pos"], "bytes.udpipe: refused: a process that only tries it was ended"),
        ("short.udpipe", ["pos"], "short.udpipe: refused: it is no UDPipe model"),
        ("", ["ent"], "UDPipe models give no named entities"),
    ],
)
def test_what_cannot_be_had_is_refused_at_once(model, tmp_path, path, names, message):
    (tmp_path / "text.udpipe").write_text("nothing of the kind")
    (tmp_path / "bytes.udpipe").write_bytes(b"\xef\xbb\xbf" * 200)  # such heads end the process
    (tmp_path / "short.udpipe").write_bytes(model.read_bytes()[:500])
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        opened(tmp_path / path if path else model, *names)


def test_what_cannot_be_trained_is_refused_at_once(tmp_path, capsys):
    train = tmp_path / "train.conllu"
    train.write_text(toy(4), encoding="utf-8")
    options = {"ud_dir": None, "dev": None, **QUICK}
    (tmp_path / "a.udpipe").mkdir()
    assert main(["train-pipeline", "--train", str(train), "--output", f"{tmp_path}/a.udpipe"]) == 1
    assert "a.udpipe is there already" in capsys.readouterr().err
    train.write_text("é", encoding="latin-1")
    with pytest.raises(InputError, match=r"train.conllu:1: .*UTF-8"):
        udpipe_training.train(Namespace(train=train, output=tmp_path / "m", **options))


HEAD = 19  # bytes by which UDPipe knows a model
TRY_ALL = """
import os, sys, resource
sys.path.insert(0, sys.argv[1])
import udpipe_trial, ufal.udpipe
udpipe_trial.SECONDS = 1
for path in sys.argv[2:]:
    if not (child := os.fork()):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            udpipe_trial.limit(os.path.getsize(path))
            udpipe_trial.use(path)
            os._exit(0)
        finally:
            os._exit(1)
    _, status, used = os.wait4(child, 0)
    print(os.waitstatus_to_exitcode(status), used.ru_maxrss)
"""
LZMA = {"id": lzma.FILTER_LZMA1, "lc": 3, "lp": 0, "pb": 2, "dict_size": 1 << 24, "mode": 1}


def check_sum(whole: int, packed: int) -> int:
    return (whole * 19991 + packed * 199999991 + 1234567890) % 2**32


def blocks(raw: bytes):
    """Yield the places of compressed blocks in a model, with what they hold."""
    for at in range(len(raw) - 12):
        whole, packed, found = struct.unpack_from("<III", raw, at)
        if found == check_sum(whole, packed):
            end = at + 17 + packed
            reader = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[{**LZMA}])
            yield at, end, reader.decompress(raw[at + 17 : end], whole)


def packed(block: bytes) -> bytes:
    """Compress a block so that UDPipe finds it as long as it says."""
    writer = lzma.LZMACompressor(lzma.FORMAT_RAW, filters=[{**LZMA, "nice_len": 8, "depth": 1}])
    raw = writer.compress(block) + writer.flush()
    reader, size = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[{**LZMA}]), 0
    near = max(0, len(raw) - 12)
    size = len(reader.decompress(raw[:near]))
    while size < len(block):
        size, near = size + len(reader.decompress(raw[near : near + 1])), near + 1
    sizes = len(block), near
    return struct.pack("<III", *sizes, check_sum(*sizes)) + b"\x5d\0\0\0\1" + raw[:near]


def forged(raw: bytes, held, dice: random.Random) -> bytes:
    """Change bytes of a model: mostly of its file, sometimes a count within a block."""
    found = bytearray(raw)
    if dice.random() < 0.93:
        for _ in range(dice.randint(1, 20)):
            found[dice.randrange(HEAD, len(raw))] = dice.randrange(256)
        return bytes(found[: dice.choice([len(raw), dice.randrange(20, len(raw))])])
    begin, end, block = held[2]
    block, at = bytearray(block), dice.randrange(400)
    block[at : at + 4] = dice.choice([b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\0\0\0\x10"])
    return raw[:begin] + packed(bytes(block)) + raw[end:]


def test_forged_models_end_a_trial_and_nothing_else(model, tmp_path):
    dice, raw = random.Random(1), model.read_bytes()
    held, paths = [*blocks(raw)], [str(model)]
    for number in range(300):
        path = tmp_path / f"{number}.udpipe"
        path.write_bytes(forged(raw, held, dice))
        paths.append(str(path))
    place = udpipe_trial.__file__.rpartition("/")[0]
    done = subprocess.run(
        [sys.executable, "-c", TRY_ALL, place, *paths], capture_output=True, text=True, check=True
    )
    rows = [tuple(map(int, row.split())) for row in done.stdout.split("\n") if row]
    assert len(rows) == len(paths)
    assert rows[0][0] == 0
    assert max(memory for _, memory in rows) < 1_100_000  # KiB
    ended = [path for path, (status, _) in zip(paths, rows) if status in (-6, -11)]
    assert ended, Counter(status for status, _ in rows)
    with pytest.raises(InputError, match="only tries it was ended"):
        opened(ended[0], "pos")
    assert opened(model, "pos").annotate_words([["Le"]])


def test_a_model_is_tried_once_with_limits(model, tmp_path, monkeypatch):
    runs, run = [], subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: [runs.append(a), run(*a, **k)][1])
    udpipe_models.survives.cache_clear()
    opened(model, "pos"), opened(model, "heads")
    assert len(runs) == 1
    code = (
        "import sys; sys.path.insert(0, %r); import udpipe_trial as t; t.limit(9); bytes(2 << 30)"
    )
    code %= udpipe_trial.__file__.rpartition("/")[0]
    done = run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "MemoryError" in done.stderr
    assert json.loads(runs[0][0][-2]) == sys.path
