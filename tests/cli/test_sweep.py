"""The sweep over data fractions: what its variables become, and that all of it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from cli.commands import LONGEST_RUN, SCRIPTS, state_of

from fairseq_plugins.experiments.experiment_file import read_experiment

SWEEP = SCRIPTS / "sweep_fractions.sh"
FRACTIONS = ("25", "100")
UPDATES = 4


def sweep(*arguments, status=0, **variables):
    """Run the sweep; return its output and its messages."""
    done = subprocess.run(
        ["bash", str(SWEEP), *map(str, arguments)],
        env={**os.environ, "VENV": sys.prefix, "OMP_NUM_THREADS": "1", **variables},
        capture_output=True,
        text=True,
        timeout=4 * LONGEST_RUN,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr


def test_variables_and_arguments_become_an_experiment(tmp_path):
    (tmp_path / "bin").mkdir()
    reference = tmp_path / "test.de"
    reference.touch()
    given = {
        "FRACTIONS": "1 12.5 100",
        "ARCH": "syntax_transformer_iwslt_en_de",
        "UPDATES": "70",
        "SEED": "3 4",
        "SUBSET": "valid",
        "REF": str(reference),
        "TRAIN": "--lr 2e-3 --adam-betas (0.9,0.98) --share-all-embeddings --dropout=0.3",
        "GENERATE": "--beam 2 --unkpen -1",
    }
    _, told = sweep(tmp_path / "bin", tmp_path / "out", "--max-tokens", "500", status=1, **given)
    assert "no such file; prepare the data first" in told  # it has come as far as running
    (part,) = read_experiment(tmp_path / "out" / "sweep.yaml").parts
    grid = part.grid
    assert part.folder == tmp_path / "bin"
    assert (grid.fractions, grid.seeds, grid.updates) == ((0.01, 0.125, 1), (3, 4), 70)
    assert (grid.learning_rates, grid.evaluate) == ((2e-3,), "valid")
    assert grid.reference == str(reference)
    assert grid.generate == {"beam": 2, "unkpen": -1}
    assert grid.options == {
        "adam-betas": "(0.9,0.98)",
        "share-all-embeddings": True,
        "dropout": 0.3,
        "max-tokens": 500,
    }
    arches = {name: options["arch"] for name, options in grid.systems.items()}
    assert arches == dict.fromkeys(("baseline", "syntax"), given["ARCH"])


def test_the_papers_shares_are_the_default(tmp_path):
    (tmp_path / "bin").mkdir()
    sweep(tmp_path / "bin", tmp_path / "out", status=1)
    (part,) = read_experiment(tmp_path / "out" / "sweep.yaml").parts
    assert part.grid.fractions == (0.01, 0.05, 0.1, 0.25, 0.5, 1)
    assert part.grid.systems["baseline"]["features"] == "none"
    assert "features" not in part.grid.systems["syntax"]  # all that the folder holds


@pytest.mark.slow
def test_every_system_gets_the_same_and_ends_in_table_and_curve(folder, tmp_path):
    given = {
        "FRACTIONS": " ".join(FRACTIONS),
        "UPDATES": str(UPDATES),
        "GENERATE": "--beam 1 --max-len-a 0 --max-len-b 8 --batch-size 40",
    }
    out = tmp_path / "sweep"
    text, _ = sweep(folder, out, **given)
    results = sorted(out.glob("*/*/*/*/result.json"))
    assert len(results) == 4
    for path in results:
        result = json.loads(path.read_text())
        state = state_of(path.with_name("checkpoint_best.pt"))
        assert result["updates"] == UPDATES
        features = "none" if result["system"] == "baseline" else "pos,case,subword"
        assert state["cfg"]["model"]["features"] == features
        (scores,) = json.loads(path.with_name("score.test.json").read_text())["systems"]
        assert scores["sentences"] == 37
    table = (out / "tables.md").read_text()
    assert table in text
    assert "| 25 % | 50 |" in table
    assert "| 100 % | 200 |" in table
    assert (out / "after" / "curve" / "curve.png").stat().st_size > 1000
    times = {path: path.stat().st_mtime_ns for path in results}
    sweep(folder, out, **given)
    assert times == {path: path.stat().st_mtime_ns for path in results}  # nothing is run twice
    _, told = sweep(
        folder, out, status=1, TRAIN="--lr 1e-3 --dropout 0.4 --max-tokens 4096", **given
    )
    assert "holds a run with other settings" in told


def test_wrong_usage_is_explained(tmp_path):
    _, told = sweep(tmp_path, status=2)
    assert "sweep_fractions.sh DATA_FOLDER OUTPUT_FOLDER" in told
    _, told = sweep(tmp_path, tmp_path / "out", "loose", status=2)
    assert "'loose' belongs to no option" in told


def test_wrong_paths_are_one_sentence(tmp_path):
    _, told = sweep(tmp_path / "bni", tmp_path / "out", status=1)
    assert told == f"error: {tmp_path / 'bni'}: no such folder\n"
    _, told = sweep(tmp_path, tmp_path / "out", status=1, REF=str(tmp_path / "test.de"))
    assert told == f"error: REF={tmp_path / 'test.de'}: no such file\n"
    assert not (tmp_path / "out").exists()


def test_a_rate_may_be_the_only_option(tmp_path):
    (tmp_path / "bin").mkdir()
    _, told = sweep(tmp_path / "bin", tmp_path / "out", status=1, TRAIN="--lr 2e-3")
    assert "no such file; prepare the data first" in told
    (part,) = read_experiment(tmp_path / "out" / "sweep.yaml").parts
    assert (part.grid.learning_rates, part.grid.options) == ((2e-3,), {})


@pytest.mark.parametrize("name", ["100", "a: b", "it's #1", "true", "[x"])
def test_any_folder_will_do(tmp_path, name):
    data = tmp_path / name
    data.mkdir()
    _, told = sweep(data, tmp_path / "out", "--source-lang", "no", status=1)
    (part,) = read_experiment(tmp_path / "out" / "sweep.yaml").parts
    assert (part.name, part.folder) == (name, data)
    assert part.grid.options["source-lang"] == "no"
    assert "prepare the data first" in told


def test_the_folder_one_stands_in_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sweep(".", "out", status=1)
    (part,) = read_experiment("out/sweep.yaml").parts
    assert (part.name, part.folder) == (tmp_path.name, tmp_path)
