"""The command: flags, one line for every error, and the whole way with the bundled pipeline."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import pytest
from cli import shims
from family_directories import FORMS
from raw_corpora import contents
from raw_datasets import write_raw
from raw_text import rows_of, write_pretrained, write_table

from fairseq_plugins.cli.main import main
from fairseq_plugins.corpora.readers.options import ReadOptions
from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.lab.commands import command as started
from fairseq_plugins.prep import engine
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.prep.recipes.text_options import TextOptions, add_text_flags

SCRIPT = "prepare text"


@pytest.fixture
def run(monkeypatch, capfd):
    """Run the command in this process; return its exit status and the lines of stderr."""

    def command(*arguments: object) -> tuple[int, list[str]]:
        with pytest.raises(SystemExit) as caught:
            sys.exit(main([*SCRIPT.split(), *map(str, arguments)]))
        return int(caught.value.code or 0), capfd.readouterr().err.splitlines()

    return command


@pytest.fixture
def raw(tmp_path, monkeypatch) -> Path:
    """The working folder: a table of two classes, and a pretrained directory."""
    write_pretrained(tmp_path / "bert")
    rows = [("text", "label"), ("The dog", "yes"), ("a rose", "no")]
    write_table(tmp_path / "train.tsv", *rows)
    write_table(tmp_path / "valid.tsv", *rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


LOOK = ["--pretrained", "bert", "--annotations", "none", "--workers", 1]
PLAIN = ["--dataset", "plain", "--raw-dir", ".", "--destdir", "out", *LOOK]


def errors(lines: list[str]) -> list[str]:
    """Return the error lines; there must be no traceback."""
    assert not any("Traceback" in line for line in lines)
    return [line for line in lines if "error: " in line]


def test_every_option_has_a_flag() -> None:
    parser = argparse.ArgumentParser()
    add_text_flags(parser)
    names = sorted(action.dest for action in parser._actions)
    own = [spec.name for record in (TextOptions, ReadOptions) for spec in fields(record)]
    assert names == sorted({*own, "help", "annotator"} - {"read"})
    assert len(own) == len(set(own))


def test_command_prepares_a_folder(raw, run) -> None:
    status, lines = run(*PLAIN, "--labels", "yes,no", "--id-column", "text")
    assert (status, errors(lines)) == (0, [])
    manifest = read_manifest(raw / "out", TextManifest)
    assert manifest.labels == ["yes", "no"]
    assert manifest.options["read"]["id_column"] == "text"
    assert manifest.annotator == {}
    assert any("train: 2 examples (2 with labels)" in line for line in lines)
    status, lines = run(*PLAIN, "--labels", raw / "out" / "labels.txt", "--id-column", "text")
    assert status == 0
    assert any("already prepared" in line for line in lines)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--dataset", "glue"], "--dataset 'glue': choices are cola, sst2"),
        (["--tokenize", "moses"], "--tokenize 'moses': choices are whitespace, characters, spacy"),
        (
            ["--annotations", "pos,gist"],
            "--annotations 'pos,gist': unknown layer 'gist'; choices",
        ),
        (["--workers", 0], "--workers 0: must be at least 1"),
        (["--raw-dir", ""], "nothing to prepare: give --raw-dir, or --train-file"),
        (["--raw-dir", "none"], "none: no such file or folder"),
        (["--dataset", "snli"], ". holds no file of 'snli' (train: "),
        (["--test-file", "none.tsv"], "none.tsv: no such file or folder"),
        (["--test-file", "a,,b"], "--test-file 'a,,b': a file name is empty"),
        (["--text-column", "sentence"], "train.tsv:1: no column 'sentence'"),
        (["--on-empty", "keep"], "--on-empty 'keep': choices are error, skip"),
        (["--labels", "a,,b"], "--labels 'a,,b': label 2 is empty"),
        (["--labels", "yes"], "train.tsv:3: unknown label 'no'; choices are yes"),
        (["--dataset", "rte", "--labels", "a"], "--labels: rte has its own labels, "),
        (["--dataset", "plain_scores", "--labels", "a"], "--labels: plain_scores has scores"),
        (["--spacy-model", "xx_sm"], "--spacy-model has no work to do"),
        (["--annotations", "pos", "--spacy-model", "xx_sm"], "no spaCy pipeline 'xx_sm': give"),
        (["--pretrained", "none"], "no pretrained model 'none': neither a directory nor an"),
        (["--destdir", "train.tsv/out"], "train.tsv: --destdir: not a folder"),
    ],
)
def test_bad_options_are_one_line(more, message, raw, run) -> None:
    status, lines = run(*PLAIN, *more)
    assert status == 1
    assert len(errors(lines)) == 1
    assert errors(lines)[0].startswith(f"error: {message}")
    assert not (raw / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"text\tlabel\na\tyes\na\n", "valid.tsv:3: "),
        (b"text\tlabel\n\tyes\n", "valid.tsv:2: empty 'text'"),
        (b"text\tlabel\na\tnever\n", "valid.tsv:2: label 'never' is none of the training set's"),
        (b"text\tlabel\na\xe9\tyes\n", "valid.tsv:2: byte"),
        (b"text\tlabel\n", "valid.tsv: no examples of split 'valid'"),
    ],
)
def test_bad_files_are_one_line(content, message, raw, run) -> None:
    (raw / "valid.tsv").write_bytes(content)
    status, lines = run(*PLAIN)
    assert status == 1
    assert len(errors(lines)) == 1
    assert errors(lines)[0].startswith(f"error: {message}")
    assert not (raw / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no vocabulary, neither vocab.txt nor tokenizer.json"),
        (b"a\nb\n", "is no vocabulary of bert: it lacks [PAD], [UNK], [CLS], [SEP]"),
        (b"[PAD]\n\xff\n", "vocab.txt:2: byte 1 of the line"),
    ],
)
def test_missing_or_bad_vocabulary_is_one_line(content, message, raw, run) -> None:
    (raw / "bert" / "vocab.txt").unlink()
    if content is not None:
        (raw / "bert" / "vocab.txt").write_bytes(content)
    status, lines = run(*PLAIN)
    assert status == 1
    assert len(errors(lines)) == 1
    assert errors(lines)[0].startswith("error: bert")
    assert message in errors(lines)[0]
    assert not (raw / "out").exists()


@pytest.mark.parametrize(
    ("form", "file", "message"),
    [
        ("roberta", "merges.txt", "model: vocab.json is there, but no merges.txt"),
        ("xlm-roberta of fairseq", "dict.txt", "dict.txt does not fit the tokeniser beside it"),
    ],
)
def test_a_tokeniser_that_is_not_whole_is_one_line(form, file, message, raw, run) -> None:
    path = FORMS[form](raw / "model") / file
    if file == "merges.txt":
        path.unlink()
    else:
        path.write_text(path.read_text(encoding="utf-8").partition("\n")[2], encoding="utf-8")
    status, lines = run(*PLAIN, "--pretrained", "model")
    assert (status, len(errors(lines))) == (1, 1)
    assert message in errors(lines)[0]
    assert not (raw / "out").exists()


def test_input_in_the_place_of_a_result_is_refused(raw, run) -> None:
    (raw / "valid.score.txt").write_bytes((raw / "valid.tsv").read_bytes())
    status, lines = run(*PLAIN, "--destdir", ".", "--valid-file", "valid.score.txt")
    assert status == 1
    assert errors(lines)[0].startswith("error: valid.score.txt is an input, but --destdir .")


def test_lone_surrogates_of_json_are_one_line(raw, run) -> None:
    rows = [{"text": "a", "label": "yes"}, {"text": "a \ud800 b", "label": "no"}]
    (raw / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, lines = run(*PLAIN, "--train-file", "lines.jsonl")
    assert status == 1
    assert errors(lines)[0].startswith("error: lines.jsonl:2: ")


def test_interrupt_says_how_to_go_on(raw, run, monkeypatch) -> None:
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "carry", interrupt)
    status, lines = run(*PLAIN)
    assert status == 130
    assert lines[-1] == "stopped; run the same command again to go on"
    assert not (raw / "out" / FILE_NAME).is_file()


def test_prepare_is_a_function_of_its_options(raw, run) -> None:
    run(*PLAIN)
    fixed = {"dataset": "plain", "raw_dir": ".", "pretrained": "bert", "annotations": "none"}
    prepare(TextOptions(destdir="again", workers=1, **fixed))
    assert contents(raw / "out") == contents(raw / "again")


@pytest.mark.slow
def test_bundled_pipeline_all_the_way(raw) -> None:
    """One process, three, and two that are killed and started again: the same bytes."""
    write_raw("rte", raw / "raw", count=1200)
    command = [shims.python(), *started(SCRIPT)[1:], "--dataset", "rte", "--raw-dir", "raw"]

    def start(destdir: str, workers: int) -> subprocess.Popen[bytes]:
        more = ["--pretrained", "bert", "--destdir", destdir, "--workers", workers]
        return subprocess.Popen([*map(str, [*command, *more])], stderr=subprocess.DEVNULL)

    for workers in (1, 3):
        assert start(str(workers), workers).wait() == 0
    child = start("killed", 2)
    while not list(Path("killed").glob(".preparing/*.safetensors")):
        assert child.poll() is None
        time.sleep(0.02)
    child.kill()
    child.wait()
    assert not (raw / "killed" / FILE_NAME).is_file()
    assert start("killed", 1).wait() == 0
    first = contents(raw / "1")
    assert all(contents(raw / name) == first for name in ("3", "killed"))
    assert read_manifest(raw / "1", TextManifest).annotator["name"].startswith("en_")
    roots = [row.count(0) for row in rows_of(raw / "1", "train", "heads0")]
    assert min(roots) >= 1
