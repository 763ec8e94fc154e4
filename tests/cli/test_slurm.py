"""The Slurm recipe under an imitation of Slurm: two nodes on this machine, time that is up."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.commands import (
    LONGEST_RUN,
    SCRIPTS,
    USER_DIR,
    differences,
    train_on_two,
    training_state,
)
from cli.test_several_gpus import DEVICES, LAST
from prepared_text import arguments, examples, prepare

RUN = "--batch-size 8 --save-interval-updates 8 --dropout 0.1 --num-attention-heads 2 --max-epoch 2"
SRUN = """#!/usr/bin/env bash
# Runs the command once a node, and ends them with it.
printf '%s\\n' "$*" >>"$SLURM_LOG"
echo $$ >"$SLURM_LOG.step"
while [[ "$1" == --* ]]; do shift; done
for node in $(seq 0 $((SLURM_NNODES - 1))); do SLURM_NODEID=$node "$@" & done
trap 'kill -TERM $(jobs -p)' TERM
status=0
for job in $(jobs -p); do wait "$job" || status=$?; done
wait
exit "$status"
"""
SCONTROL = """#!/usr/bin/env bash
if [ "$1 $2" = "show hostnames" ]; then for node in $(seq "$SLURM_NNODES"); do echo localhost; done
else echo "scontrol $*" >>"$SLURM_LOG"; kill -TERM "$(cat "$SLURM_LOG.step")"; fi
"""


class Cluster:
    """Where jobs are submitted as Slurm would run them, on two nodes with a GPU each.

    Args:
        root: folder for its commands and its log.
    """

    def __init__(self, root: Path) -> None:
        root.mkdir(exist_ok=True)
        self.root, self.log = root, root / "log"
        for name, text in (("srun", SRUN), ("scontrol", SCONTROL)):
            (root / name).write_text(text)
            (root / name).chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{root}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(DEVICES),
            "EMULATED_GPUS": "1",
            "SLURM_GPUS_ON_NODE": "1",
            "SLURM_JOB_ID": str(os.getpid()),
            "SLURM_NNODES": "2",
            "SLURM_NTASKS_PER_NODE": "1",
            "SLURM_JOB_NODELIST": "node[1-2]",
            "SLURM_LOG": str(self.log),
        }

    def submit(self, *words: object, **environment: str) -> subprocess.Popen:
        spooled = shutil.copy(SCRIPTS / "train.slurm", self.root / "slurm_script")
        return subprocess.Popen(
            ["bash", spooled, *map(str, words)],
            env={**self.environment, **environment},
            stdout=(self.root / "stdout").open("a"),
            stderr=(self.root / "stderr").open("a"),
        )

    def said(self, name: str) -> str:
        return (self.root / name).read_text()


def test_job_trains_on_every_node_and_has_the_exit_status_of_training(tmp_path):
    cluster = Cluster(tmp_path)
    (tmp_path / "srun").write_text('#!/bin/bash\necho "$*"; exit 7\n')
    job = cluster.submit("data", "--lr", "1", SLURM_GPUS_ON_NODE="4", SLURM_JOB_ID="12345")
    assert job.wait(LONGEST_RUN) == 7
    step = "--ntasks-per-node=1 --kill-on-bad-exit=1 fairseq-train data --lr 1"
    meeting = "--distributed-world-size 8 --distributed-port 22345"
    assert cluster.said("stdout") == f"{step} {meeting}\n"
    assert cluster.submit().wait(LONGEST_RUN) == 2
    assert "usage: sbatch" in cluster.said("stderr")


@pytest.mark.slow
def test_two_nodes_requeued_have_the_bits_of_two_processes(tmp_path):
    splits = {"train": examples("classes", 197), "valid": examples("classes", 37, 1)}
    folder = prepare(tmp_path / "toy", "classes", splits)
    train_on_two(arguments(folder, tmp_path / "straight", *RUN.split()))

    cluster, save_dir = Cluster(tmp_path / "slurm"), tmp_path / "requeued"
    words = [*arguments(folder, save_dir, *RUN.split()), "--user-dir", USER_DIR]
    job = cluster.submit(*words)
    wait_for(save_dir / "checkpoint_1_8.pt", job)
    job.send_signal(signal.SIGUSR1)
    assert job.wait(LONGEST_RUN) == 0
    assert f"scontrol requeue {os.getpid()}" in cluster.said("log")
    assert not (save_dir / "checkpoint2.pt").exists()

    assert cluster.submit(*words).wait(LONGEST_RUN) == 0
    assert "as rank 1" in cluster.said("stdout")
    assert "Loaded checkpoint" in cluster.said("stdout")
    states = [training_state(path / LAST) for path in (tmp_path / "straight", save_dir)]
    assert differences(*states) == []


def wait_for(path: Path, job: subprocess.Popen) -> None:
    end = time.monotonic() + LONGEST_RUN
    while not path.exists():
        assert time.monotonic() < end
        assert job.poll() is None, "ended early"
        time.sleep(0.05)
    time.sleep(0.2)  # the last checkpoint is copied
