"""Runs side by side on one card: forks of a warm process, the devices they see, a limit of time."""

from __future__ import annotations

import logging
import os
import select
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from lab.fake_runs import TRAIN, make_runs, trained, work_here

import fairseq_plugins
from fairseq_plugins.cli import main
from fairseq_plugins.errors import InputError, TrainingError
from fairseq_plugins.lab.commands import command
from fairseq_plugins.lab.execution import processes, runner
from fairseq_plugins.lab.execution.machine import Machine
from fairseq_plugins.lab.execution.processes import launch
from fairseq_plugins.lab.results.training_log import device

CARD = "NVIDIA H100 80GB HBM3"
CUDA = f"x | rank   0: capabilities =  9.0  ; total memory = 79.109 GB ; name = {CARD:40s}"


@pytest.fixture
def warm(monkeypatch):
    monkeypatch.setattr(processes, "_warm", True)


def test_a_fork_is_the_command_with_its_words_environment_and_log(warm, tmp_path, monkeypatch):
    """What the warm process does with signals, logs and threads does not reach it."""

    def work():
        logging.getLogger("fairseq").info("not shown: no handler, and no level but the default")
        print(*sys.argv[1:], os.environ["CUDA_VISIBLE_DEVICES"], "GONE" in os.environ)
        print(torch.get_num_threads(), logging.getLogger().level, file=sys.stderr)
        return 3

    monkeypatch.setattr(main, "main", work)
    monkeypatch.setenv("GONE", "here")
    logging.getLogger("fairseq").setLevel(logging.ERROR)
    here = {"CUDA_VISIBLE_DEVICES": "1", "OMP_NUM_THREADS": "2", "GONE": None}
    with pytest.raises(TrainingError, match="exit status 3"):
        launch(command("predict", "runs/a"), tmp_path / "log", here)
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines == ["predict runs/a 1 False", f"2 {logging.WARNING}"]


def test_no_fork_outlives_the_process_that_it_is_of(warm, tmp_path, monkeypatch):
    """Whoever kills `run` leaves no training behind, which would take the GPU on."""
    monkeypatch.setattr(main, "main", lambda: time.sleep(60))
    reader, writer = os.pipe()  # its other end is closed when all that have it have ended
    log = tmp_path / "log"
    job = processes.CONTEXT.Process(target=launch, args=(command("predict", "runs/a"), log))
    job.start()
    os.close(writer)
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children")
    while not children.read_text():
        time.sleep(0.01)
    job.kill()
    ready, _, _ = select.select([reader], [], [], 20)
    os.close(reader)
    assert ready


def test_an_error_in_a_fork_ends_in_the_line_that_a_new_process_would_print(warm, tmp_path):
    with pytest.raises(TrainingError, match="exit status 2"):
        launch(command("predict", "--nothing"), tmp_path / "log")
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize("opened", ["is_initialized", "_is_in_bad_fork"])  # here, or in its parent
def test_only_known_commands_of_a_process_without_a_gpu_context_are_forked(
    warm, monkeypatch, opened
):
    known = [sys.executable, "-m", "fairseq_cli.train", "data"], command("answer", "runs/a")
    assert all(map(processes.can_be_forked, known))
    assert not processes.can_be_forked(command("average", "runs/a"))
    monkeypatch.setattr(torch.cuda, opened, lambda: True)
    assert not any(map(processes.can_be_forked, known))


def test_a_package_that_is_reached_by_a_link_is_not_forked(warm, monkeypatch):
    """fairseq would refuse the --user-dir, whose path has no link, as another package."""
    training = [sys.executable, "-m", "fairseq_cli.train", "data"]
    assert processes.can_be_forked(training)
    monkeypatch.setattr(fairseq_plugins, "__path__", ["/through/a/link/fairseq_plugins"])
    assert not processes.can_be_forked(training)


def test_no_run_starts_that_would_end_too_late_and_the_rest_goes_on(tmp_path, monkeypatch):
    """Each run takes 40 seconds: within two minutes there is time for two of three, by seeds."""
    slept, told = [], []
    clock = SimpleNamespace(sleep=lambda _: slept.append(40), monotonic=lambda: sum(slept))
    monkeypatch.setattr(runner, "time", clock)
    work_here(monkeypatch)
    for minutes in (2, 0):
        machine = Machine(tmp_path / "jobs", stop_after=minutes)
        runs = make_runs(tmp_path, seeds=(3, 1, 2), machine=machine)
        assert runner.execute(runs, lambda run, _: told.append(run.cell.seed)) == []
    assert told == [1, 2, 3]
    assert [trained(run) for run in runs] == [1, 1, 1]
    assert len(slept) == 3
    with pytest.raises(InputError, match="--stop-after: needs --executor local"):
        Machine(tmp_path, executor="slurm", stop_after=2)


@pytest.mark.parametrize(("line", "wanted"), [("", "cpu"), (CUDA, CARD)])
def test_a_result_says_what_the_run_was_trained_on(tmp_path, monkeypatch, line, wanted):
    work_here(monkeypatch)
    (run,) = make_runs(tmp_path, seeds=(1,), script=f"echo '{line}'\n{TRAIN}")
    assert runner.execute([run]) == []
    assert run.row().device == wanted
    assert device(tmp_path / "none") == "cpu"
