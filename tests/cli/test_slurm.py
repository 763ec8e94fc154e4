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
from cli import shims
from cli.commands import LONGEST_RUN, SCRIPTS, differences, train_distributed, training_state
from prepared_text import arguments, examples, prepare

LAST = "checkpoint_last.pt"
RUN = "--batch-size 8 --save-interval-updates 8 --dropout 0.1 --num-attention-heads 2 --max-epoch 2"
SRUN = """#!/usr/bin/env bash
# Runs the command once a node, and ends them with it.
printf '%s\\n' "$*" >>"$SLURM_LOG"
while [[ "$1" == --* ]]; do shift; done
for node in $(seq "$SLURM_NNODES"); do "$@" & done
trap 'kill -TERM $(jobs -p)' TERM
status=0
for job in $(jobs -p); do wait "$job" || status=$?; done
wait
exit "$status"
"""
SCONTROL = """#!/usr/bin/env bash
if [ "$1 $2" = "show hostnames" ]; then for node in $(seq "$SLURM_NNODES"); do echo localhost; done
else echo "scontrol $*" >>"$SLURM_LOG"; fi
"""


class Cluster:
    """Where jobs are submitted as Slurm would run them.

    Args:
        root: folder for its commands and its log.
        nodes: nodes of a job.
    """

    def __init__(self, root: Path, nodes: int) -> None:
        root.mkdir(exist_ok=True)
        self.root, self.log = root, root / "log"
        for name, text in (("srun", SRUN), ("scontrol", SCONTROL)):
            (root / name).write_text(text)
            (root / name).chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{root}:{os.environ['PATH']}",
            "VENV": str(Path(sys.executable).parents[1]),
            "SLURM_SUBMIT_DIR": str(SCRIPTS.parent),
            "SLURM_JOB_ID": str(os.getpid()),
            "SLURM_NNODES": str(nodes),
            "SLURM_JOB_NODELIST": f"node[1-{nodes}]",
            "SLURM_LOG": str(self.log),
        }

    def submit(self, *words: object, **environment: str) -> subprocess.Popen:
        """Start a job."""
        spooled = shutil.copy(SCRIPTS / "train.slurm", self.root / "slurm_script")
        return subprocess.Popen(
            ["bash", spooled, *map(str, words)],
            env={**self.environment, **environment},
            stdout=(self.root / "stdout").open("a"),
            stderr=(self.root / "stderr").open("a"),
        )

    def said(self, name: str) -> str:
        """Return the text of one of its files."""
        return (self.root / name).read_text()


def test_job_starts_the_script_on_every_node(tmp_path):
    """What srun is told, for fairseq-train's arguments and for a command of one's own."""
    cluster = Cluster(tmp_path, 3)
    (tmp_path / "srun").write_text('#!/bin/bash\necho "$GPUS $TORCHRUN | $*"\n')
    for words, given in ((["data", "--lr", "1"], {}), (["--", "bash", "mine.sh"], {"GPUS": "8"})):
        job = cluster.submit(*words, SLURM_GPUS_ON_NODE="4", SLURM_JOB_ID="12345", **given)
        assert job.wait(LONGEST_RUN) == 0
    first, second = cluster.said("stdout").splitlines()
    meeting = "--nnodes 3 --rdzv_id 12345.0 --rdzv_backend c10d --rdzv_endpoint localhost:29845"
    options = "--ntasks-per-node=1 --kill-on-bad-exit=1"
    assert first == f"4 {meeting} | {options} bash scripts/train_distributed.sh 4 data --lr 1"
    assert second == f"8 {meeting} | {options} bash mine.sh"


def test_job_has_the_exit_status_of_training(tmp_path):
    cluster = Cluster(tmp_path, 1)
    assert cluster.submit("--", "bash", "-c", "exit 7").wait(LONGEST_RUN) == 7
    assert cluster.submit().wait(LONGEST_RUN) == 2
    assert "usage: sbatch" in cluster.said("stderr")
    assert cluster.submit("data", SLURM_SUBMIT_DIR=str(tmp_path)).wait(LONGEST_RUN) == 1
    assert "submit from the repository's root" in cluster.said("stderr")


@pytest.mark.slow
def test_two_nodes_requeued_have_the_bits_of_two_processes(tmp_path):
    splits = {"train": examples("classes", 197), "valid": examples("classes", 37, 1)}
    folder = prepare(tmp_path / "toy", "classes", splits)
    train_distributed(arguments(folder, tmp_path / "straight", *RUN.split()))

    cluster, save_dir = Cluster(tmp_path / "slurm", 2), tmp_path / "requeued"
    words = arguments(folder, save_dir, *RUN.split())
    job = cluster.submit(*words, GPUS="1")
    wait_for(save_dir / "checkpoint_1_8.pt", job)
    job.send_signal(signal.SIGUSR1)
    assert job.wait(LONGEST_RUN) == 0
    assert f"scontrol requeue {os.getpid()}" in cluster.said("log")
    assert "ended by SIGTERM; the same command goes on from" in cluster.said("stderr")
    assert not (save_dir / "checkpoint2.pt").exists()

    again = {"SLURM_RESTART_COUNT": "1", "VENV": str(shims.environment())}
    assert cluster.submit(*words, GPUS="1", **again).wait(LONGEST_RUN) == 0
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
