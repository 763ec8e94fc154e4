"""The command that puts errors into a treebank: its counts, its output, its refusals."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fairseq_plugins.cli.main import main

SCRIPT = "augment errors"
ROWS = (
    ("Those", "that", "DET", "_", 2, "det"),
    ("dogs", "dog", "NOUN", "Number=Plur", 3, "nsubj"),
    ("chase", "chase", "VERB", "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin", 0, "root"),
    ("cats", "cat", "NOUN", "Number=Plur", 3, "obj"),
)


@pytest.fixture
def treebank(tmp_path) -> Path:
    """Forty sentences with the same words and names of their own."""
    rows = "".join(
        "\t".join(map(str, (i, form, lemma, upos, "_", feats, head, relation, "_", "_"))) + "\n"
        for i, (form, lemma, upos, feats, head, relation) in enumerate(ROWS, 1)
    )
    path = tmp_path / "a.conllu"
    path.write_text("\n".join(f"# sent_id = {n}\n{rows}" for n in range(40)), encoding="utf-8")
    return path


@pytest.fixture
def run(monkeypatch, capfd, treebank):
    """Run the command in this process; return its exit status, its output, its lines of error."""

    def command(output: Path, *more: object) -> tuple[int, str, list[str]]:
        arguments = ["--conllu", treebank, "--output", output, "--seed", 1, *more]
        with pytest.raises(SystemExit) as caught:
            sys.exit(main([*SCRIPT.split(), *map(str, arguments)]))
        done = capfd.readouterr()
        return int(caught.value.code or 0), done.out, done.err.splitlines()

    return command


def sentences(path: Path) -> list[list[list[str]]]:
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    return [[row.split("\t") for row in block.split("\n")] for block in blocks]


def test_command_writes_labels_and_prints_counts(tmp_path, run) -> None:
    status, out, errors = run(tmp_path / "a.tsv")
    found = sentences(tmp_path / "a.tsv")
    wrong = sum(any(label == "i" for _, label in rows) for rows in found)
    assert (status, errors, len(found)) == (0, [], 40)
    assert out.startswith(f"40 sentences, {wrong} with errors, 0 to which no kind applies\n")
    assert 15 < wrong < 40
    run(tmp_path / "b.tsv")
    assert (tmp_path / "a.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()


def test_options_reach_the_errors(tmp_path, run) -> None:
    _, out, _ = run(tmp_path / "a.tsv", "--erroneous", 1, "--rate", 0, "--kinds", "agreement")
    assert all(rows[2] == ["chases", "i"] for rows in sentences(tmp_path / "a.tsv"))
    assert out.splitlines()[-1] == "agreement\t40"
    run(tmp_path / "b.tsv", "--erroneous", 0)
    assert "\ti" not in (tmp_path / "b.tsv").read_text()
    run(tmp_path / "c.tsv", "--seed", 2)
    run(tmp_path / "d.tsv", "--seed", 3)
    assert (tmp_path / "c.tsv").read_bytes() != (tmp_path / "d.tsv").read_bytes()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--conllu", "none"], "none: no such file or folder"),
        (["--rate", 2], "--rate 2.0: must be from 0 to 1"),
        (["--kinds", "style"], "--kinds 'style': choices, each once, are article, "),
        (["--output", "none/a.tsv"], "--output: no folder 'none'"),
    ],
)
def test_what_is_wrong_is_one_line(more, message, tmp_path, run, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, errors = run(tmp_path / "a.tsv", *more)
    assert (status, out, len(errors)) == (1, "", 1)
    assert errors[0].startswith(f"error: {message}")
    assert not (tmp_path / "a.tsv").exists()
