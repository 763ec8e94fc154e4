"""Runs under way: processes of this machine, and by submitit a Slurm of shell scripts."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from lab import fake_slurm
from lab.fake_runs import TRAIN, make_runs, trained

from fairseq_plugins.errors import InputError
from fairseq_plugins.files import write_text
from fairseq_plugins.lab.execution import runner, slurm
from fairseq_plugins.lab.execution.machine import Machine
from fairseq_plugins.lab.execution.runner import LocalPool, execute
from fairseq_plugins.lab.execution.slurm import SUBMITTED, SlurmPool

TESTS = Path(__file__).parents[1]
WAIT = "echo $$ > {folder}/pid; exec sleep 60"


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Return a function that makes runs; other processes read them, fast for want of fairseq."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import sys\nsys.modules['fairseq'] = None\n")
    monkeypatch.setenv("PYTHONPATH", f"{site}{os.pathsep}{TESTS}")
    return lambda **given: make_runs(tmp_path, **given)


def submit(runs, machine, *done):
    """Execute runs on a machine."""
    return execute([replace(run, machine=machine) for run in runs], *done)


def is_alive(process):
    """Tell whether there is such a process, which a parent may still have to take note of."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


# on this machine


@pytest.mark.slow
def test_local_runs_get_their_share(make, tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    script = "echo $OMP_NUM_THREADS ${{CUDA_VISIBLE_DEVICES-none}} > {folder}/share\n" + TRAIN
    runs = make(script=script)
    runs[1] = make(script=script, status=3)[1]
    told = []
    failures = submit(runs, Machine(tmp_path / "jobs", jobs=2), lambda *end: told.append(end))
    assert [failure.split(": ")[0] for failure in failures] == [str(runs[1].folder)]
    assert "exit status 3" in failures[0]
    assert sorted(run.cell.seed for run, _ in told) == [1, 2, 3]
    assert [run.is_finished() for run in runs] == [True, False, True]
    share = max(1, len(os.sched_getaffinity(0)) // 2)
    assert {(run.folder / "share").read_text() for run in runs} == {f"{share}\n"}
    assert not (tmp_path / "jobs").exists()


@pytest.mark.slow
def test_an_interrupt_ends_what_runs_and_starts_nothing_more(make, tmp_path, monkeypatch):
    runs = make(script=WAIT)

    def interrupt(pool):
        if (runs[0].folder / "pid").exists() and (runs[0].folder / "pid").read_text():
            raise KeyboardInterrupt
        return []

    monkeypatch.setattr(LocalPool, "ended", interrupt)
    with pytest.raises(KeyboardInterrupt):
        submit(runs, Machine(tmp_path / "jobs"))
    assert not is_alive(int((runs[0].folder / "pid").read_text()))
    assert not (runs[1].folder / "pid").exists()


@pytest.mark.slow
def test_a_killed_job_is_told_and_its_training_is_waited_for(make, tmp_path, monkeypatch):
    """The training outlives its job; the next one finds it finished and goes on from there."""
    script = "touch {folder}/begun; while [ ! -e {folder}/go ]; do sleep 0.1; done\n" + TRAIN
    run = make(script=script)[0]
    killed, ended = [], LocalPool.ended

    def kill(pool):
        if (run.folder / "begun").exists() and not killed:
            ((_, process),) = pool._running.values()
            killed.append(process.pid)
            os.kill(process.pid, signal.SIGKILL)
        return ended(pool)

    monkeypatch.setattr(LocalPool, "ended", kill)
    failures = submit([run], Machine(tmp_path / "jobs"))
    assert "ended without a word" in failures[0]
    monkeypatch.setattr(LocalPool, "ended", lambda pool: (run.folder / "go").touch() or ended(pool))
    assert submit([run], Machine(tmp_path / "jobs")) == []
    assert trained(run) == 1


@pytest.mark.parametrize(
    ("there", "visible", "jobs", "own", "seen"),
    [
        (4, None, 3, 2, ["0,1", "2,3", "0,1"]),
        (4, "5,GPU-a,7,6", 3, 2, ["5,GPU-a", "7,6", "5,GPU-a"]),
        (4, "5,GPU-a,7,6", 1, 0, ["5,GPU-a,7,6"]),
        (1, None, 16, 1, [None] * 16),  # one card is shared
    ],
)
def test_each_run_gets_gpus_and_cores(tmp_path, monkeypatch, there, visible, jobs, own, seen):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: there)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(32))
    for name in ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    machine = Machine(tmp_path, jobs=jobs, gpus_per_node=own)
    found = [runner.environment_of(machine, slot) for slot in range(jobs)]
    assert [one["CUDA_VISIBLE_DEVICES"] for one in found] == seen
    assert {one["OMP_NUM_THREADS"] for one in found} == {str(32 // jobs // max(1, own))}


# Slurm


@pytest.fixture
def slurm_state(tmp_path, monkeypatch):
    """A Slurm; gives the folder of its state."""
    spool = fake_slurm.install(tmp_path, monkeypatch)
    monkeypatch.setattr(slurm, "_INTERVAL", 0.2)
    monkeypatch.setattr(runner, "_SETTLE", 1.0)
    yield spool
    assert not (spool / "errors").read_text()
    fake_slurm.end(spool)


def cluster(tmp_path, **given):
    return Machine(tmp_path / "jobs", executor="slurm", jobs=2, **given)


@pytest.mark.slow
def test_arrays_follow_each_other_and_failures_are_told(make, tmp_path, slurm_state, monkeypatch):
    monkeypatch.setattr(slurm, "LARGEST_ARRAY", 2)
    runs = make()
    runs[1] = make(status=3)[1]
    failures = submit(runs, cluster(tmp_path, slurm={"mem": "2G"}))
    assert len(failures) == 1
    assert "exit status 3" in failures[0]
    assert [run.is_finished() for run in runs] == [True, False, True]
    assert set((slurm_state / "started").read_text().split()[:2]) == {"100_0", "100_1"}
    assert (slurm_state / "started").read_text().split()[2:] == ["101"]
    first, _ = (path.read_text() for path in sorted(slurm_state.glob("*.sh")))
    for line in ("--array=0-1%2", "--mem=2G", "--requeue", "--signal=USR2@90"):
        assert f"#SBATCH {line}\n" in first.replace("'", "")
    record = json.loads((tmp_path / "jobs" / "submitted.json").read_text())
    assert [*record.values()] == ["101"]
    assert [(tmp_path / "jobs" / name).resolve() for name in record] == [runs[2].folder]
    assert submit(runs[:1], cluster(tmp_path)) == []  # nothing to submit


@pytest.mark.slow
def test_a_job_goes_on_after_its_time_limit(make, tmp_path, slurm_state):
    script = "if [ ! -e {folder}/again ]; then touch {folder}/again {made}/../spool/timeout; "
    run = make(script=script + "exec sleep 60; fi\n" + TRAIN)[0]
    assert submit([run], cluster(tmp_path)) == []
    assert (slurm_state / "started").read_text().split() == ["100", "100"]
    assert trained(run) == 1


@pytest.mark.slow
def test_jobs_that_are_queued_are_not_submitted_again(
    make, tmp_path, slurm_state, monkeypatch, caplog
):
    script = "touch {folder}/begun; while [ ! -e {folder}/go ]; do sleep 0.1; done\n" + TRAIN
    runs = make(script=script)[:2]
    ended = SlurmPool.ended

    def interrupt(pool):
        raise KeyboardInterrupt

    monkeypatch.setattr(SlurmPool, "ended", interrupt)
    with pytest.raises(KeyboardInterrupt):
        submit(runs, cluster(tmp_path))
    assert "squeue --jobs=100; end them with: scancel 100" in caplog.text
    monkeypatch.setattr(SlurmPool, "ended", ended)
    for run in runs:
        run.folder.mkdir(parents=True, exist_ok=True)
        (run.folder / "go").touch()
    assert submit(runs, cluster(tmp_path)) == []
    assert len(list(slurm_state.glob("*.sh"))) == 1
    assert [trained(run) for run in runs] == [1, 1]


def test_only_jobs_of_this_experiment_are_taken_over(make, tmp_path, slurm_state, monkeypatch):
    (slurm_state / "errors").touch()
    runs, machine = make(), cluster(tmp_path)
    names = [os.path.relpath(run.folder, machine.folder) for run in runs]
    submitted = machine.folder / SUBMITTED
    write_text(submitted, json.dumps({name: f"7_{k}" for k, name in enumerate(names)}))
    squeue = tmp_path / "commands" / "squeue"
    lines = f"7_0 {machine.job_name}\n7_1 another's-job\n7_2x {machine.job_name}"
    squeue.write_text(f'#!/bin/sh\nprintf "%s" "{lines}"\n')
    monkeypatch.setattr(SlurmPool, "_submit_array", lambda self, part: ["8_0", "8_1"])
    pool = SlurmPool(machine)
    pool.submit(runs)
    assert [*pool._running.items()] == list(zip(("7_0", "8_0", "8_1"), runs))
    assert [*json.loads(submitted.read_text()).values()] == ["7_0", "8_0", "8_1"]
    SlurmPool(machine).submit(runs)
    assert set(json.loads(submitted.read_text())) == set(names)
    SlurmPool(machine).submit([runs[1]])  # what has ended is forgotten
    assert names[2] not in json.loads(submitted.read_text())


def test_slurm_that_refuses_or_is_silent_is_one_sentence(make, tmp_path, slurm_state, monkeypatch):
    (slurm_state / "errors").touch()
    with pytest.raises(InputError, match="sbatch refused the jobs: .*invalid partition"):
        submit(make(), cluster(tmp_path, partition="broken"))
    squeue = tmp_path / "commands" / "squeue"
    squeue.write_text("#!/bin/sh\necho 'slurm_load_jobs error: no contact' >&2; exit 1\n")
    with pytest.raises(ConnectionError, match="squeue does not answer: slurm_load_jobs error"):
        submit(make(), cluster(tmp_path))
