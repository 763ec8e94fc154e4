"""The command: flags, one line for every error, and the whole way with the bundled pipeline."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli import shims
from raw_corpora import contents, invented_pairs, stream_rows, write_lines, write_pairs

from fairseq_plugins.cli.main import main
from fairseq_plugins.data.manifest import FILE_NAME
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.lab.commands import command as started
from fairseq_plugins.option_flags import add_flags
from fairseq_plugins.prep import engine
from fairseq_plugins.prep.recipes.translation_options import TranslationOptions

SCRIPT = "prepare translation"
LOOK = ["-s", "en", "-t", "de"]


@pytest.fixture
def run(monkeypatch, capfd):
    """Run the command in this process; return its exit status and the lines of stderr."""

    def command(*arguments: object) -> tuple[int, list[str]]:
        with pytest.raises(SystemExit) as caught:
            sys.exit(main([*SCRIPT.split(), *map(str, arguments)]))
        return int(caught.value.code or 0), capfd.readouterr().err.splitlines()

    return command


def arguments(folder: Path, *more: object) -> list[object]:
    """Prepare ``folder/t`` without parts of speech into ``folder/out``."""
    paths = ["--trainpref", folder / "t", "--destdir", folder / "out"]
    return [*LOOK, *paths, "--features", "case,subword", "--bpe-size", 60, *more]


def errors(lines: list[str]) -> list[str]:
    """Return the error lines; there must be no traceback."""
    assert not any("Traceback" in line for line in lines)
    return [line for line in lines if "error: " in line]


def test_every_option_has_a_flag() -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, TranslationOptions)
    names = [action.dest for action in parser._actions]
    assert names == ["help", *TranslationOptions.__dataclass_fields__]


def test_command_prepares_a_folder(tmp_path, run) -> None:
    write_pairs(tmp_path / "t", invented_pairs(20))
    status, lines = run(*arguments(tmp_path, "--workers", 2, "--thresholdsrc", 2))
    assert status == 0
    assert errors(lines) == []
    manifest = read_manifest(tmp_path / "out")
    assert manifest.options["thresholdsrc"] == 2
    assert manifest.splits["train"]["lines"] == 20
    assert any("train: 20 of 20 lines" in line for line in lines)
    status, lines = run(*arguments(tmp_path, "--workers", 1, "--thresholdsrc", 2))
    assert status == 0
    assert any("already prepared" in line for line in lines)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--features", "pos,gist"], "unknown layer 'gist'; choices: pos, case, subword"),
        (["--bpe-size", 0], "--bpe-size 0: must be at least 1"),
        (["--validpref", "none/valid"], "no file 'none/valid.en'"),
        (["--srcdict", "none.txt"], "none.txt: no such file or folder"),
        (["--features", "pos", "--spacy-model", "xx_sm"], "no spaCy pipeline 'xx_sm': give"),
        (["--destdir", "t.en/out"], "t.en: --destdir: not a folder"),
    ],
)
def test_bad_input_is_one_line(more, message, tmp_path, run, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_pairs(tmp_path / "t", invented_pairs(5))
    status, lines = run(*arguments(tmp_path, *more))
    assert status == 1
    assert len(errors(lines)) == 1
    assert errors(lines)[0].startswith(f"error: {message}")
    assert not (tmp_path / "out").exists()


def test_bad_text_is_one_line(tmp_path, run) -> None:
    write_pairs(tmp_path / "t", invented_pairs(5))
    (tmp_path / "t.de").write_bytes(b"eins\nzw\xe9i\n")
    status, lines = run(*arguments(tmp_path))
    assert status == 1
    assert errors(lines)[0].startswith(f"error: {tmp_path}/t.de:2: byte 3 of the line (0xe9)")


def test_full_disk_is_one_line(tmp_path, run) -> None:
    write_pairs(tmp_path / "t", invented_pairs(60))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))  # bytes a file may have
    try:
        status, lines = run(*arguments(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert status == 1
    assert len(errors(lines)) == 1
    assert errors(lines)[0].startswith(f"error: {tmp_path}/out")
    assert errors(lines)[0].endswith("File too large")


def test_interrupt_says_how_to_go_on(tmp_path, run, monkeypatch) -> None:
    write_pairs(tmp_path / "t", invented_pairs(5))

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "carry", interrupt)
    status, lines = run(*arguments(tmp_path))
    assert status == 130
    assert lines[-1] == "stopped; run the same command again to go on"
    monkeypatch.undo()


@pytest.mark.slow
def test_bundled_pipeline_all_the_way(tmp_path) -> None:
    """One process, three, and two that are killed and started again: the same bytes."""
    write_pairs(tmp_path / "t", invented_pairs(2300))
    write_lines(tmp_path / "v.en", ["The small dog is on the table .", "", "Don't!"])
    write_lines(tmp_path / "v.de", ["Der Hund .", "", "Nein!"])
    files = [*LOOK, "--trainpref", tmp_path / "t", "--validpref", tmp_path / "v"]

    def start(destdir: str, workers: int) -> subprocess.Popen[bytes]:
        command = [shims.python(), *started(SCRIPT)[1:], *files, "--destdir", tmp_path / destdir]
        command += ["--bpe-size", 500, "--workers", workers]
        return subprocess.Popen([*map(str, command)], stderr=subprocess.DEVNULL)

    for workers in (1, 3):
        assert start(str(workers), workers).wait() == 0
    child = start("killed", 2)
    while not list((tmp_path / "killed").glob(".preparing/*.annotated.jsonl")):
        assert child.poll() is None
        time.sleep(0.02)
    child.kill()
    child.wait()
    assert not (tmp_path / "killed" / FILE_NAME).is_file()
    assert start("killed", 1).wait() == 0
    first = contents(tmp_path / "1")
    assert all(contents(tmp_path / name) == first for name in ("3", "killed"))
    assert len(stream_rows(tmp_path / "1", "valid", "en.pos")) == 3
    assert read_manifest(tmp_path / "1").annotator["name"].startswith("en_")
