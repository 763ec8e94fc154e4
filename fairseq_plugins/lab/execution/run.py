"""A run of a grid: its folder, its settings, its commands, and its result.

During training the folder holds ``settings.json`` (all settings of the run), ``train.log`` and
checkpoints. At the end it holds ``checkpoint_best.pt`` without the optimiser's state, predictions
of the validation set (and of the grid's evaluation split, with metrics), and ``result.json``: the
row of the run (`lab.rows`). A folder with a result is never trained again; without a result the
training continues from its last checkpoint (`training`). A failed run leaves ``error.txt``.
"""

import math
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InputError
from .. import run_files as files
from ..commands import command
from ..plan.allowed import Options, command_line
from ..plan.grid import Cell, Grid
from ..plan.prepared_data import PreparedData
from ..plan.recipes import settings
from ..results import squad_answers
from ..rows import Row, read_rows
from ..run_files import EVALUATION, of_split
from ..safe_files import read_json, refuse_links
from .machine import Machine

# Runs a command and appends its output to a file; raises TrainingError if the command fails.
Launch = Callable[[Sequence[str], Path], None]


@dataclass(frozen=True)
class Run:
    """A cell of a grid with its folder on disk."""

    grid: Grid
    cell: Cell
    data: PreparedData
    root: Path  # folder of all runs of the grid
    machine: Machine
    predict: bool = True  # whether to predict
    part: str = ""  # part of the experiment

    @property
    def folder(self) -> Path:
        return self.root / self.cell.folder

    @property
    def name(self) -> str:
        """Part and cell, as shown in messages."""
        return "/".join(filter(None, (self.part, self.cell.folder.as_posix())))

    @property
    def settings(self) -> dict[str, Any]:
        """All settings of the run."""
        return settings(self.grid, self.cell, self.data)

    @property
    def updates(self) -> int:
        """Total number of updates."""
        return self.settings["options"]["max-update"]

    @property
    def answers_questions(self) -> bool:
        return self.data.asks

    @property
    def evaluation(self) -> Path:
        """The file with the metrics on the evaluation split."""
        name = of_split(EVALUATION, self.grid.evaluate) if self.data.translates else EVALUATION
        return self.folder / name

    @property
    def is_tested(self) -> bool:
        """Whether the best checkpoint is evaluated on a labelled split."""
        split, manifest = self.grid.evaluate, self.data.manifest
        return bool(self.predict and split in manifest.splits and manifest.labelled(split))

    def train_command(self) -> list[str]:
        """Return the command that trains, or continues a training."""
        options = {
            "user-dir": files.USER_DIR,
            "save-dir": self.folder,
            "no-epoch-checkpoints": True,
            "keep-interval-updates": max(1, self.grid.average),
            "log-format": "json",
            "log-interval": 20,
            "num-workers": 0,
            "cpu": not self.machine.gpus_per_node,
            "distributed-world-size": self.machine.processes,
        }
        own = share_batches(self.settings["options"], self.machine.processes, self.cell.system)
        start = [sys.executable, "-m", "fairseq_cli.train", str(self.data.folder)]
        return [*start, *command_line({**own, **options})]

    def shown_command(self) -> str:
        """Return the training command as a person would type it on any machine."""
        words = self.train_command()
        text = shlex.join(["fairseq-train", *words[3:]])
        return text.replace(shlex.quote(str(files.USER_DIR)), '"$(python -m fairseq_plugins)"')

    def predictor(self) -> list[str]:
        """Return the beginning of the prediction command."""
        usual = "answer" if self.answers_questions else "predict"
        return command("translate" if self.data.translates else usual)

    def predict_command(self, *, tested: bool = False) -> list[str]:
        """Return the command that predicts the validation set, or evaluates on the test set."""
        split = self.grid.evaluate if tested else self.grid.validation
        rows = self.folder / (files.EVALUATED if tested else files.PREDICTIONS)
        options: Options = {"data": self.data.folder, "split": split}
        options["cpu"] = not self.machine.gpus_per_node
        model, more = self.folder, []
        if self.data.translates:
            model = self.folder / files.AVERAGE if self.grid.average else self.folder
            options["reference"] = self.grid.reference or None
            own = command_line(dict(self.grid.generate))
            more = ["--", *own] if own else []
        elif self.answers_questions:
            options["output"] = squad_answers.folder_of(rows)
        else:
            options |= {"metrics": self.evaluation} if tested else {}
            options["output"] = rows
        return [*self.predictor(), str(model), *command_line(options), *more]

    def average_command(self) -> list[str]:
        """Return the command that averages the last checkpoints."""
        options: Options = {"last": self.grid.average, "by": "update"}
        options["output"] = self.folder / files.AVERAGE
        return command("average", str(self.folder), *command_line(options))

    def row(self) -> Row | None:
        """Return the row of the run; None before its end, or if an earlier release wrote it."""
        path = self.folder / files.RESULT
        found = read_rows(path, remarks=[]) if path.is_file() else []
        return found[0].row if found else None

    def is_finished(self) -> bool:
        """Return whether the run needs no more work."""
        refuse_links(self.root, self.folder, within=True)
        found = read_json(self.folder / files.SETTINGS)
        if found and (other := difference(found, self.settings)):
            raise InputError(
                f"{self.folder} holds a run with other settings ({other}): name another "
                "folder for the runs, or remove this one"
            )
        lacking = self.lacks_answers or self.lacks_evaluation
        return bool(self.row()) and not (lacking and (self.folder / files.BEST).is_file())

    @property
    def lacks_answers(self) -> bool:
        """Whether the validation set still needs predictions."""
        wanted = self.predict and not self.data.translates
        return wanted and not (self.folder / files.PREDICTIONS).is_file()

    @property
    def lacks_evaluation(self) -> bool:
        """Whether the best checkpoint still needs its evaluation."""
        return self.is_tested and read_json(self.evaluation).get("of") != self.grid.evaluate


def difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Name the first setting that differs; empty if none does."""
    for name in sorted({*found, *wanted}):
        one, other = found.get(name), wanted.get(name)
        if one != other:
            both = isinstance(one, dict) and isinstance(other, dict)
            return difference(one, other) if both else f"{name}: {one!r} there, {other!r} here"
    return ""


def share_batches(options: Options, processes: int, system: str) -> Options:
    """Return the options of each process, so that an update sees the same batch as with one."""
    several, examples = int(options.get("update-freq", 1)), options.get("batch-size", 0)
    shared = math.gcd(several, processes)
    rest = processes // shared
    if processes == 1:
        return options
    own = {**options, "update-freq": several // shared}
    if rest == 1:
        return own
    if isinstance(examples, int) and examples and examples % rest == 0:
        shares = {k: int(options[k]) // rest for k in ("batch-size", "max-tokens") if k in options}
        return own | shares
    given = {name: options[name] for name in ("update-freq", "batch-size") if name in options}
    raise InputError(
        f"{system}: {processes} processes cannot share {given or 'its batches'} evenly: choose "
        "a number of GPUs that divides update-freq or batch-size"
    )
