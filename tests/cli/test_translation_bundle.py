"""Translation bundles from raw text: what the checkpoint says, without fairseq."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from cli import commands
from cli.conftest import prepare_corpus

from fairseq_plugins.bundles import translation
from fairseq_plugins.bundles.ctranslate2_model import Search
from fairseq_plugins.bundles.index import FILE_NAME, open_bundle
from fairseq_plugins.bundles.translation import Contents, Translator
from fairseq_plugins.errors import InputError
from fairseq_plugins.files import sha256
from fairseq_plugins.inference import bundle_translation
from fairseq_plugins.inference.bundle_translation import translate_split
from fairseq_plugins.inference.translation_export import export_translation
from fairseq_plugins.models.syntax_transformer import SyntaxTransformerModel

pytestmark = pytest.mark.slow

ODD = [
    "She watches the old dog and the light.",
    "",
    "  \u3000\t ",
    "\u200b \x01",
    "na\u00efve \u0160koda \u6771\u4eac \U0001f642 dog!",
    "e\u0301 combining, \u202eright to left\u202c, \ufeffmark",
    "<unk> </s> <pad> <s> @-@ a\uffe8b | \uffe8 the watch",
    "bytes \udcff\udcfe that are no text",
    "half \ud83d a character",
    "line\u2028separator and\x85next and\x0bothers",
    "the dog " * 700,
    "a" * 20_001,
    "WATCH&amp;LIGHT &#124; it's 5 o'clock@@ end@@",
    "dog",
]
SEARCHES = [{"beam": 1, "lenpen": 1.0}, {"beam": 4, "lenpen": 0.6}]


@pytest.fixture(scope="module")
def bundle(model, tmp_path_factory):
    """The bundle of the trained checkpoint."""
    output = tmp_path_factory.mktemp("bundle") / "bundle"
    export_translation(model, output)
    return output


@pytest.fixture(scope="module")
def translator(bundle):
    return Translator.open(bundle, threads=1)


def hub_of(model):
    return SyntaxTransformerModel.from_pretrained(str(model.parent), model.name)


@pytest.mark.parametrize("search", SEARCHES)
def test_raw_text_gives_what_the_checkpoint_gives(model, translator, corpus, search):
    lines = (corpus / "test.en").read_text(encoding="utf-8").split("\n") + ODD
    expected = hub_of(model).translate(lines, **search)
    found = translator.translate(lines, **search)
    assert found == expected
    assert len({*found}) > 20


def test_unanswered_lines_are_named_and_scored(translator, caplog):
    with caplog.at_level(logging.WARNING):
        found = translator.hypotheses(ODD, nbest=2)
    assert [len(nbest) for nbest in found] == [2] * len(ODD)
    scores = {number: nbest[0].score for number, nbest in enumerate(found, 1) if not nbest[0].text}
    assert scores == {2: 0.0, 3: 0.0, 4: 0.0, 11: float("-inf"), 12: float("-inf")}
    assert "lines 2, 3, 4: nothing to translate" in caplog.text
    assert "lines 11, 12: longer than 1024 subwords or 20000 characters" in caplog.text
    assert "lines 8, 9: bytes that are no UTF-8 text" in caplog.text


def test_few_lines(translator):
    assert translator.translate([]) == []
    assert translator.translate([""]) == [""]
    (one,) = translator.hypotheses(["The dog."], nbest=3)
    assert len({hypothesis.subwords for hypothesis in one}) == 3
    with pytest.raises(InputError, match="give a list of lines"):
        translator.translate("The dog.")


def test_threads_share_a_translator(bundle, corpus):
    lines = (corpus / "train.en").read_text(encoding="utf-8").split("\n")[:60]
    shared = Translator.open(bundle, threads=1)
    parts = [lines[i::6] for i in range(6)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(shared.translate, parts))
    assert found == [Translator.open(bundle).translate(part) for part in parts]


@pytest.fixture(scope="module")
def lemmas(corpus, tmp_path_factory):
    """Checkpoint of a model that reads a learnt layer, and its prepared folder."""
    place = tmp_path_factory.mktemp("lemmas")
    how = {"layers": "pos,lemma,subword", "spacy_model": "bundled-layers"}
    folder = prepare_corpus(corpus, place / "bin", **how)
    commands.train(folder, place, "--max-update 60 --validate-interval 10 --feature-merge add")
    return place / "checkpoint_best.pt"


def test_learnt_layers(lemmas, corpus, tmp_path):
    export_translation(lemmas, tmp_path / "bundle")
    found = Translator.open(tmp_path / "bundle", threads=1)
    assert found.features == ("pos", "lemma", "subword")
    lines = (corpus / "test.en").read_text(encoding="utf-8").split("\n") + ODD
    expected = hub_of(lemmas).translate(lines, beam=4, lenpen=0.6)
    assert found.translate(lines, beam=4, lenpen=0.6) == expected
    assert (tmp_path / "bundle" / "text" / "dict.en.lemma.txt").is_file()


@pytest.fixture(scope="module")
def subwords_and_case(folder, tmp_path_factory):
    """Checkpoint of a model that reads what needs no annotator."""
    place = tmp_path_factory.mktemp("spelt")
    commands.train(folder, place, "--max-update 30 --features case,subword")
    return place / "checkpoint_last.pt"


@pytest.mark.parametrize("kind", ["plain", "subwords_and_case"])
def test_models_that_need_no_annotator_come_without_one(kind, request, tmp_path, corpus):
    path = request.getfixturevalue(kind)
    export_translation(path, tmp_path / "bundle")
    found = Translator.open(tmp_path / "bundle", threads=1)
    assert found.manifest.annotator == {}
    lines = (corpus / "test.en").read_text(encoding="utf-8").split("\n") + ODD
    assert found.translate(lines) == hub_of(path).translate(lines, beam=4, lenpen=0.6)
    assert found.encoder.annotator is None


@pytest.fixture(scope="module")
def sentencepiece(corpus, tmp_path_factory):
    """A prepared folder whose subwords are not cut from words."""
    how = {"tokenizer": "none", "subwords": "sentencepiece", "bpe_size": 90}
    return prepare_corpus(corpus, tmp_path_factory.mktemp("sentencepiece") / "bin", **how)


@pytest.mark.parametrize("features", ["pos,subword", "subword"])
def test_sentencepiece_with_words_of_an_annotator(sentencepiece, corpus, tmp_path, features):
    commands.train(sentencepiece, tmp_path, f"--max-update 60 --features {features}")
    path = tmp_path / "checkpoint_last.pt"
    export_translation(path, tmp_path / "bundle")
    lines = (corpus / "test.en").read_text(encoding="utf-8").split("\n") + ODD
    found = Translator.open(tmp_path / "bundle", threads=1).translate(lines)
    assert found == hub_of(path).translate(lines, beam=4, lenpen=0.6)


_ALONE = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("fairseq", "fairseq_cli", "hydra", "omegaconf"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
from fairseq_plugins.cli.main import main
cut = sys.argv.index("then")
code = main(sys.argv[1:cut])
assert "torch" not in sys.modules  # which takes longer than all the rest
sys.exit(code or main(sys.argv[cut + 1 :]))
"""


def test_the_command_needs_no_fairseq(bundle, translator, corpus, tmp_path):
    lines = [line.encode("utf-8", "surrogateescape") for line in ODD if "\ud83d" not in line]
    output = tmp_path / "out.de"
    words = [sys.executable, "-c", _ALONE, "translate", bundle, "--source", "-", "then"]
    words += ["translate", bundle, "--source", corpus / "test.en", "--output", output]
    words += ["--reference", corpus / "test.de", "--", "--beam", "1"]
    done = subprocess.run(words, input=b"\n".join(lines), capture_output=True, cwd=commands.ROOT)
    assert done.returncode == 0, done.stderr
    found = done.stdout.decode().split("\n")
    expected = translator.translate([line for line in ODD if "\ud83d" not in line])
    assert found[: len(expected)] == expected
    assert "37 sentences" in "".join(found[len(expected) :])
    source = (corpus / "test.en").read_text(encoding="utf-8").split("\n")[:-1]
    assert output.read_text("utf-8").split("\n")[:-1] == translator.translate(source, beam=1)


def test_splits_give_what_fairseq_generate_prints(translator, folder, model, tmp_path, monkeypatch):
    monkeypatch.setattr(bundle_translation, "WINDOW", 10)
    generated = commands.generate(folder, model, "--batch-size 16 --max-len-b 200")
    log = tmp_path / "generate.log"
    search = Search(beam=4, lenpen=1.0)
    translate_split(translator, str(folder), "test", str(log), search)
    own = commands.Outcome(0, log.read_text("utf-8"), "")
    for mark in "STHD":
        assert own.numbers(mark) == list(range(37))
        assert own.lines(mark) == generated.lines(mark)


def test_the_command_scores_a_split(bundle, folder, tmp_path):
    log = tmp_path / "generate.log"
    given = ["translate", bundle, "--data", folder, "--split", "test1", "--output", log]
    done = commands.run(*given, "--", "--beam", "1")
    assert "(3 sentences)" in done.out
    assert len(commands.Outcome(0, log.read_text("utf-8"), "").lines("D")) == 3


def test_splits_of_other_folders_are_refused(run_here, bundle, corpus, tmp_path):
    other = prepare_corpus(corpus, tmp_path / "other", bpe_size=30)
    given = ["translate", bundle, "--data", other, "--output", tmp_path / "x"]
    done = run_here(*given, fails=True)
    assert "has other subwords than the bundle" in done.err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "a bundle translates --source FILE, or a split of --data DIR"),
        (["--source", "a", "--data", "b"], "a bundle translates --source FILE"),
        (["--source", "a", "--reference", "b"], "need --output FILE"),
        (["--source", "nowhere.en"], "nowhere.en: no such file"),
        (["--source", "a", "--", "--nbest", "2"], "bundles know no --nbest"),
        (["--source", "a", "--", "--beam", "x"], "invalid int value: 'x'"),
        (["--source", "a", "--", "--beam", "0"], "beam is 0; it is 1 at least"),
    ],
)
def test_arguments_that_do_not_fit_are_one_line(run_here, bundle, given, message):
    assert message in run_here("translate", bundle, *given, fails=True).err


def test_ensembles_and_checkpoints_are_told_apart(run_here, bundle, model):
    done = run_here("translate", f"{bundle}:{bundle}", "--source", "x", fails=True)
    assert "CTranslate2 decodes with one model; average the checkpoints" in done.err
    done = run_here("translate", model.parent, "--source", "x", fails=True)
    assert "x: no such file" in done.err


@pytest.fixture
def forged(bundle, tmp_path):
    """A function that changes a file of a copy, whose index is made to fit."""
    copy = tmp_path / "forged"
    shutil.copytree(bundle, copy)

    def forge(name, change):
        path = copy / name
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
        index = json.loads((copy / FILE_NAME).read_text(encoding="utf-8"))
        if name in index["files"]:
            index["files"][name] = {"size": path.stat().st_size, "sha256": sha256(path)}
            (copy / FILE_NAME).write_text(json.dumps(index), encoding="utf-8")
        return copy

    return forge


def change_manifest(**values):
    return lambda text: json.dumps(json.loads(text) | values)


def change_index(**values):
    def change(text):
        body = json.loads(text)
        return json.dumps(body | {"content": body["content"] | values})

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (FILE_NAME, change_index(features=["pos"]), "3 tables for 1 features"),
        (FILE_NAME, change_index(features=["pos", "case", "heads"]), "values of 'heads'"),
        (FILE_NAME, change_index(features=["case", "pos", "subword"]), "values of 'case'"),
        (FILE_NAME, change_index(features=7), "does not describe a model"),
        (FILE_NAME, change_index(int8="x"), "does not describe a model"),
        (FILE_NAME, change_index(int8=True), "no model of its bundle"),
        (FILE_NAME, change_index(layout=[]), "is no layout of a model"),
        ("text/manifest.json", change_manifest(segmentation={}, splits={}), "lacks 'source'"),
        ("text/manifest.json", change_manifest(options={"max_characters": None}), "says None for"),
        ("text/manifest.json", change_manifest(options={"max_characters": -1}), "says -1 for"),
        ("text/source.json", lambda text: "[]", "is no list of"),
        ("text/target.json", lambda text: "{", "is no JSON"),
        ("text/target.json", lambda text: text.replace('"</s>"', '"<x>"'), "is no list of"),
        ("text/target.json", lambda text: "[" * 99_999, "is no JSON"),
        ("text/manifest.json", lambda text: text.replace("codes.bpe", "../codes.bpe"), "codes.bpe"),
        ("text/manifest.json", lambda text: text.replace("subword_nmt", "evil"), "evil"),
        ("text/dict.en.case.txt", lambda text: text + "more 1\n", "lists other labels"),
        ("text/codes.bpe", lambda text: "x", "codes.bpe"),
    ],
)
def test_forged_bundles_are_refused(forged, name, change, message):
    with pytest.raises(InputError, match=message):
        Translator.open(forged(name, change), threads=1).translate(["The dog."])


def test_changed_bundles_are_refused(bundle, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy)
    with (copy / "text" / "codes.bpe").open("a") as stream:
        stream.write("x")
    with pytest.raises(InputError, match="bytes, but was written with"):
        Translator.open(copy)
    (copy / "text" / "codes.bpe").unlink()
    with pytest.raises(FileNotFoundError, match="codes.bpe is missing"):
        Translator.open(copy)


def test_another_annotator_is_said_loudly(forged, caplog):
    def change(text):
        return text.replace('"version": "', '"version": "0.')

    found = Translator.open(forged("text/manifest.json", change), threads=1)
    with caplog.at_level(logging.WARNING):
        assert found.translate(["The dog."]) != [""]
    assert "THE TAGGER DIFFERS" in caplog.text


def test_the_card_says_what_is_known(bundle, model):
    text = (bundle / "README.md").read_text(encoding="utf-8")
    known = open_bundle(bundle)
    assert Contents.of(known).features == ("pos", "case", "subword")
    for said in ("en to de", "200 train", "pos, case, subword", "licence", known.versions["torch"]):
        assert said in text
    assert str(model.parent) not in text
    assert translation.TEXT in {name.partition("/")[0] for name in known.files}
