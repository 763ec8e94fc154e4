"""Plain fairseq-train on two GPUs, emulated by `two_devices`: its two processes are one.

fairseq starts them itself. Nothing but the emulation, ``--cpu`` and gloo is beyond what one types.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import prepared
import pytest
from cli.commands import (
    LONGEST_RUN,
    ROOT,
    USER_DIR,
    differences,
    train_arguments,
    training_state,
)
from cli.test_distributed_text import CASES, compare_counts, mean, meters_of
from cli.test_distributed_text import prepared as prepared_case
from prepared_text import arguments
from prepared_text import train as train_text

DEVICES = Path(__file__).with_name("two_devices")
ON_CPU = ["--distributed-backend", "gloo"]
LAST = "checkpoint_last.pt"
USER_DIRS = ("path", "relative", "installed")


def begin(words, cwd, user_dir="path", **kwargs):
    """Start fairseq-train with a user-dir given in one of the ways of `USER_DIRS`."""
    path, given = [str(DEVICES)], str(USER_DIR)
    if user_dir == "relative":
        given = os.path.relpath(USER_DIR, cwd)
    if user_dir == "installed":
        path.append(str(ROOT))
        command = [sys.executable, "-m", "fairseq_plugins"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        given = subprocess.check_output(command, env=environment, cwd=cwd, text=True).strip()
    variables = {"PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"}
    command = [Path(sys.executable).with_name("fairseq-train"), *words, *ON_CPU]
    return subprocess.Popen(
        [*map(str, command), "--user-dir", given],
        env={**os.environ, **variables},
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **kwargs,
    )


def train(words, cwd, *, user_dir="path", status=0):
    """Run fairseq-train to its end; return what it says."""
    process = begin(words, cwd, user_dir)
    said, _ = process.communicate(timeout=LONGEST_RUN)
    assert process.returncode == status, said[-3000:]
    return said


def translation(folder, save_dir, options):
    words = train_arguments(folder, save_dir, f"--batch-size 8 --no-epoch-checkpoints {options}")
    at = words.index("--user-dir")
    return [*words[:at], *words[at + 2 :]]


@pytest.mark.slow
def test_two_gpus_have_the_losses_of_one_process(folder, tmp_path):
    said = train(translation(folder, "two", "--max-update 2"), tmp_path)
    assert "as rank 1" in said
    assert "training on 2 devices" in said
    assert said.count("keeps what raw text needs of") == 1  # the first process alone writes
    options = "--arch syntax_transformer_tiny --criterion label_smoothed_cross_entropy --lr 0.003"
    options += " --batch-size 8 --dropout 0 --update-freq 2 --max-update 2"
    prepared.train(folder, tmp_path / "one", *options.split())
    one, two = (meters_of(tmp_path / name / LAST, "train") for name in ("one", "two"))
    assert two["loss"]["count"] == one["loss"]["count"] > 0
    assert mean(two["loss"]) == pytest.approx(mean(one["loss"]), rel=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("user_dir", USER_DIRS)
def test_two_gpus_resume_as_if_they_had_not_stopped(folder, user_dir, tmp_path):
    options = "--dropout 0.1 --num-workers 1 --save-interval-updates 3"
    options += " --ddp-backend legacy_ddp" if user_dir == "relative" else ""
    for name, updates in (("stopped", 3), ("stopped", 6), ("through", 6)):
        words = translation(folder, name, f"{options} --max-update {updates}")
        train(words, tmp_path, user_dir=user_dir)
    stopped, through = (training_state(tmp_path / n / LAST) for n in ("stopped", "through"))
    assert differences(stopped, through) == []


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_two_gpus_have_the_metrics_of_one_process(case, tmp_path):
    folder = prepared_case(tmp_path / "bin", case)
    options = [*case.options.split(), "--batch-size", "8", "--max-update", "3"]
    options += ["--num-attention-heads", "2"]
    train_text(folder, tmp_path / "one", *options, "--update-freq", "2")
    train(arguments(folder, tmp_path / "two", *options), tmp_path)
    one, two = (tmp_path / name / LAST for name in ("one", "two"))
    for tag in ("train", "valid"):
        ours, theirs = (meters_of(path, tag)["loss"] for path in (one, two))
        assert mean(theirs) == pytest.approx(mean(ours), rel=1e-4)
    compare_counts(meters_of(one, "valid"), meters_of(two, "valid"), case)


@pytest.mark.long
def test_refused_folder_is_one_line_on_two_gpus(tmp_path):
    said = train(translation("nowhere", "run", "--max-update 1"), tmp_path, status=1)
    assert "Traceback" not in said
    assert "error: nowhere: no such folder" in said


@pytest.mark.long
@pytest.mark.parametrize(
    ("which", "number", "status"),
    [
        ("command", signal.SIGTERM, -signal.SIGTERM),
        ("command", signal.SIGKILL, -signal.SIGKILL),
        ("process", signal.SIGKILL, 1),
    ],
)
def test_no_process_outlives_another_that_is_killed(folder, which, number, status, tmp_path):
    """Also where, as in the background of a script, SIGINT is ignored."""
    words = translation(folder, "run", "--max-epoch 100000")
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = begin(words, tmp_path, start_new_session=True)
    finally:
        signal.signal(signal.SIGINT, ignored)
    until = time.monotonic() + LONGEST_RUN
    while not (tmp_path / "run" / LAST).exists() and time.monotonic() < until:
        time.sleep(0.1)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(process.pid if which == "command" else int(children[-1]), number)
    try:
        process.communicate(timeout=30)  # ends with the last process that holds the output
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == status
