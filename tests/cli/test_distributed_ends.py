"""Training that ends before its time: it says why, leaves nobody behind, and goes on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.commands import (
    LONGEST_RUN,
    SCRIPTS,
    differences,
    run,
    train_distributed,
    training_state,
)
from prepared_text import arguments, examples, prepare

SCRIPT = SCRIPTS / "train_distributed.sh"
LAST = "checkpoint_last.pt"
# Batches of 8: 25 an epoch, so that the last of 13 updates is done by one process alone.
RUN = (
    "--batch-size 8 --save-interval-updates 8 --dropout 0.1 --num-attention-heads 2 --num-workers 1"
)
EPOCHS = "--max-epoch 3"
ENDLESS = "--max-epoch 1000"
STEP = 0.05  # seconds between two looks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    splits = {"train": examples("classes", 197), "valid": examples("classes", 37, 1)}
    return prepare(tmp_path_factory.mktemp("bin") / "toy", "classes", splits)


class Training:
    """A run of the script.

    Args:
        folder: prepared folder.
        save_dir: where checkpoints and its standard error go.
        options: how long it runs.
        torchrun: torchrun's options.
    """

    def __init__(self, folder: Path, save_dir: Path, options: str, torchrun: str = "") -> None:
        save_dir.mkdir(exist_ok=True)
        self.save_dir = save_dir
        self.stderr = save_dir / "stderr"
        venv = str(Path(sys.executable).parents[1])
        words = arguments(folder, save_dir, *f"{RUN} {options}".split())
        with self.stderr.open("w") as stderr:
            self.process = subprocess.Popen(
                ["bash", str(SCRIPT), "2", *words],
                env={**os.environ, "VENV": venv, "TORCHRUN": torchrun, "MARK": str(save_dir)},
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )

    def workers(self) -> dict[int, int]:
        """Return rank -> process of the workers that are there."""
        found = {}
        for pid, environment in self.processes():
            if b"RANK" in environment and parent_of(pid) == self.process.pid:
                found[int(environment[b"RANK"])] = pid
        return found

    def processes(self) -> list[tuple[int, dict[bytes, bytes]]]:
        """Return all processes that this run started, and their environments."""
        mark = f"MARK={self.save_dir}".encode()
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                lines = (place / "environ").read_bytes().split(b"\0")
            except OSError:  # gone, or another user's
                continue
            if mark in lines:
                pairs = dict(line.split(b"=", 1) for line in lines if b"=" in line)
                found.append((int(place.name), pairs))
        return found

    def wait_for(self, name: str) -> None:
        """Wait until a checkpoint is there, and the last one, which is copied after it."""
        wanted = self.save_dir / name
        last = self.save_dir / LAST
        until(lambda: wanted.is_file() and last.is_file() and newer(last, wanted), self.process)
        time.sleep(4 * STEP)  # for the copy

    def end(self) -> tuple[int, str]:
        """Wait for the end; return exit status and standard error."""
        code = self.process.wait(LONGEST_RUN)
        return code, self.stderr.read_text()


def newer(one: Path, other: Path) -> bool:
    return one.stat().st_mtime_ns >= other.stat().st_mtime_ns


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def until(condition, process: subprocess.Popen | None = None) -> None:
    """Wait for a condition while a process runs."""
    end = time.monotonic() + LONGEST_RUN
    while not condition():
        assert time.monotonic() < end
        assert process is None or process.poll() is None, "ended early"
        time.sleep(STEP)


def nobody_is_left(training: Training) -> None:
    """Loader processes notice within five seconds that they are alone."""
    until(lambda: not training.processes())


def explained(error: str) -> str:
    """Return the script's own line."""
    return [line for line in error.splitlines() if line.startswith("error: ")][-1]


@pytest.fixture(scope="module")
def straight(folder, tmp_path_factory):
    """What an undisturbed run leaves."""
    save_dir = tmp_path_factory.mktemp("straight")
    train_distributed(arguments(folder, save_dir, *f"{RUN} {EPOCHS}".split()))
    return training_state(save_dir / LAST)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc")
def test_killed_worker_ends_the_run_which_goes_on_to_the_same_bits(folder, straight, tmp_path):
    """By itself after the first kill, by hand after the second."""
    training = Training(folder, tmp_path, EPOCHS, "--standalone --max_restarts 1")
    training.wait_for("checkpoint_1_8.pt")
    os.kill(training.workers()[0], signal.SIGKILL)
    training.wait_for("checkpoint_2_16.pt")
    victim = training.workers()[1]
    os.kill(victim, signal.SIGKILL)
    code, error = training.end()
    assert code == 128 + signal.SIGKILL
    place = f"the process of rank 1 ({victim} on {socket.gethostname()}) was killed by SIGKILL"
    assert place in explained(error)
    assert f"the same command goes on from {tmp_path / LAST}" in explained(error)
    nobody_is_left(training)

    log = train_distributed(arguments(folder, tmp_path, *f"{RUN} {EPOCHS}".split()))
    assert "Loaded checkpoint" in log
    assert differences(straight, training_state(tmp_path / LAST)) == []


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_workers_end_with_who_started_them(folder, tmp_path, name):
    training = Training(folder, tmp_path, ENDLESS)
    training.wait_for("checkpoint_1_8.pt")
    assert {*training.workers()} == {0, 1}
    training.process.send_signal(signal.Signals[name])
    code, error = training.end()
    nobody_is_left(training)
    if name == "SIGTERM":
        assert code == 128 + signal.SIGTERM
        assert explained(error) == (
            f"error: ended by SIGTERM; the same command goes on from {tmp_path / LAST}"
        )


@pytest.mark.long
def test_failing_worker_is_named_and_its_reason_is_above(folder, tmp_path):
    """A metric that is not computed: every process finds out by itself."""
    training = Training(folder, tmp_path, f"{EPOCHS} --best-checkpoint-metric beauty")
    code, error = training.end()
    assert code == 1
    assert "ended with exit status 1, for a reason that it gives above" in explained(error)
    assert "the same command starts anew" in explained(error)
    assert "--best-checkpoint-metric beauty is not computed" in error.partition("error: the")[0]


@pytest.mark.slow
def test_what_cannot_work_is_refused_before_anything_starts(folder, tmp_path):
    words = arguments(folder, tmp_path, "--ddp-backend", "pytorch_ddp")
    found = run("train-distributed", 2, *words, fails=True)
    assert found.code == 1
    assert "choices on CPU are legacy_ddp, no_c10d" in found.err
    assert len(found.err.splitlines()) == 1
