"""Errors by question word, from files to tables and bars."""

from __future__ import annotations

import json

import pytest
from squad_files import paragraph, question, write_squad

ANALYZE = "analyze-questions"


@pytest.fixture
def files(tmp_path):
    """Gold, and the predictions of two systems."""
    asked = [
        question("a", "Who built it?", "Mara"),
        question("b", "Where is it?", "Lund"),
        question("c", "Who sold it?"),
    ]
    gold = write_squad(tmp_path / "dev.json", [paragraph("Mara built the mill in Lund.", *asked)])
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps({"a": "Mara", "b": "mill", "c": "Mara"}))
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"a": "Mara", "b": "Lund", "c": ""}))
    return gold, plain, other


def test_tables_and_bars_are_written(run_here, files, tmp_path):
    gold, plain, other = files
    out = tmp_path / "new" / "errors"
    done = run_here(ANALYZE, gold, plain, f"BERTQA={other}", "--output", out, "--plot", out)
    lines = done.out.splitlines()
    assert lines[0].split() == ["type", "questions", "plain", "BERTQA"]
    assert lines[1].split()[:4] == ["who", "2", "1", "(50.0"]
    assert {path.suffix for path in out.parent.iterdir()} == {
        ".md",
        ".csv",
        ".json",
        ".png",
        ".svg",
    }
    assert "who" in out.with_suffix(".svg").read_text()
    assert "BERTQA" in out.with_suffix(".svg").read_text()
    rows = json.loads(out.with_suffix(".json").read_text())
    assert [row["wrong"] for row in rows if row["kind"] == "all"] == [2, 0]
    printed = run_here(ANALYZE, gold, plain, f"BERTQA={other}", "--format", "json").out
    assert json.loads(printed) == rows


def test_gold_of_a_prepared_folder_does_as_well(run_here, files, tmp_path):
    gold, *systems = files
    rows = [
        {"id": "a", "texts": ["Who built it?"], "answers": [{"text": "Mara", "start": 0}]},
        {"id": "b", "texts": ["Where is it?"], "answers": [{"text": "Lund", "start": 23}]},
        {"id": "c", "texts": ["Who sold it?"], "answers": []},
    ]
    prepared = tmp_path / "valid.examples.jsonl"
    prepared.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run_here(ANALYZE, prepared, *systems).out == run_here(ANALYZE, gold, *systems).out
    prepared.write_text('{"id": "a"}\n')
    said = run_here(ANALYZE, prepared, *systems, fails=True).err
    assert "valid.examples.jsonl:1: no question of a prepared folder" in said


def test_some_ids_alone(run_here, files, tmp_path):
    gold, plain, _ = files
    (tmp_path / "ids.txt").write_text("b\n")
    done = run_here(ANALYZE, gold, plain, "--ids", tmp_path / "ids.txt", "--format", "csv")
    assert done.out.splitlines()[1:] == ["where,plain,1,1,100.0,", "all,plain,1,1,100.0,"]


def test_errors_are_one_line(run_here, files, tmp_path):
    gold, plain, other = files
    for arguments, said in (
        ([gold, tmp_path / "no.json"], "no.json: no such file"),
        ([tmp_path / "no.json", plain], "no.json"),
        ([gold, plain, plain], "has no name of its own: write NAME=FILE"),
        ([gold, plain, "--samples", -1], "--samples -1"),
        ([gold, plain, "--plot", tmp_path / "plain.json" / "x"], "plain.json"),
    ):
        done = run_here(ANALYZE, *arguments, fails=True)
        assert (done.code, done.err.count("\n")) == (1, 1)
        assert said in done.err
    plain.write_text('{"a": "Mara"}')
    assert (
        "plain: 2 of 3 questions are missing, 'b' among"
        in run_here(ANALYZE, gold, plain, fails=True).err
    )
    hidden = [question("a", "Who?", gold=False)]
    write_squad(gold, [paragraph("Mara.", *hidden)])
    assert "'a' has no gold answers" in run_here(ANALYZE, gold, other, fails=True).err
