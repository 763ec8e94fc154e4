"""An experiment that is killed again and again ends as one that is left alone."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time

import pytest
from cli import shims
from cli.commands import LONGEST_RUN
from prepared_text import examples, prepare

from fairseq_plugins.lab.commands import command

SEED, KILLS = 6, 2
GRID = """
dataset: toy
systems: [bert_plain_tiny]
learning_rates: [5e-3]
epochs: [3]
seeds: [1, 2, 3]
batch_size: 20
validate_every: 3
options: {pretrained: none, hidden-size: 16, intermediate-size: 32, dropout: 0.1}
"""


@pytest.fixture
def start(tmp_path):
    """Return what starts the experiment in a named folder, in a process group of its own."""
    sizes = {"train": 203, "valid": 25}
    texts = {split: examples("classes", size, k) for k, (split, size) in enumerate(sizes.items())}
    prepare(tmp_path / "bin", "classes", texts)
    (tmp_path / "toy.yaml").write_text(GRID)
    words = [shims.python(), *command("run")[1:], tmp_path / "toy.yaml", "--data", tmp_path / "bin"]
    words += ["--jobs", 2, "--cpu", "--runs"]

    def begin(name):
        with (tmp_path / f"{name}.log").open("a") as stream:
            return subprocess.Popen(
                [*map(str, words), str(tmp_path / name)],
                env=shims.variables(),
                stdout=stream,
                stderr=subprocess.STDOUT,
                preexec_fn=os.setpgrp,
            )

    return begin


def finished(folder):
    """Return the results there are, with the time each was written."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("*/*/*/result.json")}


def written(folder):
    """Return how much has been logged."""
    return sum(path.stat().st_size for path in folder.glob("*/*/*/*.log"))


def submissions(folder):
    """Return how often the experiment got as far as to submit jobs."""
    return folder.with_suffix(".log").read_text().count("runs are finished")


def wait_for_more(measure, folder, than, process):
    """Wait until a measure has grown, as long as a process runs."""
    end = time.monotonic() + 2 * LONGEST_RUN
    while measure(folder) <= than:
        assert process.poll() is None, "nothing left to kill"
        assert time.monotonic() < end
        time.sleep(0.05)


def rows(folder):
    """Return all that does not tell of time, with the folder's own name taken out."""
    text = (folder / "rows.jsonl").read_text().replace(str(folder), "RUNS")
    found = [json.loads(line) for line in text.splitlines()]
    for row in found:
        assert row.pop("seconds")
    return found


@pytest.mark.slow
def test_an_experiment_killed_again_and_again_ends_with_the_same_rows(start, tmp_path):
    """Killed with all its processes, or without them: then they go on by themselves."""
    rng, folder = random.Random(SEED), tmp_path / "killed"
    for kill in range(KILLS):
        process = start("killed")
        wait_for_more(submissions, folder, kill, process)
        wait_for_more(written, folder, written(folder), process)  # now it is at work
        time.sleep(rng.uniform(0, 1))
        done = finished(folder)
        assert process.poll() is None, "nothing left to kill"
        if kill % 2:
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert done.items() <= finished(folder).items()
    assert len(done) < 3
    assert start("killed").wait(4 * LONGEST_RUN) == 0, (tmp_path / "killed.log").read_text()
    assert done.items() <= finished(folder).items()  # nothing was done twice
    assert start("left_alone").wait(4 * LONGEST_RUN) == 0
    assert rows(folder) == rows(tmp_path / "left_alone")
    assert {row["status"] for row in rows(folder)} == {"finished"}
    assert len(rows(folder)) == 3
