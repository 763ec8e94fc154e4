"""What a job does around its run: commands, their logs, the lock."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time

import pytest
from lab.fake_runs import make_runs

from fairseq_plugins.errors import TrainingError
from fairseq_plugins.files import NO_LOCKS
from fairseq_plugins.lab.execution.machine import Machine
from fairseq_plugins.lab.execution.processes import launch
from fairseq_plugins.lab.execution.slurm import SlurmJob
from fairseq_plugins.lab.execution.training import locked


def shell(script):
    return ["bash", "-c", script]


def test_variables_of_commands_are_set_and_taken_away(tmp_path, monkeypatch):
    monkeypatch.setenv("GONE", "here")
    told = shell("echo ${GONE-nothing} $OMP_NUM_THREADS; command -v python")
    launch(told, tmp_path / "log", {"GONE": None, "OMP_NUM_THREADS": "3"})
    assert (tmp_path / "log").read_text() == f"nothing 3\n{sys.prefix}/bin/python\n"


def test_what_follows_a_broken_line_begins_a_line(tmp_path):
    log = tmp_path / "log"
    for text in ("x | valid | {", "whole\n"):
        log.write_text(text)
        launch(shell("echo next"), log)
        assert log.read_text().splitlines() == [text.strip(), "next"]


def test_a_failure_shows_the_end_of_its_own_output(tmp_path):
    log = tmp_path / "log"
    log.write_text("of an earlier command\n")
    with pytest.raises(TrainingError, match="exit status 3") as told:
        launch(shell("echo one; echo; echo two; exit 3"), log)
    assert str(told.value).splitlines()[1:] == ["  one", "  two"]
    with pytest.raises(TrainingError) as told:
        launch(shell("seq 30; exit 3"), log)
    assert 2 < len(str(told.value).splitlines()) < 15


def test_an_interrupted_command_ends(tmp_path, monkeypatch):
    def interrupt(process, timeout=None):
        if timeout is None:
            raise KeyboardInterrupt
        return wait(process, timeout)

    wait = subprocess.Popen.wait
    monkeypatch.setattr(subprocess.Popen, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        launch(shell("echo $$; exec sleep 60"), tmp_path / "log")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "log").read_text() or 2**22 + 1), 0)


def test_who_comes_second_waits_and_says_so(tmp_path, caplog):
    with locked(tmp_path):
        order = []

        def second():
            with locked(tmp_path):
                order.append("second")

        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert caplog.text.count("another process is at work there") == 1


def test_a_disk_without_locks_is_no_obstacle(tmp_path, monkeypatch, caplog):
    def refuse(*given):
        raise OSError(next(iter(NO_LOCKS)), "no locks")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path):
        assert "this file system has no locks" in caplog.text


def test_a_command_that_outlives_its_job_keeps_the_lock(tmp_path, caplog):
    with locked(tmp_path) as lock:
        launch(shell("sleep 1 > /dev/null 2>&1 &"), tmp_path / "log", keep=lock)
    with locked(tmp_path):  # it ends
        assert "another process is at work there" in caplog.text


def test_a_job_goes_on_after_a_time_limit_as_long_as_it_gets_on(tmp_path):
    machine = Machine(tmp_path / "jobs", executor="slurm", time="60")
    run = make_runs(tmp_path, machine=machine)[0]
    run.folder.mkdir(parents=True)
    hour = time.time() - 3600
    assert SlurmJob(run, begun=hour).checkpoint() is None
    assert "60 minutes did not reach the next checkpoint" in (run.folder / "error.txt").read_text()
    early = time.time() - 60  # preempted, not out of time
    assert SlurmJob(run, begun=early).checkpoint() is not None
    (run.folder / "checkpoint_last.pt").write_bytes(b"more")
    rest = SlurmJob(run, begun=hour).checkpoint()
    assert rest.function == SlurmJob(run)
