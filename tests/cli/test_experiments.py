"""Experiments from the command line: `run`, `results compare`, `results table`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cli.shims import run
from lab.finished_runs import finish
from lab.translated_runs import translated
from prepared_text import examples, prepare

from fairseq_plugins.evaluation.packed_counts import unpacked

RUNNER, REPORT = "run", "results compare"
TABLE = "results table"
ROWS = ("predictions.jsonl", "evaluation.jsonl")
GRID = """
dataset: toy
systems: [bert_plain_tiny, bert_pos_tiny]
learning_rates: [5e-3]
epochs: [2]
seeds: [1, 2]
batch_size: 20
options: {pretrained: none, hidden-size: 16, intermediate-size: 32, dropout: 0}
"""


@pytest.fixture
def grid(tmp_path):
    prepare(
        tmp_path / "bin",
        "classes",
        {"train": examples("classes", 203), "valid": examples("classes", 45, 1)},
    )
    (tmp_path / "toy.yaml").write_text(GRID)
    return [tmp_path / "toy.yaml", "--data", tmp_path / "bin", "--runs", tmp_path / "runs", "--cpu"]


def test_dry_run_prints_every_command_and_runs_none(run_here, grid, tmp_path):
    lines = run_here(RUNNER, *grid, "--dry-run").out.splitlines()
    assert len(lines) == 4
    assert all("--optimizer bert_adamw" in line and "--max-update 22" in line for line in lines)
    assert sum("--arch bert_pos_tiny" in line for line in lines) == 2
    lines = run_here(
        RUNNER, *grid, "--dry-run", "--archs", "bert_plain_base", "--preset"
    ).out.splitlines()
    assert len(lines) == 2
    assert all("--arch bert_plain_base" in line and "--max-update 22" in line for line in lines)
    assert not (tmp_path / "runs").exists()


def test_choices_options_and_size_of_the_command_line_reach_the_commands(run_here, grid, tmp_path):
    path = tmp_path / "toy.yaml"
    path.write_text(
        GRID.replace("bert_pos_tiny", "{arch: bert_pos_tiny, feature-init: [normal, zero]}")
    )
    assert len(run_here(RUNNER, *grid, "--dry-run").out.splitlines()) == 2 * 3
    given = ["--choices", "feature-init=zero", "--options", "hidden-size=", "dropout=0.5"]
    lines = run_here(RUNNER, *grid, "--dry-run", *given, "--size", "base").out.splitlines()
    assert len(lines) == 2 * 2
    for line in lines:
        assert "--dropout 0.5" in line
        assert "--hidden-size" not in line
    assert sum("bert_pos_base --feature-init zero" in line for line in lines) == 2
    assert sum("bert_pos_base/lr0.005-epochs2-feature-initzero/" in line for line in lines) == 2
    done = run_here(RUNNER, *grid, "--choices", "window=3", fails=True)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "choices: feature-init" in done.err


@pytest.mark.slow
def test_what_is_chosen_is_chosen_on_a_held_out_part(grid, tmp_path):
    (tmp_path / "toy.yaml").write_text(f"{GRID}select_fraction: 0.2\nfractions: [0.5, 1]\n")
    run(RUNNER, *grid, "--archs", "bert_plain_tiny", "--seeds", 1, "--epochs", 1, "--jobs", 1)
    rows = [json.loads(line) for line in (tmp_path / "runs" / "rows.jsonl").open()]
    assert [row["updates"] for row in rows] == [5, 9]  # of 81 and 162 examples, 20 at a time
    for row in rows:
        assert row["chosen_on"] == "select"
        assert set(row["metrics"]) == {"select", "valid"}
        folder = tmp_path / "runs" / row["folder"]
        found = [len((folder / name).read_text().splitlines()) for name in ROWS]
        assert found == [41, 45]  # held out of 203, and the validation set
    run("results keep", tmp_path / "runs", "--output", tmp_path / "kept" / "rows.jsonl")
    kept = [json.loads(line) for line in (tmp_path / "kept" / "rows.jsonl").open()]
    for row in kept:  # which tell of each example what the score was made of
        counts = unpacked({**row["counts"]["valid"], "split": "valid"}, "row")
        found = counts.score(np.ones(45, dtype=int))
        assert found == pytest.approx(row["metrics"]["valid"]["mcc"])
    assert [{**row, "counts": 0} for row in kept] == [{**row, "counts": 0} for row in rows]


def test_table_is_printed_and_left_in_files(run_here, tmp_path):
    for system, values in {"bert_plain_tiny": (0.2, 0.21), "bert_sla_tiny": (0.3, 0.31)}.items():
        for seed, value in enumerate(values, start=1):
            own = {"dataset": "cola", "options": {"arch": system}}
            finish(tmp_path / "cola", system, 1e-5, seed, value, metric="mcc", **own)
    text = run_here(TABLE, tmp_path, "--output", tmp_path / "all").out
    assert (tmp_path / "all.md").read_text() == text
    assert "| + SLA | – | **30.50 ± 0.71** ↑ (2 seeds · +10.00 · p 0.005 · paper 60.0) |" in text
    assert "Welch" in text
    assert "| T5 (Raffel et al. 2019) (cited) | – | – (paper 71.6) |" in text
    text = run_here(TABLE, tmp_path / "cola", "--layout", "sla1", "--no-paper").out
    assert "| + SLA | – | **30.50 ± 0.71** ↑ (2 seeds · +10.00 · p 0.005) |" in text
    assert "Li et al. (2020), base" not in text
    assert "bootstrap" not in text
    done = run_here(TABLE, tmp_path, "--layout", "sla2", fails=True)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "none of these runs stands in it; they are on cola" in done.err


def test_errors_are_one_line(run_here, grid, tmp_path):
    path = tmp_path / "toy.yaml"
    done = run_here(RUNNER, path, "--data", tmp_path / "none", fails=True)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "prepare text --dataset toy" in done.err
    path.write_text(GRID + "seed: 1\n")
    assert "unknown key 'seed'" in run_here(RUNNER, *grid, fails=True).err
    done = run(REPORT, tmp_path / "runs", fails=True)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "no such file or folder" in done.err
    (tmp_path / "runs").mkdir()
    assert "no runs (no rows.jsonl" in run_here(REPORT, tmp_path / "runs", fails=True).err


def describe(root, *parts, **more):
    """Write what run_experiment.py says of an experiment."""
    parts = [{"name": name, "folder": name} for name in parts]
    (root / "experiment.json").write_text(json.dumps({"parts": parts, **more}))


def test_an_experiment_is_laid_out_as_its_file_asks(run_here, tmp_path):
    for system, value in {"bert_plain_base": 0.5, "bert_sla_base": 0.6}.items():
        for name, metric in (("cola", "mcc"), ("rte", "accuracy")):
            own = {"dataset": name, "options": {"arch": system}, "metric": metric}
            root = tmp_path / "table"
            finish(root / name, system, 1e-5, 1, value, home=root, **own)
    describe(tmp_path / "table", "cola", "rte", tables=["sla2", "settings"])
    text = run_here(TABLE, tmp_path / "table").out
    assert text.startswith("**Sentence pairs")
    assert "Table 1" not in text
    assert text.count("| bert_sla_base |") == 2  # of the settings
    assert "Table 1" in run_here(TABLE, tmp_path / "table", "--layout", "sla1", "sla2").out
    assert "Table 1" in run_here(TABLE, tmp_path / "table" / "cola").out  # what fits, unasked


def test_shares_of_the_data_are_laid_out(run_here, tmp_path):
    for share in (0.1, 1.0):
        translated(tmp_path / "wmt14_mine", "baseline", 10 * share, fraction=share)
        translated(tmp_path / "wmt14_mine", "syntax", 11 * share, fraction=share, features="pos")
    text = run_here(TABLE, tmp_path / "wmt14_mine").out
    assert "| 10 % |" in text
    assert "paper 29.64" in text
    done = run_here(TABLE, tmp_path / "wmt14_mine", "--layout", "shares", fails=True)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "choices are sla1" in done.err
