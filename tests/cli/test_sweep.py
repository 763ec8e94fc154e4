"""The sweep over data fractions: what its variables become, and that all of it runs."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from cli import shims
from cli.commands import LONGEST_RUN, SCRIPTS, state_of

from fairseq_plugins.lab.plan.experiment_file import read_experiment
from fairseq_plugins.lab.plan.grid_selection import read_assignments

SWEEP = SCRIPTS / "sweep_fractions.sh"
FRACTIONS = ("25", "100")
UPDATES = 4


def sweep(*arguments, status=0, **variables):
    """Run the sweep; return its output and its messages."""
    done = subprocess.run(
        ["bash", str(SWEEP), *map(str, arguments)],
        env=shims.variables(**variables),
        capture_output=True,
        text=True,
        timeout=4 * LONGEST_RUN,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr


def commands(folder, *arguments, **variables):
    """Return the experiment of a sweep, and what the command line adds to it."""
    python = folder / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/usr/bin/env bash\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    given = {"VENV": str(folder / "environment"), **variables}
    words = sweep(*arguments, **given)[0].splitlines()
    kinds = {"--data": [], "--reference": [], "--options": [], "--generate": [], "--runs": []}
    for word in words[4:]:
        if word in kinds:
            name = word
        else:
            kinds[name].append(word)
    for name in ("--options", "--generate"):
        kinds[name] = read_assignments(kinds[name])
    (part,) = read_experiment(words[3]).parts
    return part, kinds


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
    words = (tmp_path / "bin", tmp_path / "out", "--max-tokens", "500")
    part, told = commands(tmp_path, *words, **given)
    grid = part.grid
    assert told["--data"] == [str(tmp_path / "bin")]
    assert (grid.fractions, grid.seeds, grid.updates) == ((0.01, 0.125, 1), (3, 4), 70)
    assert (grid.learning_rates, grid.evaluate) == ((2e-3,), "valid")
    assert told["--reference"] == [str(reference)]
    assert told["--generate"] == {"beam": 2, "unkpen": -1}
    assert told["--options"] == {
        "adam-betas": "(0.9,0.98)",
        "share-all-embeddings": True,
        "dropout": 0.3,
        "max-tokens": 500,
    }
    arches = {name: options["arch"] for name, options in grid.systems.items()}
    assert arches == dict.fromkeys(("baseline", "syntax"), given["ARCH"])


def test_the_cpu_is_said_to_the_experiment_not_to_its_trainings(tmp_path):
    (tmp_path / "bin").mkdir()
    words = (tmp_path / "bin", tmp_path / "out", "--cpu", "--max-tokens", "500")
    python = tmp_path / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/usr/bin/env bash\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    told = sweep(*words, VENV=str(tmp_path / "environment"))[0].splitlines()
    assert told.index("--cpu") < told.index("--options") < told.index("max-tokens=500")
    assert "cpu=true" not in told


def test_the_papers_shares_are_the_default(tmp_path):
    (tmp_path / "bin").mkdir()
    part, _ = commands(tmp_path, tmp_path / "bin", tmp_path / "out")
    assert part.grid.fractions == (0.01, 0.05, 0.1, 0.25, 0.5, 1)
    assert part.grid.systems["baseline"]["features"] == "none"
    assert "features" not in part.grid.systems["syntax"]  # all that the folder holds


@pytest.mark.slow
def test_every_system_gets_the_same_and_ends_in_a_table(folder, tmp_path):
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
    part, told = commands(tmp_path, tmp_path / "bin", tmp_path / "out", TRAIN="--lr 2e-3")
    assert (part.grid.learning_rates, told["--options"]) == ((2e-3,), {})


@pytest.mark.parametrize("name", ["data", "100", "a: b", "it's #1", "true", "[x"])
def test_any_folder_will_do(tmp_path, name):
    data = tmp_path / name
    data.mkdir()
    part, told = commands(tmp_path, data, tmp_path / "out", "--source-lang", "no")
    assert re.fullmatch(r"\w[\w.-]*", part.name)
    assert told["--data"] == [str(data)]
    assert told["--options"]["source-lang"] == "no"
    _, told = sweep(data, tmp_path / "out", status=1)
    assert "prepare the data first" in told


def test_the_folder_one_stands_in_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    part, told = commands(tmp_path, ".", "out")
    assert (part.name, told["--data"]) == (tmp_path.name, [str(tmp_path)])
