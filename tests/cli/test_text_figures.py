"""Figures of encoders, from checkpoints and raw text to files."""

from __future__ import annotations

import csv
import io
from types import SimpleNamespace

import prepared_text
import pytest
from prepared_text import examples, pieces_of

from fairseq_plugins.cli.main import main

pytestmark = pytest.mark.slow

ATTENTION, GATES = "plot attention", "plot gates"
SENTENCE = "Alice sees the new garden by night"
SHORT = "--max-update 2 --disable-validation --no-epoch-checkpoints --arch".split()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Run folders, hardly trained, on a folder with heads."""
    root, made = tmp_path_factory.mktemp("runs"), {}
    splits = {"train": examples("classes", 30, 1), "valid": examples("classes", 9, 2)}
    folder = prepared_text.prepare(
        root / "data",
        "classes",
        splits,
        annotations=("pos", "heads"),
        annotator={"name": "en", "version": "1", "hash": "0", "model": "bundled"},
    )
    for name, *more in (
        ("sla", "bert_sla_tiny"),
        ("sla2", "bert_sla_tiny", "--seed", "7"),
        ("wla", "bert_wla_tiny"),
        ("plain", "bert_plain_tiny"),
    ):
        made[name] = prepared_text.train(folder, root / name, *SHORT, *more)
        (made[name] / "checkpoint_last.pt").rename(made[name] / "checkpoint_best.pt")
    return made


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a script in this process; return its exit status and output."""

    def call(script, *arguments):
        code = main([*script.split(), *map(str, arguments), "--cpu"])
        found = capsys.readouterr()
        assert "Traceback" not in found.err
        return SimpleNamespace(code=code, out=found.out, err=found.err)

    return call


@pytest.fixture
def refusal(run):
    """Run what has to fail; return its one line."""

    def call(script, *arguments):
        found = run(script, *arguments)
        assert found.code == 1
        lines = [line for line in found.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1
        return lines[0]

    return call


def shown(path):
    """Text of an SVG."""
    return path.read_text(encoding="utf-8")


def test_attention_of_two_encoders_is_drawn_under_the_parse(runs, run, tmp_path):
    out = tmp_path / "new" / "figure"
    arguments = [runs["wla"], runs["sla"], "--sentence", SENTENCE, "--output"]
    named = [f"WLA={runs['wla']}", f"SLA={runs['sla']}", *arguments[2:]]
    found = run(ATTENTION, *named, out)
    assert found.out.split() == [f"{out}.png", f"{out}.svg"]
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    text = shown(out.with_suffix(".svg"))
    for word in SENTENCE.split():
        for piece in pieces_of(word):
            assert text.count(f">{piece}</text>") >= 4  # rows and columns of two panels
    assert {">WLA</text>" in text, ">SLA</text>" in text} == {True}
    assert "[CLS]" not in text
    assert "[SEP]" not in text
    bare = tmp_path / "bare"
    run(ATTENTION, *arguments, bare, "--words", "--highlight", 0, "--layer", 1)
    words = shown(bare.with_suffix(".svg"))
    assert ["layer 1, mean over heads" in one for one in (text, words)] == [False, True]
    assert "mean over layers, mean over heads" in text
    assert words.count(">garden</text>") == 4
    assert ">bert_sla_tiny</text>" in words
    assert text.count("\nC ") >= 2 * (len(SENTENCE.split()) - 1)  # arcs
    assert "stroke: #ee6677" in text
    assert "stroke: #ee6677" not in words


def test_gates_are_drawn_by_dataset_and_seed(runs, run, tmp_path):
    out = tmp_path / "gates"
    paths = [runs["wla"], runs["sla"], runs["sla2"]]
    found = run(GATES, *paths, "--output", out)
    table = (tmp_path / "gates.csv").read_text()
    assert found.out.startswith(table)
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["system"], row["layer"], row["runs"]) for row in rows] == [
        (f"bert_{name}_tiny", layer, count)
        for name, count in (("wla", "1"), ("sla", "2"))
        for layer in "01"
    ]
    low, mean, high = (float(rows[2][key]) for key in ("min", "mean", "max"))
    assert low < mean < high
    alone = run(GATES, f"SLA={runs['sla2']}", "--output", tmp_path / "b").out
    assert f"data,SLA,0,{rows[2]['values'].split()[1]}," in alone
    assert {">bert_wla_tiny</text>" in shown(tmp_path / "gates.svg")} == {True}
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("b.csv", "b.png", "b.svg"),
        *("gates.csv", "gates.png", "gates.svg"),
    ]


def test_gates_of_raw_text(runs, run, tmp_path):
    """Texts are parsed on the way; a sentence counts by its tokens."""
    lines = [SENTENCE, "good garden"]
    out = ["--output", tmp_path / "a"]
    told = run(GATES, runs["sla"], "--text", *lines, *out).out
    parts = [run(GATES, runs["sla"], "--text", line, *out).out for line in lines]
    one, other, both = (next(csv.DictReader(io.StringIO(text))) for text in (*parts, told))
    tokens = [int(row["tokens"]) for row in (one, other, both)]
    assert tokens[0] + tokens[1] == tokens[2]
    expected = sum(int(row["tokens"]) * float(row["mean"]) for row in (one, other)) / tokens[2]
    assert float(both["mean"]) == pytest.approx(expected, abs=2e-6)


def test_refusals_are_one_line(runs, plain, refusal, tmp_path):
    out = ["--output", tmp_path / "x"]
    both = [runs["wla"], plain, *out, "--sentence"]
    assert "they make no figure together" in refusal(ATTENTION, *both, SENTENCE)
    one = [runs["wla"], *out, "--sentence"]
    assert "is empty" in refusal(ATTENTION, *one, " ")
    assert "expected one sentence" in refusal(ATTENTION, *one, SENTENCE, SENTENCE)
    assert "the model reads 512" in refusal(ATTENTION, *one, "night " * 600)
    assert "no layer 5" in refusal(ATTENTION, *one, SENTENCE, "--layer", 5)
    assert "--words is for a BERT" in refusal(
        ATTENTION, plain, "--sentence", SENTENCE, "--words", *out
    )
    assert "no gates; those with" in refusal(GATES, runs["sla"], runs["plain"], *out)
    assert "holds model 'syntax_transformer_tiny'" in refusal(GATES, plain, *out)
    assert "no split 'dev'" in refusal(GATES, runs["sla"], "--split", "dev", *out)
    assert "--text:1: empty line" in refusal(GATES, runs["sla"], "--text", " ", *out)
    (tmp_path / "file").write_text("")
    for script, first in ((ATTENTION, [*both[:1], "--sentence", SENTENCE]), (GATES, [runs["sla"]])):
        assert "file" in refusal(script, *first, "--output", tmp_path / "file" / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
