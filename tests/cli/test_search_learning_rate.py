"""A search for the learning rate from the command line, on a part of a prepared folder."""

from __future__ import annotations

import json

import prepared_questions
import prepared_text
import pytest
from cli.shims import run
from prepared_text import examples

from fairseq_plugins.cli.main import main

SEARCH = "search-rate"
GRID = """
dataset: toy
systems: [bert_plain_tiny, {arch: bert_pos_tiny, lr: 7e-3}]
learning_rates: [5e-3, 1e-3]
epochs: [1, 2]
seeds: [3, 4]
batch_size: 20
options: {pretrained: none, hidden-size: 16, intermediate-size: 32, dropout: [0, 0.1]}
"""


@pytest.fixture
def classes(tmp_path):
    """A grid file and its prepared folder."""
    splits = {"train": examples("classes", 90), "valid": examples("classes", 25, 1)}
    prepared_text.prepare(tmp_path / "bin", "classes", splits)
    (tmp_path / "toy.yaml").write_text(GRID)
    return [tmp_path / "toy.yaml", "--data", tmp_path / "bin", "--runs", tmp_path / "runs", "--cpu"]


@pytest.mark.slow
def test_rates_are_tried_on_a_part_of_the_data_and_a_stopped_search_goes_on(classes, tmp_path):
    given = [*classes, "--rates", 1e-2, 1e-3, "--examples", 40, "--archs", "bert_pos_tiny"]
    done = run(SEARCH, *given)
    lines = done.out.splitlines()
    assert {line.split()[0] for line in lines[:2]} == {"bert_pos_tiny"}
    assert "40 training examples" in done.out
    assert "Best learning rate: 0.0" in done.out
    (part,) = tmp_path.glob("bin.*-seed1")
    assert json.loads((part / "manifest.json").read_text())["splits"]["train"]["examples"] == 40
    results = sorted((tmp_path / "runs").glob("*/*/*/result.json"))
    assert len(results) == 2
    assert {json.loads(p.read_text())["learning_rate"] for p in results} == {1e-2, 1e-3}
    assert not list((tmp_path / "runs").rglob("*.pt"))
    suffixes = {path.suffix for path in (tmp_path / "runs").glob("rates.*")}
    assert suffixes == {".md", ".csv", ".json", ".png", ".svg"}
    times = [path.stat().st_mtime_ns for path in results]
    again = run(SEARCH, *given)
    assert [path.stat().st_mtime_ns for path in results] == times
    assert sorted(again.out.splitlines()) == sorted(lines)


@pytest.mark.long
def test_questions_are_searched_like_any_other_task(tmp_path):
    splits = {
        "train": prepared_questions.passages(12, 1),
        "valid": prepared_questions.passages(4, 2),
    }
    prepared_questions.prepare(tmp_path / "bin", splits)
    (tmp_path / "toy.yaml").write_text(GRID.replace("batch_size: 20", "batch_size: 4"))
    given = [tmp_path / "toy.yaml", "--data", tmp_path / "bin", "--runs", tmp_path / "runs"]
    done = run(SEARCH, *given, "--cpu", "--range", 1e-3, 1e-2, 2, "--fraction", 0.5)
    assert done.out.count(" f1 ") >= 2
    found = json.loads((tmp_path / "runs" / "rates.json").read_text())
    assert [trial["metric"] for trial in found["trials"]] == ["f1", "f1"]


def test_errors_are_one_line(classes, tmp_path, monkeypatch, capsys):
    for arguments, said in (
        (["--rates", 0, 1], "--rates [0.0, 1.0]: expected different numbers above 0"),
        (["--range", 1, "x", 3], "--range 1 x 3: "),
        (["--range", 1e-3, 1e-4, 3], "expected 0 < low < high"),
        (["--fraction", 0], "--fraction 0.0: must be above 0"),
        (["--examples", 91], "--examples 91: there are 1 to 90"),
        (["--data", tmp_path / "none"], "none: no such file or folder"),
        (["--jobs", 0, "--fraction", 1], "--jobs 0: must be at least 1"),
    ):
        code = main([SEARCH, *map(str, classes), *map(str, arguments)])
        err = capsys.readouterr().err
        assert (code, err.count("error: ")) == (1, 1), err
        assert said in err
    assert not list((tmp_path / "runs").glob("*/*/*/train.log"))
