"""Running a grid: what is finished is passed over, what was stopped goes on."""

from __future__ import annotations

import fcntl
import json
import sys
import threading
import time
from dataclasses import dataclass

import pytest
import torch

from fairseq_plugins.experiments.grid import Grid, PreparedData
from fairseq_plugins.experiments.run import Run
from fairseq_plugins.experiments.runner import execute

MANIFEST = {
    "dataset": "toy",
    "task": "text_classification",
    "target": "classes",
    "positive": "",
    "metric": "mcc",
    "splits": {
        "train": {"examples": 64},
        "test": {"examples": 3, "labelled": 3},
        "hidden": {"examples": 3, "labelled": 0},
    },
}
# Stands for fairseq-train: puts checkpoints where they belong and logs one validation.
TRAIN = """
cp {made}/{last} {folder}/checkpoint_last.pt
cp {made}/6 {folder}/checkpoint_best.pt
echo old > {folder}/checkpoint_1_4.pt
echo 'x | num. shared model params: 1,234 (num. trained: 1,234)'
echo 'x | INFO | valid | {{"valid_mcc": "0.{seed}", "valid_gate_1": "0.4", {updates}}}'
echo trained >> {folder}/count
exit {status}
"""
# Stands for scripts/predict.py: writes what is asked for, and what it was asked.
PREDICT = """
import sys
given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
for name in ("--output", "--metrics"):
    if name in given:
        open(given[name], "w").write("done")
open(sys.argv[1] + "/asked", "a").write(given["--split"] + "\\n")
"""


@dataclass(frozen=True)
class FakeRun(Run):
    """A run whose training is a shell script."""

    last: int = 6
    status: int = 0
    script: str = TRAIN

    def train_command(self):
        made = self.root / "made"
        values = {"folder": self.folder, "made": made, "seed": self.cell.seed}
        values["updates"] = '"valid_num_updates": "6"'
        return ["bash", "-c", self.script.format(**values, last=self.last, status=self.status)]


@pytest.fixture
def make(tmp_path):
    """Return a function that makes the runs of a grid with three seeds."""
    (tmp_path / "made").mkdir()
    for updates in (4, 6):
        state = {
            "optimizer_history": [{"num_updates": updates}],
            "model": {"w": torch.ones(3)},
            "last_optimizer_state": {"m": torch.ones(1000)},
        }
        torch.save(state, tmp_path / "made" / str(updates))

    def runs(weight_decay=0.01, evaluate="", **given):
        grid = Grid(
            "toy",
            {"a": {"arch": "a"}},
            learning_rates=(1e-4,),
            seeds=(1, 2, 3),
            weight_decay=weight_decay,
            evaluate=evaluate,
        )
        data = PreparedData(tmp_path / "data", MANIFEST, "abc")
        predict = (sys.executable, "-c", PREDICT)
        fixed = {"root": tmp_path, "predict": predict, "cpu": False, **given}
        return [FakeRun(grid, cell, data, **fixed) for cell in grid.cells()]

    return runs


def trained(run):
    """Count how often a run was trained."""
    path = run.folder / "count"
    return len(path.read_text().split()) if path.exists() else 0


def test_runs_leave_results_predictions_and_a_light_checkpoint(make):
    runs = make()
    assert execute(runs) == []
    for run in runs:
        result = json.loads((run.folder / "result.json").read_text())
        assert result["best"] == result["last"] == {"mcc": run.cell.seed / 10, "gate_1": 0.4}
        assert (result["gates"], result["parameters"]) == ({"1": 0.4}, 1234)
        assert (result["seed"], result["best_updates"]) == (run.cell.seed, 6)
        assert (run.folder / "predictions.jsonl").read_text() == "done"
        assert [path.name for path in run.folder.glob("checkpoint*")] == ["checkpoint_best.pt"]
        state = torch.load(run.folder / "checkpoint_best.pt", weights_only=True)
        assert torch.equal(state["model"]["w"], torch.ones(3))
        assert "last_optimizer_state" not in state


def test_finished_runs_are_passed_over_and_others_go_on(make):
    first, second, third = make()
    execute([first])
    second.folder.mkdir(parents=True)  # trained to its end, but killed before its result
    (second.folder / "checkpoint_last.pt").write_bytes((second.root / "made/6").read_bytes())
    (second.folder / "checkpoint_best.pt").write_bytes((second.root / "made/6").read_bytes())
    (second.folder / "train.log").write_text(
        'x | INFO | valid | {"valid_mcc": "0.9", "valid_num_updates": "6"}\n'
    )
    third.folder.mkdir(parents=True)  # killed while its checkpoint was copied
    (third.folder / "checkpoint_last.pt").write_bytes(b"PK\x03\x04 half a file")
    assert execute([first, second, third], jobs=2) == []
    assert [trained(run) for run in (first, second, third)] == [1, 0, 1]
    assert all(run.is_finished() for run in (first, second, third))


def asked(run):
    """Return the splits that were predicted, in order."""
    return (run.folder / "asked").read_text().split()


def test_the_best_checkpoint_is_tried_on_another_split_with_labels(make):
    run = make(evaluate="test")[0]
    assert execute([run]) == []
    assert asked(run) == ["valid", "test"]
    assert (run.folder / "evaluation.json").read_text() == "done"
    assert (run.folder / "evaluation.jsonl").read_text() == "done"
    assert execute([run]) == []
    assert asked(run) == ["valid", "test"]
    for split in ("hidden", "none"):
        assert execute(make(evaluate=split)[1:2]) == []
    assert asked(make()[1]) == ["valid"]


def test_an_evaluation_is_made_up_for_without_training(make):
    first, second, third = make()
    execute([first, second, third])
    assert all(run.is_finished() for run in (first, second, third))
    later = make(evaluate="test")
    (third.folder / "checkpoint_best.pt").unlink()  # nothing to try any more
    assert [run.is_finished() for run in later] == [False, False, True]
    assert [run.is_finished() for run in make(evaluate="test", predict=())] == [True] * 3
    results = [(run.folder / "result.json").stat().st_mtime_ns for run in later]
    assert execute(later) == []
    assert [trained(run) for run in later] == [1, 1, 1]
    assert [(run.folder / "result.json").stat().st_mtime_ns for run in later] == results
    assert asked(first) == ["valid", "test"]


def test_a_failed_run_is_named_and_the_others_are_finished(make):
    runs = make()
    runs[1] = make(status=3)[1]
    failures = execute(runs)
    assert len(failures) == 1
    assert "seed2" in failures[0]
    assert "exit status 3" in failures[0]
    assert "valid_mcc" in failures[0]  # the end of the log
    assert [run.is_finished() for run in runs] == [True, False, True]
    assert execute(make()) == []  # the same again, without the fault


def test_a_training_that_ends_early_is_no_result(make):
    failures = execute(make(last=4)[:1])
    assert "after 4 of 6 updates" in failures[0]
    assert not make()[0].is_finished()


def test_other_settings_in_the_folder_are_refused_before_anything_runs(make):
    execute(make()[1:2])
    others = make(weight_decay=0.5)
    with pytest.raises(ValueError, match="weight-decay: 0.01 there, 0.5 here"):
        execute(others)
    assert not others[0].folder.exists()
    with pytest.raises(ValueError, match="--jobs 0"):
        execute(make(), jobs=0)


def test_a_folder_in_which_another_process_works_is_left_alone(make):
    run = make()[0]
    run.folder.mkdir(parents=True)
    with (run.folder / ".lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert "another process" in execute([run])[0]
    assert trained(run) == 0


def test_an_interrupt_ends_what_runs_and_starts_nothing_more(make, monkeypatch):
    runs = make(script="echo $$ > {folder}/pid; exec sleep 60")

    def interrupt(futures):
        while not (runs[0].folder / "pid").exists():
            time.sleep(0.05)
        raise KeyboardInterrupt

    monkeypatch.setattr("fairseq_plugins.experiments.runner.as_completed", interrupt)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        execute(runs)
    assert time.monotonic() - begun < 30
    assert not (runs[2].folder / "pid").exists()
    assert threading.active_count() < 5


def test_commands_name_the_folders_and_the_device(make):
    run = make(cpu=True)[0]
    train = Run.train_command(run)
    assert train[1:4] == ["-m", "fairseq_cli.train", str(run.data.folder)]
    assert train[train.index("--save-dir") + 1] == str(run.folder)
    assert "--cpu" in train
    assert "--cpu" not in Run.train_command(make(cpu=False)[0])
    predict = run.predict_command()
    assert predict[predict.index("--split") + 1] == "valid"
