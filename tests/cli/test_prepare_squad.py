"""The command: flags, one line for every error, and the whole way with the bundled pipeline."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from raw_corpora import contents
from raw_text import rows_of
from squad_files import paragraph, question, toy_squad, write_squad, write_toy_bert

from fairseq_plugins.cli.main import main
from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.option_flags import add_flags
from fairseq_plugins.prep import engine
from fairseq_plugins.prep.recipes.question_options import QuestionOptions
from fairseq_plugins.prep.recipes.questions import prepare

SCRIPT = "prepare questions"


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
    """The working folder: toy facts and a pretrained directory."""
    write_toy_bert(tmp_path / "bert")
    toy_squad(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


PLAIN = ["--raw-dir", ".", "--destdir", "out", "--pretrained", "bert", "--workers", 1]
FAST = [*PLAIN, "--annotations", "none"]


def errors(lines: list[str]) -> list[str]:
    """Return the error lines; there must be no traceback."""
    assert not any("Traceback" in line for line in lines)
    return [line for line in lines if "error: " in line]


def test_every_option_has_a_flag() -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, QuestionOptions)
    names = [action.dest for action in parser._actions]
    assert names == ["help", *(spec.name for spec in fields(QuestionOptions))]


def test_command_prepares_a_folder(raw, run) -> None:
    status, lines = run(*FAST, "--max-positions", 64, "--doc-stride", 16, "--max-query-length", 20)
    assert (status, errors(lines)) == (0, [])
    manifest = read_manifest(raw / "out", TextManifest)
    assert manifest.windows == {"max_positions": 64, "doc_stride": 16, "max_query_length": 20}
    assert (manifest.annotator, manifest.tokenize) == ({}, "whitespace")
    assert any("train: 18 examples (18 with labels)" in line for line in lines)
    assert run(*FAST, "--max-positions", 64, "--doc-stride", 16, "--max-query-length", 20)[0] == 0
    status, lines = run(*FAST)
    assert "options.doc_stride 16 -> 128" in errors(lines)[0]


def test_bundled_pipeline_all_the_way(raw, run) -> None:
    assert run(*PLAIN)[0] == 0
    manifest = read_manifest(raw / "out", TextManifest)
    assert manifest.annotator["name"].startswith("en_")
    assert (manifest.tokenize, manifest.annotations) == ("spacy", ["pos", "heads"])
    assert min(row.count(0) for row in rows_of(raw / "out", "train", "heads1")) >= 1
    prepare(QuestionOptions("two", ".", pretrained="bert", workers=2))
    assert contents(raw / "out") == contents(raw / "two")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--raw-dir", ""], "nothing to prepare: give --raw-dir, or --train-file"),
        (["--raw-dir", "none"], "none: no such file or folder"),
        (["--raw-dir", "bert"], "--raw-dir bert holds no SQuAD file (train: train-v2.0.json or"),
        (["--test-file", "none.json"], "none.json: no such file or folder"),
        (["--test-file", "a,,b"], "--test-file 'a,,b': a file name is empty"),
        (
            ["--annotations", "pos,gist"],
            "--annotations 'pos,gist': unknown layer 'gist'; choices",
        ),
        (["--annotations", "similarity"], "--layers similarity: similarity compares the"),
        (["--tokenize", "moses"], "--tokenize 'moses': choices are whitespace, characters, spacy"),
        (["--long-questions", "skip"], "--long-questions 'skip': choices are truncate, error"),
        (["--on-misalignment", "keep"], "--on-misalignment 'keep': choices are error, repair, sk"),
        (["--workers", 0], "--workers 0: must be at least 1"),
        (["--doc-stride", 0], "--doc-stride 0: must be at least 1"),
        (["--max-query-length", -1], "--max-query-length -1: must be at least 1"),
        (["--max-positions", 190], "--doc-stride 128: beside a question of --max-query-length 64"),
        (["--max-positions", 60], "--doc-stride 128: beside a question of --max-query-length 64"),
        (["--spacy-model", "xx_sm"], "--spacy-model has no work to do: --tokenize whitespace with"),
        (["--tokenize", "spacy", "--spacy-model", "xx_sm"], "no spaCy pipeline 'xx_sm': give"),
        (["--pretrained", "none"], "no pretrained model 'none': neither a directory nor an"),
        (["--destdir", "dev-v2.0.json/out"], "dev-v2.0.json: --destdir: not a folder"),
    ],
)
def test_bad_options_are_one_line(more, message, raw, run) -> None:
    status, lines = run(*FAST, *more)
    assert status == 1
    assert len(errors(lines)) == 1
    assert errors(lines)[0].startswith(f"error: {message}")
    assert not (raw / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"data": [}', "dev-v2.0.json is no JSON: line 1, column 11: "),
        (b'{"data": "\xff"}', "dev-v2.0.json:1: byte 11 of the line"),
        (b'{"data": []}', "dev-v2.0.json holds no question"),
        (b'{"data": [{"paragraphs": [{"context": " ", "qas": []}]}]}', "dev-v2.0.json: data[0].pa"),
    ],
)
def test_bad_files_are_one_line(content, message, raw, run) -> None:
    (raw / "dev-v2.0.json").write_bytes(content)
    status, lines = run(*FAST)
    assert (status, len(errors(lines))) == (1, 1)
    assert errors(lines)[0].startswith(f"error: {message}")
    assert not (raw / "out").exists()


def test_what_is_odd_is_counted_in_the_log(raw, run) -> None:
    odd = paragraph("Mara sold it.", question("q", "Who?", ("Mara", 3)), question("r", "What?"))
    write_squad(raw / "dev-v2.0.json", [odd])
    status, lines = run(*FAST)
    assert status == 0
    assert any("valid: 2 examples" in line and "'moved_answers': 1" in line for line in lines)
    assert any(
        "remarks on answers, by id, in " in line and line.endswith("misaligned.jsonl: 1")
        for line in lines
    )


def test_interrupt_says_how_to_go_on(raw, run, monkeypatch) -> None:
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "carry", interrupt)
    status, lines = run(*FAST)
    assert status == 130
    assert lines[-1] == "stopped; run the same command again to go on"
    assert not (raw / "out" / FILE_NAME).is_file()
