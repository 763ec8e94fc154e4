"""What users type by mistake is answered by one line that says what to type in its place."""

from __future__ import annotations

import shlex

import pytest

from fairseq_plugins.bundles.index import TRANSLATION, UNDERSTANDING, new_bundle
from fairseq_plugins.cli.main import main
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.inference.options import ANSWERING, TRANSLATING


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder that commands are typed in."""
    monkeypatch.chdir(tmp_path)
    for name in ("train.en", "train.de"):
        (tmp_path / name).write_text("a b\n")
    (tmp_path / "array.json").write_text('[\n  {"text": "a", "label": 1}\n]\n')
    (tmp_path / "words.conll").write_text("EU B-ORG\nis O\n")
    for name, kind, task in (
        ("translates", TRANSLATION, TRANSLATING),
        ("answers", UNDERSTANDING, ANSWERING),
    ):
        with new_bundle(name, kind, task, {}, {}):
            pass
    return tmp_path


MADE = "--destdir out --layers none"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            f"prepare translation -s en -t de --trainpref train.en {MADE}",
            "no file 'train.en.en': a prefix leaves the language out, give --trainpref train\n",
        ),
        (
            f"prepare translation -s en -t de --trainpref train --validpref a,train.de {MADE}",
            "no file 'train.de.en': a prefix leaves the language out, give --validpref train\n",
        ),
        (
            f"prepare text --dataset plain --train-file array.json {MADE}",
            "JSON lines hold one object a line (jq -c '.[]' FILE makes them of an array)",
        ),
        (
            f"prepare text --dataset tokens --train-file words.conll {MADE}",
            "no TAB in 'EU B-ORG': give --separator blank",
        ),
        (
            "predict translates --input train.en",
            "translates is a bundle for syntax_translation; what is wanted is one for ",
        ),
        ("predict translates --input train.en", "; it is read by fairseq-plugins translate\n"),
        ("predict answers --input train.en", "; it is read by fairseq-plugins answer, ask"),
        ("predict answers --input array.json", "is a table: name its column of texts by --text-c"),
        ("translate answers --source train.en", "(others are read by fairseq-plugins predict, an"),
        (
            "ask answers --context 教区成立了。",
            "--context '教区成立了。': no such file; write the text into a file, and give its name",
        ),
        (
            "ask answers --context 'Who, where: it was.'",
            "error: --context 'Who, where: it was.': no such file; write the text into a file",
        ),
        (f"ask answers --context {'a' * 5000}", "a': no such file; write the text into a"),
        (
            "plot coattention answers --question Who --context 'Mara: built'",
            "--context 'Mara: built': no such file; write the text into a file",
        ),
    ],
)
def test_one_line_says_what_to_type(place, capfd, typed, said) -> None:
    assert main(shlex.split(typed)) == 1
    told = capfd.readouterr().err
    assert said in told
    assert told.splitlines()[-1].startswith("error: ")
    assert not (place / "out").exists() or not any((place / "out").iterdir())


def test_a_folder_that_is_not_there_is_named_with_what_makes_it(tmp_path) -> None:
    said = "none: no such folder; fairseq-plugins prepare text .* makes it, with --destdir .*none"
    with pytest.raises(FileNotFoundError, match=said):
        read_manifest(tmp_path / "none", TextManifest)
    with pytest.raises(FileNotFoundError, match="manifest.json is missing: .* is no folder of"):
        read_manifest(tmp_path, TextManifest)
