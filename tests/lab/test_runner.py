"""Running a grid: what is finished is passed over, what was stopped goes on."""

from __future__ import annotations

import json

import pytest
import torch
from lab.fake_runs import make_runs, trained, work_here

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.execution import runner, training
from fairseq_plugins.lab.execution.machine import Machine
from fairseq_plugins.lab.execution.run import Run


@pytest.fixture
def make(tmp_path):
    """Return a function that makes the runs of a grid with three seeds."""
    return lambda **given: make_runs(tmp_path, **given)


@pytest.fixture
def execute(monkeypatch):
    """Return a function that executes runs in this process."""
    work_here(monkeypatch)
    return runner.execute


def test_runs_leave_results_predictions_and_a_light_checkpoint(make, execute):
    runs = make()
    assert execute(runs) == []
    for run in runs:
        row = run.row()
        assert row.best == row.last == {"mcc": run.cell.seed / 10, "gate_1": 0.4}
        assert (row.gates, row.parameters) == ({"1": 0.4}, 1234)
        assert (row.seed, row.best_updates) == (run.cell.seed, 6)
        assert (run.folder / "predictions.jsonl").read_text() == "done"
        assert [path.name for path in run.folder.glob("checkpoint*")] == ["checkpoint_best.pt"]
        state = torch.load(run.folder / "checkpoint_best.pt", weights_only=True)
        assert torch.equal(state["model"]["w"], torch.ones(3))
        assert "last_optimizer_state" not in state


def test_finished_runs_are_passed_over_and_others_go_on(make, execute):
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
    assert execute([first, second, third]) == []
    assert [trained(run) for run in (first, second, third)] == [1, 0, 1]
    assert all(run.is_finished() for run in (first, second, third))


def asked(run):
    """Return the splits that were predicted, in order."""
    return (run.folder / "asked").read_text().split()


def test_the_best_checkpoint_is_tried_on_another_split_with_labels(make, execute):
    run = make(evaluate="test")[0]
    assert execute([run]) == []
    assert asked(run) == ["valid", "test"]
    assert json.loads((run.folder / "evaluation.json").read_text())["of"] == "test"
    assert (run.folder / "evaluation.jsonl").read_text() == "done"
    assert execute([run]) == []
    assert asked(run) == ["valid", "test"]
    (run.folder / "result.json").unlink()  # what is trained again is predicted again
    assert execute([run]) == []
    assert asked(run) == ["valid", "test"] * 2
    for split in ("hidden", "none"):
        assert execute(make(evaluate=split)[1:2]) == []
    assert asked(make()[1]) == ["valid"]


def test_an_evaluation_is_made_up_for_without_training(make, execute):
    first, second, third = make()
    execute([first, second, third])
    assert all(run.is_finished() for run in (first, second, third))
    later = make(evaluate="test")
    (third.folder / "checkpoint_best.pt").unlink()  # nothing to try any more
    assert [run.is_finished() for run in later] == [False, False, True]
    assert [run.is_finished() for run in make(evaluate="test", predict=False)] == [True] * 3
    assert execute(later) == []
    assert [trained(run) for run in later] == [1, 1, 1]
    assert later[0].row().metrics.keys() == {"valid", "test"}
    assert asked(first) == ["valid", "test"]


def test_a_result_of_an_earlier_release_says_what_trained_it(make, execute):
    run = make()[0]
    execute([run])
    row, earlier = run.row(), {"processes": 4, "command": "fairseq-train x", "versions": {"a": "1"}}
    (run.folder / "result.json").write_text(json.dumps({**run.settings, **earlier}, indent=2))
    assert (run.row(), run.is_finished()) == (None, False)
    assert execute([run]) == []
    assert trained(run) == 1
    assert run.row() == row.model_copy(update=earlier)


def test_a_failed_run_is_named_and_the_others_are_finished(make, execute):
    runs = make()
    runs[1] = make(status=3)[1]
    failures = execute(runs)
    assert len(failures) == 1
    assert "seed2" in failures[0]
    assert "exit status 3" in failures[0]
    assert "valid_mcc" in failures[0]  # the end of the log
    assert [run.is_finished() for run in runs] == [True, False, True]
    assert execute(make()) == []  # the same again, without the fault


def test_a_training_that_ends_early_is_no_result(make, execute):
    failures = execute(make(last=4)[:1])
    assert "after 4 of 6 updates" in failures[0]
    assert not make()[0].is_finished()


def test_other_settings_in_the_folder_are_refused_before_anything_runs(make, execute):
    execute(make()[1:2])
    others = make(weight_decay=0.5)
    with pytest.raises(InputError, match="weight-decay: 0.01 there, 0.5 here"):
        execute(others)
    assert not others[0].folder.exists()


def test_commands_name_the_folders_and_the_device(make, tmp_path):
    run = make()[0]
    train = Run.train_command(run)
    assert train[1:4] == ["-m", "fairseq_cli.train", str(run.data.folder)]
    assert train[train.index("--save-dir") + 1] == str(run.folder)
    assert "--cpu" in train
    cluster = Machine(tmp_path, executor="slurm", gpus_per_node=1)
    assert "--cpu" not in Run.train_command(make(machine=cluster)[0])
    predict = run.predict_command()
    assert predict[predict.index("--split") + 1] == "valid"


def test_a_mistake_in_a_run_is_told_by_its_name(make, execute, monkeypatch):
    monkeypatch.setattr(training, "execute", lambda *given: {}["parameters"])
    assert "KeyError('parameters')" in execute(make()[:1])[0]


def test_every_end_is_told_at_once(make, execute):
    told = []
    runs = make()
    runs[1] = make(status=3)[1]
    execute(runs, lambda run, reason: told.append((run.cell.seed, bool(reason))))
    assert told == [(1, False), (2, True), (3, False)]
    execute(runs[:1], told.append)
    assert len(told) == 3  # finished ones are not told again
