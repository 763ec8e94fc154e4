"""One run of a grid: its folder, its command, and what is left when it is done.

The folder holds ``settings.json`` (what decides the run), ``command.txt`` (what trains it),
``train.log`` and checkpoints while it trains; at its end ``checkpoint_best.pt`` without the
optimiser's state, predictions of the validation set and ``result.json``; and, where the grid says
so, the best checkpoint's metrics on another split, ``evaluation.json``, and its predictions there.
Of question answering, whose predictions are several files, `squad_answers` makes both; of
translation only the other split is translated, into files with its name (`split_files`). A folder
with a result is never trained again; one without goes on from its last checkpoint.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...evaluation.metrics import LOWER_IS_BETTER
from ...evaluation.text_files import write_text
from ..commands import command
from ..plan.grid import Cell, Grid
from ..plan.prepared_data import SPANS, PreparedData
from ..plan.recipes import command_line, settings
from ..plan.workers import ALONE, Workers, share_batches
from ..results import squad_answers
from ..results.split_files import EVALUATION, evaluation_of
from ..results.training_log import best, gates, parameters, speed, validations
from ..run_files import (
    AVERAGE,
    BEST,
    COMMAND,
    EVALUATED,
    LAST,
    LOG,
    PREDICTIONS,
    RESULT,
    SCRIPTS,
    SETTINGS,
    USER_DIR,
)
from ..safe_files import read_text, refuse_links
from .checkpoints import mend, strip, updates_of
from .versions import versions

# Runs a command with its output added to a file; raises RunError when it fails.
Launch = Callable[[Sequence[str], Path], None]


class RunError(Exception):
    """A command of a run ended with an error."""


@dataclass(frozen=True)
class Run:
    """A cell of a grid with its place on disk.

    Args:
        grid, cell: what to run.
        data: the prepared folder.
        root: folder of all runs of the grid.
        predict: command that predicts with a run's folder, if predictions are wanted; of question
            answering ``answer``, of translation ``translate``, else ``predict``.
        cpu: whether to train without a GPU.
        workers: processes that train it.
    """

    grid: Grid
    cell: Cell
    data: PreparedData
    root: Path
    predict: tuple[str, ...] = ()
    cpu: bool = True
    workers: Workers = ALONE

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
        start = [sys.executable, "-m", "fairseq_cli.train", str(self.data.folder)]
        if self.workers.count == 1:
            options["distributed-world-size"] = 1
        else:
            script = SCRIPTS / "train_distributed.sh"
            start = ["bash", str(script), str(self.workers.processes), str(self.data.folder)]
        return start + command_line({**own, **options})

    def shown_command(self) -> str:
        """Return the training command as a person would type it, anywhere."""
        words = self.train_command()
        first = words.index(str(self.data.folder))
        start = "fairseq-train"
        if self.workers.count > 1:
            start = f"bash scripts/{Path(words[1]).name} {self.workers.processes}"
        text = f"{start} {shlex.join(words[first:])}"
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
        options = {"dir": self.folder, "last": self.grid.average, "by": "updates"}
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
    def answers_questions(self) -> bool:
        """Whether its task is question answering."""
        return self.data.manifest["target"] == SPANS

    @property
    def evaluation(self) -> Path:
        """The file with the metrics on the split of the evaluation."""
        return evaluation_of(self.folder, self.settings)

    @property
    def _lacks_evaluation(self) -> bool:
        """Whether the best checkpoint is still to be tried on a split with labels."""
        split = self.data.manifest["splits"].get(self.grid.evaluate, {})
        path = self.evaluation
        if not (self.predict and split.get("labelled")):
            return False
        return not path.is_file() or json.loads(read_text(path))["of"] != self.grid.evaluate

    @property
    def _lacks_answers(self) -> bool:
        """Whether the validation set is still to be predicted, as in a run that was not to."""
        wanted = bool(self.predict) and not self.data.translates
        return wanted and not (self.folder / PREDICTIONS).is_file()

    def is_finished(self) -> bool:
        """Tell whether nothing is left to do.

        Raises:
            ValueError: the folder holds a run with other settings; names one that differs. It is
                a link, or holds one: what is written there would be written elsewhere.
        """
        refuse_links(self.root, self.folder, within=True)
        path = self.folder / SETTINGS
        if path.is_file():
            found = json.loads(read_text(path))
            if found != self.settings:
                raise ValueError(
                    f"{self.folder} holds a run with other settings "
                    f"({_difference(found, self.settings)}): name another folder for the runs, "
                    "or remove this one"
                )
        if not (self.folder / RESULT).is_file():
            return False
        lacking = self._lacks_evaluation or self._lacks_answers
        return not (lacking and (self.folder / BEST).is_file())

    def execute(self, launch: Launch) -> None:
        """Train, predict, write the result, drop what only a resumed training would need; evaluate.

        Raises:
            RunError: a command failed.
            ValueError: the log holds no validation with the metric.
        """
        if not (self.folder / RESULT).is_file():
            self._train(launch)
        elif self._lacks_answers:
            self._answer(launch)
            if self.answers_questions:
                self._write_result()
        if self._lacks_evaluation:
            launch(self.evaluate_command(), self.folder / "predict.log")
            if self.answers_questions:
                self._collect(self.grid.evaluate, EVALUATED)
                squad_answers.write_evaluation(
                    self.folder / EVALUATED, self.grid.evaluate, self.folder / EVALUATION
                )

    def _answer(self, launch: Launch) -> None:
        """Predict the validation set."""
        launch(self.predict_command(), self.folder / "predict.log")
        if self.answers_questions:
            self._collect(self.grid.validation, PREDICTIONS)

    def _collect(self, split: str, rows: str) -> None:
        """Join answers with their gold, as rows."""
        squad_answers.write_rows(self.folder / rows, self.data.folder / f"{split}.examples.jsonl")

    def _train(self, launch: Launch) -> None:
        """Do all that leads to a result."""
        write_text(self.folder / SETTINGS, json.dumps(self.settings, indent=2) + "\n")
        write_text(self.folder / COMMAND, f"{self.shown_command()}\n")
        last = self.folder / LAST
        mend(last, self.folder / BEST)
        if updates_of(last) < self.updates:
            launch(self.train_command(), self.folder / LOG)
        if updates_of(last) < self.updates:  # fairseq also ends well when it stops early
            raise RunError(f"the training ended after {updates_of(last)} of {self.updates} updates")
        strip(self.folder / BEST)
        if self.data.translates and self.grid.average:
            launch(self.average_command(), self.folder / "average.log")
        elif self.predict and not self.data.translates:
            self._answer(launch)
        self._write_result()
        for path in self.folder.glob("checkpoint*.pt"):
            if path.name not in (BEST, AVERAGE):
                path.unlink()

    def assist(self, launch: Launch) -> None:
        """Train along with the run's first node, on another.

        Raises:
            RunError: the command failed.
        """
        done = (self.folder / RESULT).is_file()
        if not done and updates_of(self.folder / LAST, mend=False) < self.updates:
            launch(self.train_command(), self.folder / LOG)

    def _write_result(self) -> None:
        """Write the metrics of the best and of the last validation."""
        found = validations(self.folder / LOG, self.grid.validation)
        metric = self.settings["metric"]
        chosen = best(found, metric, metric not in LOWER_IS_BETTER)
        tuned = {}
        if self.predict and self.answers_questions:
            tuned = squad_answers.tuned_metrics(self.folder / PREDICTIONS)
        result = {
            **self.settings,
            "folder": str(self.data.folder),
            "updates": self.updates,
            "parameters": parameters(self.folder / LOG),
            "best_updates": chosen.updates,
            "best": {**chosen.metrics, **tuned},
            "last": found[-1].metrics,
            "gates": gates(chosen),
            "processes": self.workers.count,
            "command": self.shown_command(),
            "versions": versions(),
            "updates_per_second": speed(self.folder / LOG),
        }
        write_text(self.folder / RESULT, json.dumps(result, indent=2) + "\n")


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Name the first setting that differs."""
    for name in sorted({*found, *wanted}):
        one, other = found.get(name), wanted.get(name)
        if one != other:
            both = isinstance(one, dict) and isinstance(other, dict)
            return _difference(one, other) if both else f"{name}: {one!r} there, {other!r} here"
    return "none"
