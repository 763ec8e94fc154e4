"""Two processes are one: the same losses, scores and, after a stop, the same bits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from cli import ranks, shims
from cli.commands import (
    LONGEST_RUN,
    SCRIPTS,
    differences,
    meter_values,
    state_of,
    train,
    train_arguments,
    train_distributed,
    training_state,
)

from fairseq_plugins.files import sha256

SCRIPT = SCRIPTS / "train_distributed.sh"
# Batches of 8: 25 an epoch, so that the last of 13 updates is done by one process alone.
RUN = "--max-epoch 2 --save-interval-updates 8 --label-smoothing 0.1 --clip-norm 1"
BLEU = ["--eval-bleu", "--eval-bleu-args", json.dumps({"beam": 2, "max_len_b": 12})]
STOPS = ("checkpoint1.pt", "checkpoint_2_16.pt")


def script(*arguments, venv=Path(sys.executable).parents[1]):
    """Run the script with this environment's commands."""
    environment = {**os.environ, "VENV": str(venv)}
    command = ["bash", str(SCRIPT), *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=LONGEST_RUN, check=False
    )


def given(folder, save_dir):
    """Return what fairseq-train gets in each of two processes."""
    words = train_arguments(folder, save_dir, f"{RUN} --batch-size 8 --num-workers 1", *BLEU)
    at = words.index("--user-dir")  # the script gives it
    return [*words[:at], *words[at + 2 :]]


@pytest.fixture(scope="module")
def two(folder, tmp_path_factory):
    """Folder of a run in two processes."""
    save_dir = tmp_path_factory.mktemp("two")
    train_distributed(given(folder, save_dir))
    return save_dir


@pytest.fixture(scope="module")
def one(folder, tmp_path_factory):
    """Folder of the same run in one process: every update gathers two batches."""
    save_dir = tmp_path_factory.mktemp("one")
    train(folder, save_dir, f"{RUN} --batch-size 8 --update-freq 2", *BLEU)
    return save_dir


@pytest.mark.slow
def test_two_processes_of_the_script_find_each_other(folder, two, tmp_path):
    found = script(2, *given(folder, tmp_path))
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-3000:]
    for rank in (0, 1):
        assert f"as rank {rank}" in found.stdout
    assert "initialized host" in found.stdout
    assert found.stdout.count("keeps what raw text needs of") == 1  # the first process alone writes
    kept = sha256(tmp_path / "prepared" / "manifest.json")
    last = tmp_path / "checkpoint2.pt"
    assert state_of(last)["task_state"]["prepared"] == kept
    # so what holds for the processes of the other tests holds for those of the script
    assert differences(training_state(two / last.name), training_state(last)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["checkpoint_1_8.pt", "checkpoint1.pt", "checkpoint2.pt"])
def test_two_processes_have_the_losses_of_one(one, two, name):
    first, second = state_of(one / name), state_of(two / name)
    for tag in ("train", "valid"):
        ours, theirs = meter_values(first, tag), meter_values(second, tag)
        assert set(ours) == set(theirs) == {"loss", "nll_loss"}
        for loss, (total, count) in ours.items():
            assert theirs[loss][1] == count  # as many tokens
            assert abs(theirs[loss][0] / count - total / count) < 1e-5


@pytest.mark.slow
def test_two_processes_have_the_weights_of_one(one, two):
    first, second = (state_of(path / "checkpoint2.pt")["model"] for path in (one, two))
    for name, weight in first.items():
        torch.testing.assert_close(second[name], weight, rtol=0, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["checkpoint1.pt", "checkpoint2.pt"])
def test_two_processes_have_the_bleu_of_one(one, two, name):
    first, second = state_of(one / name), state_of(two / name)
    ours, theirs = (bleu_counts(state) for state in (first, second))
    assert ours["_bleu_ref_len"] > 0
    assert ours == theirs


def bleu_counts(state):
    return {
        name: meter["sum"]
        for _, name, _, meter in state["extra_state"]["metrics"]["valid"]
        if name.startswith("_bleu")
    }


@pytest.mark.slow
@pytest.mark.parametrize("stop", STOPS)
def test_two_processes_resume_as_if_they_had_not_stopped(folder, two, stop, tmp_path):
    shutil.copy(two / stop, tmp_path / "checkpoint_last.pt")
    assert "Loaded checkpoint" in train_distributed(given(folder, tmp_path))
    last = "checkpoint_last.pt"
    assert differences(training_state(two / last), training_state(tmp_path / last)) == []


@pytest.mark.parametrize("arguments", [[], ["2"], ["0", "data"], ["two", "data"], ["data", "2"]])
def test_wrong_usage_is_explained(arguments):
    found = script(*arguments)
    assert found.returncode == 2
    assert "usage: train_distributed.sh NUMBER_OF_PROCESSES" in found.stderr
    assert found.stdout == ""


@pytest.mark.slow
def test_failing_training_fails_the_script(tmp_path):
    arguments = train_arguments(tmp_path, tmp_path / "out", "")
    found = script(1, *arguments, venv=shims.environment())
    assert found.returncode not in (0, 2)
    assert "manifest.json is missing" in found.stderr


def test_failing_process_ends_those_that_wait_for_it(monkeypatch):
    """What compares processes must itself fail, and at once."""
    monkeypatch.setattr(ranks, "be", lambda rank, *_: sys.exit(1) if rank else time.sleep(60))
    begin = time.monotonic()
    assert ranks.work_together(2, []) == 1
    assert time.monotonic() - begin < 30
