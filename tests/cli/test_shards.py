"""`--shard` and `--merge` of the three preparing commands: two parts make the same folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from raw_corpora import contents, invented_pairs, write_pairs
from raw_datasets import write_raw
from raw_text import write_pretrained
from squad_files import toy_squad, write_toy_bert

from fairseq_plugins.cli.main import main
from fairseq_plugins.prep.shards import SHARDS

SCRIPTS = Path(__file__).parents[2] / "scripts"
PLAIN = ["--pretrained", "bert", "--annotations", "none"]


@pytest.fixture
def run(monkeypatch, capfd):
    """Run a command in this process; return its exit status and stderr."""

    def command(script: str, *arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as caught:
            sys.exit(main([*script.split(), *arguments, "--workers", "1"]))
        return int(caught.value.code or 0), capfd.readouterr().err

    return command


@pytest.fixture(params=["translation", "text", "squad"])
def command(request, tmp_path, monkeypatch) -> list[str]:
    """A preparing command with the files that it reads, in this folder."""
    monkeypatch.chdir(tmp_path)
    if request.param == "translation":
        for split, count in (("train", 600), ("valid", 20)):
            write_pairs(tmp_path / split, invented_pairs(count))
        flags = "-s en -t de --trainpref train --validpref valid --features case --bpe-size 50"
        return ["prepare translation", *flags.split()]
    if request.param == "text":
        write_pretrained(tmp_path / "bert")
        write_raw("rte", tmp_path / "raw", count=30)
        return ["prepare text", "--dataset", "rte", "--raw-dir", "raw", *PLAIN]
    write_toy_bert(tmp_path / "bert")
    toy_squad(tmp_path / "raw")
    return ["prepare questions", "--raw-dir", "raw", *PLAIN]


@pytest.mark.slow
def test_two_shards_and_a_merge_make_the_same_folder(command, run, tmp_path) -> None:
    assert run(*command, "--destdir", "whole")[0] == 0
    code, said = run(*command, "--destdir", "out", "--merge")
    assert (code, said.splitlines()[-1][:6]) == (1, "error:")
    assert "holds no shards" in said
    for part in ("1/2", "2/2"):
        code, said = run(*command, "--destdir", "out", "--shard", part)
        assert code == 0
        assert f"shard {part} is made in out/{SHARDS}/{part[0]}-of-2; when all are" in said
    assert run(*command, "--destdir", "out", "--merge")[0] == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_impossible_shard_is_one_clear_line(command, run) -> None:
    code, said = run(*command, "--destdir", "out", "--shard", "3/2")
    assert code == 1
    assert said == "error: --shard '3/2': give i/n with i from 1 to n, for example 2/3\n"
