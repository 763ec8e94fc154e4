"""`train FILE`: one model from a file, where `run` would put it, and what it says meanwhile."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from cli.shims import run
from prepared_text import examples, prepare

import fairseq_plugins
from fairseq_plugins.cli.train import scores_of

FILE = """
dataset: toy
systems: [bert_plain_tiny]
learning_rates: [5e-3]
epochs: [2]
seeds: [1]
batch_size: 20
options: {pretrained: none, hidden-size: 16, intermediate-size: 32, dropout: 0}
"""


@pytest.fixture
def file(tmp_path):
    """A file of one run, with where its data and run are."""
    texts = {"train": examples("classes", 203), "valid": examples("classes", 45, 1)}
    prepare(tmp_path / "bin", "classes", texts)
    (tmp_path / "toy.yaml").write_text(FILE)
    return [tmp_path / "toy.yaml", "--data", tmp_path / "bin", "--runs", tmp_path / "runs", "--cpu"]


@pytest.mark.slow
def test_a_model_is_trained_followed_and_found_again(file, tmp_path):
    done = run("train", *file)
    folder = tmp_path / "runs" / "bert_plain_tiny" / "lr0.005-epochs2" / "seed1"
    lines = [line for line in done.err.splitlines() if line.startswith("update ")]
    said = [line for line in lines if ": " in line]  # the others tell progress, if it takes long
    assert [line.split(":")[0] for line in said] == ["update 11 of 22", "update 22 of 22"]
    row = json.loads((folder / "result.json").read_text())
    chosen = next(line for line in said if line.startswith(f"update {row['best_updates']} "))
    assert f": mcc {row['metrics']['valid']['mcc']:g}, " in chosen
    first, predicting, exporting = done.out.splitlines()
    assert first == str(folder)
    assert predicting.endswith(f"predict {folder} --input -")
    assert exporting.startswith(f"fairseq-plugins export {folder} ")
    again = run("train", *file)
    assert again.out == done.out
    assert "update " not in again.err  # nothing is trained twice
    assert run("run", *file).err.count("1 of 1 runs are finished") == 1
    how = {"lr": 5e-3, "epochs": 2, "batch_size": 20, "dropout": 0, "hidden_size": 16}
    how |= {"pretrained": "none", "intermediate_size": 32, "cpu": True, "runs": tmp_path / "runs"}
    made = fairseq_plugins.train(tmp_path / "bin", "bert_plain_tiny", **how)
    assert (made.path, made.metrics) == (folder, row["metrics"])  # nor from Python


def test_a_file_of_several_runs_asks_for_one(run_here, file, tmp_path):
    several = FILE.replace("[bert_plain_tiny]", "[bert_plain_tiny, bert_pos_tiny]")
    (tmp_path / "toy.yaml").write_text(several.replace("[1]", "[1, 2]"))
    done = run_here("train", *file, fails=True)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "has 4 runs" in done.err
    assert "--archs bert_plain_tiny | bert_pos_tiny; --seeds 1 | 2" in done.err
    assert not (tmp_path / "runs").exists()
    chosen = ["--archs", "bert_pos_tiny", "--seeds", 2, "--learning-rates", "1e-3", "--dry-run"]
    (line,) = run_here("train", *file, *chosen).out.splitlines()
    assert "--arch bert_pos_tiny" in line
    assert "--lr 0.001" in line
    assert "--seed 2" in line


def test_a_file_of_several_parts_is_refused_before_its_data_are_prepared(file, tmp_path):
    parts = "".join(f"  - {{name: {name}, grid: one.yaml}}\n" for name in ("a", "b"))
    (tmp_path / "one.yaml").write_text(FILE)
    (tmp_path / "toy.yaml").write_text(f"parts:\n{parts}")
    told = run("train", tmp_path / "toy.yaml", "--raw", tmp_path, fails=True).err
    assert told.count("\n") == 1
    assert "has 2 parts (a, b)" in told
    assert "with --parts" in told


def test_the_score_on_the_split_of_evaluation_is_said():
    scores = {"bleu": 32.0188, "chrf": 55.47175}
    row = SimpleNamespace(evaluated="test", metrics={"valid": {"loss": 1.0}, "test": scores})
    assert list(scores_of(SimpleNamespace(row=lambda: None))) == []
    assert list(scores_of(SimpleNamespace(row=lambda: row))) == ["test: bleu 32.02, chrf 55.47"]
