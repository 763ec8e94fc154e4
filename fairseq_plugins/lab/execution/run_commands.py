"""The place of a run on disk, its settings, and the commands that train it, predict and evaluate.

A run is a cell of a grid. What brings it to its end is in `run`.
"""

import hashlib
import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..commands import command, written
from ..plan.allowed import command_line
from ..plan.grid import Cell, Grid
from ..plan.prepared_data import SPANS, PreparedData
from ..plan.recipes import ALONE, Workers, settings, share_batches
from ..results import squad_answers
from ..results.split_files import EVALUATION, of_split
from ..run_files import AVERAGE, BEST, EVALUATED, PREDICTIONS, USER_DIR


@dataclass(frozen=True)
class PlacedRun:
    """A cell of a grid with its place on disk."""

    grid: Grid
    cell: Cell  # of the grid: what to run
    data: PreparedData
    root: Path  # folder of all runs of the grid
    predict: tuple[str, ...] = ()  # command that predicts with a run's folder, if that is wanted
    cpu: bool = True  # whether to train without a GPU
    workers: Workers = ALONE  # processes that train it
    part: str = ""  # of an experiment, that it belongs to

    @property
    def folder(self) -> Path:
        """The run's own folder."""
        return self.root / self.cell.folder

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the run."""
        return settings(self.grid, self.cell, self.data)

    @property
    def updates(self) -> int:
        """Number of updates in all."""
        return self.settings["options"]["max-update"]

    def train_command(self) -> list[str]:
        """Return the command that trains, or goes on training."""
        options = {
            "user-dir": USER_DIR,
            "save-dir": self.folder,
            "no-epoch-checkpoints": True,
            "keep-interval-updates": max(1, self.grid.average),
            "log-format": "json",
            "log-interval": 20,
            "num-workers": 0,
            "cpu": self.cpu,
        }
        own = share_batches(self.settings["options"], self.workers, self.cell.system)
        start = [sys.executable, "-m", "fairseq_cli.train"]
        if self.workers.count == 1:
            options["distributed-world-size"] = 1
        else:
            start = command("train-distributed", str(self.workers.processes))
        return [*start, str(self.data.folder), *command_line({**own, **options})]

    def shown_command(self) -> str:
        """Return the training command as a person would type it, anywhere."""
        words = self.train_command()
        text = shlex.join(words[words.index(str(self.data.folder)) :])
        if self.workers.count == 1:
            text = f"fairseq-train {text}"
        else:
            text = f"{written('train-distributed', str(self.workers.processes))} {text}"
        return text.replace(shlex.quote(str(USER_DIR)), '"$(python -m fairseq_plugins)"')

    def predict_command(self) -> list[str]:
        """Return the command that predicts the validation set."""
        return self._predict(self.grid.validation, PREDICTIONS)

    def evaluate_command(self) -> list[str]:
        """Return the command that tries the best checkpoint on the split of the evaluation."""
        if self.data.translates:
            return self._translate()
        return self._predict(self.grid.evaluate, EVALUATED, EVALUATION)

    def average_command(self) -> list[str]:
        """Return the command that averages the last checkpoints."""
        options = {"dir": self.folder, "last": self.grid.average, "by": "update"}
        options["output"] = self.folder / AVERAGE
        return command("average", *command_line(options))

    def _translate(self) -> list[str]:
        """Return the command that translates the split of the evaluation and scores that."""
        options = {
            "data": self.data.folder,
            "split": self.grid.evaluate,
            "checkpoint": AVERAGE if self.grid.average else BEST,
            "reference": self.grid.reference or None,
            "cpu": self.cpu,
        }
        own = command_line(dict(self.grid.generate))
        own = ["--", *own] if own else []
        return [*self.predict, str(self.folder), *command_line(options), *own]

    def _predict(self, split: str, rows: str, metrics: str = "") -> list[str]:
        """Return the command that predicts a split and leaves rows, and metrics where named."""
        options = {"data": self.data.folder, "cpu": self.cpu, "split": split}
        if self.answers_questions:
            options["output-dir"] = squad_answers.folder_of(self.folder / rows)
            return [*self.predict, "--path", str(self.folder), *command_line(options)]
        options |= {"metrics": self.folder / metrics} if metrics else {}
        options["output"] = self.folder / rows
        return [*self.predict, str(self.folder), *command_line(options)]

    @property
    def kind(self) -> str:
        """A short name of all that a job does with the run, and with how many processes."""
        grid = self.grid
        decides = {
            "settings": self.settings,
            "predict": self.predict[1:],  # the interpreter may be called otherwise
            "evaluate": [grid.validation, grid.evaluate, grid.reference, dict(grid.generate)],
            "average": grid.average,
            "workers": [self.workers.nodes, self.workers.processes],
            "cpu": self.cpu,
        }
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def answers_questions(self) -> bool:
        """Whether its task is question answering."""
        return self.data.manifest["target"] == SPANS

    @property
    def evaluation(self) -> Path:
        """The file with the metrics on the split of the evaluation."""
        name = of_split(EVALUATION, self.grid.evaluate) if self.data.translates else EVALUATION
        return self.folder / name
