"""Runs whose training is a shell script, and a machine that works them off in this process."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass

import torch
from lab.toy_grids import manifest_of

from fairseq_plugins.lab.execution.machine import Machine
from fairseq_plugins.lab.execution.run import Run
from fairseq_plugins.lab.execution.training import finish
from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.prepared_data import PreparedData

COUNTS = {"train": (64, 64), "test": (3, 3), "hidden": (3, 0)}
# Stands for fairseq-train: puts checkpoints where they belong and logs one validation.
TRAIN = """
cp {made}/{last} {folder}/checkpoint_last.pt
cp {made}/6 {folder}/checkpoint_best.pt
echo old > {folder}/checkpoint_1_4.pt
echo 'x | num. shared model params: 1,234 (num. trained: 1,234)'
echo 'x | INFO | valid | {{"valid_mcc": "0.{seed}", "valid_gate_1": "0.4", {updates}}}'
echo trained >> {folder}/count
exit {status}
"""
# Stands for `predict`: writes what is asked for, and what it was asked.
PREDICT = """
import json, sys
words = [word for word in sys.argv[2:] if word != "--cpu"]
given = dict(zip(words[::2], words[1::2]))
metrics = json.dumps({"of": given["--split"], "metrics": {}})
for name, text in (("--output", "done"), ("--metrics", metrics)):
    if name in given:
        open(given[name], "w").write(text)
open(sys.argv[1] + "/asked", "a").write(given["--split"] + "\\n")
"""


@dataclass(frozen=True)
class FakeRun(Run):
    """A run whose training is a shell script."""

    last: int = 6
    status: int = 0
    script: str = TRAIN

    def train_command(self):
        made = self.root / "made"
        values = {"folder": self.folder, "made": made, "seed": self.cell.seed}
        values["updates"] = '"valid_num_updates": "6"'
        return ["bash", "-c", self.script.format(**values, last=self.last, status=self.status)]

    def shown_command(self):
        return "fairseq-train"

    def predictor(self):
        return [sys.executable, "-c", PREDICT]


def make_runs(root, seeds=(1, 2, 3), evaluate="", weight_decay=0.01, **given):
    """Return the runs of a grid with some seeds, below a folder that exists."""
    made = root / "made"
    made.mkdir(exist_ok=True)
    for updates in (4, 6):
        state = {
            "optimizer_history": [{"num_updates": updates}],
            "model": {"w": torch.ones(3)},
            "last_optimizer_state": {"m": torch.ones(1000)},
        }
        if not (made / str(updates)).exists():
            torch.save(state, made / str(updates))
    grid = Grid(
        "toy",
        {"a": {"arch": "a"}},
        learning_rates=(1e-4,),
        seeds=seeds,
        weight_decay=weight_decay,
        evaluate=evaluate,
    )
    data = PreparedData(root / "data", manifest_of("toy", "classes", COUNTS, metric="mcc"), "abc")
    fixed = {"root": root, "machine": Machine(root / "jobs"), **given}
    return [FakeRun(grid, cell, data, **fixed) for cell in grid.cells()]


def trained(run):
    path = run.folder / "count"
    return len(path.read_text().split()) if path.exists() else 0


class InThisProcess:
    """A machine that works jobs off at once, without a process of their own."""

    room = 1

    def __init__(self, machine, apart=False):
        self._ended = []

    def submit(self, runs):
        for run in runs:
            with contextlib.suppress(Exception):  # told in its folder
                finish(run, {})
            self._ended.append(run)

    def ended(self):
        ended, self._ended = self._ended, []
        return ended

    def stop(self):
        pass


def work_here(monkeypatch):
    """Work local jobs off in this process, without waiting between them."""
    from fairseq_plugins.lab.execution import runner

    monkeypatch.setattr(runner, "LocalPool", InThisProcess)
    monkeypatch.setattr(runner, "_LOOK", 0)
