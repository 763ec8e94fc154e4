"""One run of a grid, brought to its end: trained, predicted, evaluated, its result written.

The folder holds ``settings.json`` (what decides the run), ``command.txt`` (what trains it),
``train.log`` and checkpoints while it trains; at its end ``checkpoint_best.pt`` without the
optimiser's state, predictions of the validation set and ``result.json``; and, where the grid says
so, the best checkpoint's metrics on another split, ``evaluation.json``, and its predictions there.
Of question answering, whose predictions are several files, `squad_answers` makes both; of
translation only the other split is translated, into files with its name (`split_files`). A folder
with a result is never trained again; one without goes on from its last checkpoint.
"""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...evaluation.metrics import LOWER_IS_BETTER
from ...files import write_text
from .. import run_files as files
from ..results import squad_answers
from ..results.origins import without_seed
from ..results.split_files import EVALUATION
from ..results.training_log import best, device, gates, parameters, speed, validations
from ..safe_files import read_json, refuse_links
from .checkpoints import mend, strip, updates_of
from .run_commands import PlacedRun

PACKAGES = ("fairseq-plugins", "fairseq-fixed", "torch", "numpy", "sacrebleu", "spacy")
# Runs a command with its output added to a file; raises RunError when it fails.
Launch = Callable[[Sequence[str], Path], None]


class RunError(Exception):
    """A command of a run ended with an error."""


@dataclass(frozen=True)
class Run(PlacedRun):
    """A run of a grid."""

    @property
    def is_tested(self) -> bool:
        """Whether its best checkpoint is tried on a split with labels."""
        split = self.data.manifest["splits"].get(self.grid.evaluate, {})
        return bool(self.predict and split.get("labelled"))

    @property
    def _lacks_evaluation(self) -> bool:
        """Whether the best checkpoint is still to be tried on that split."""
        path = self.evaluation
        if not self.is_tested:
            return False
        return not path.is_file() or read_json(path)["of"] != self.grid.evaluate

    @property
    def _lacks_answers(self) -> bool:
        """Whether the validation set is still to be predicted, as in a run that was not to."""
        wanted = bool(self.predict) and not self.data.translates
        return wanted and not (self.folder / files.PREDICTIONS).is_file()

    def is_finished(self) -> bool:
        """Return whether nothing is left to do.

        Raises:
            ValueError: the folder holds a run with other settings; names one that differs. It is
                a link, or holds one: what is written there would be written elsewhere.
        """
        refuse_links(self.root, self.folder, within=True)
        found = read_json(self.folder / files.SETTINGS)
        if found and found != self.settings:
            raise ValueError(
                f"{self.folder} holds a run with other settings "
                f"({_difference(found, self.settings)}): name another folder for the runs, "
                "or remove this one"
            )
        if not (self.folder / files.RESULT).is_file():
            return False
        lacking = self._lacks_evaluation or self._lacks_answers
        return not (lacking and (self.folder / files.BEST).is_file())

    def difference(self, found: Mapping[str, Any]) -> str:
        """Name the first setting that another seed of this run has otherwise; empty for none.

        What one of them does not say, as one of an older release, is not compared.
        """
        sides = [without_seed(one) for one in (found, self.settings)]
        known = sides[0].keys() & sides[1].keys()
        sides = [{key: side[key] for key in known} for side in sides]
        return _difference(*sides) if sides[0] != sides[1] else ""

    def execute(self, launch: Launch) -> None:
        """Train, predict, write the result, drop what only a resumed training would need; evaluate.

        Raises:
            RunError: a command failed.
            ValueError: the log holds no validation with the metric.
        """
        if not (self.folder / files.RESULT).is_file():
            self._train(launch)
        elif self._lacks_answers:
            self._answer(launch)
            if self.answers_questions:
                self._write_result()
        if self._lacks_evaluation:
            launch(self.evaluate_command(), self.folder / "predict.log")
            if self.answers_questions:
                self._collect(self.grid.evaluate, files.EVALUATED)
                squad_answers.write_evaluation(
                    self.folder / files.EVALUATED, self.grid.evaluate, self.folder / EVALUATION
                )

    def _answer(self, launch: Launch) -> None:
        """Predict the validation set."""
        launch(self.predict_command(), self.folder / "predict.log")
        if self.answers_questions:
            self._collect(self.grid.validation, files.PREDICTIONS)

    def _collect(self, split: str, rows: str) -> None:
        """Join answers with their gold, as rows."""
        squad_answers.write_rows(self.folder / rows, self.data.folder / f"{split}.examples.jsonl")

    def _train(self, launch: Launch) -> None:
        """Do all that leads to a result."""
        write_text(self.folder / files.SETTINGS, json.dumps(self.settings, indent=2) + "\n")
        write_text(self.folder / files.COMMAND, f"{self.shown_command()}\n")
        last = self.folder / files.LAST
        mend(last, self.folder / files.BEST)
        if updates_of(last) < self.updates:
            launch(self.train_command(), self.folder / files.LOG)
        if updates_of(last) < self.updates:  # fairseq also ends well when it stops early
            raise RunError(f"the training ended after {updates_of(last)} of {self.updates} updates")
        strip(self.folder / files.BEST)
        if self.data.translates and self.grid.average:
            launch(self.average_command(), self.folder / "average.log")
        elif self.predict and not self.data.translates:
            self._answer(launch)
        self._write_result()
        for path in self.folder.glob("checkpoint*.pt"):
            if path.name not in (files.BEST, files.AVERAGE):
                path.unlink()

    def assist(self, launch: Launch) -> None:
        """Train along with the run's first node, on another.

        Raises:
            RunError: the command failed.
        """
        done = (self.folder / files.RESULT).is_file()
        if not done and updates_of(self.folder / files.LAST, mend=False) < self.updates:
            launch(self.train_command(), self.folder / files.LOG)

    def _write_result(self) -> None:
        """Write the metrics of the best and of the last validation."""
        found = validations(self.folder / files.LOG, self.grid.validation)
        metric = self.settings["metric"]
        chosen = best(found, metric, metric not in LOWER_IS_BETTER)
        tuned = {}
        if self.predict and self.answers_questions:
            tuned = squad_answers.tuned_metrics(self.folder / files.PREDICTIONS)
        result = {
            **self.settings,
            "folder": str(self.data.folder),
            "updates": self.updates,
            "parameters": parameters(self.folder / files.LOG),
            "best_updates": chosen.updates,
            "best": {**chosen.metrics, **tuned},
            "last": found[-1].metrics,
            "gates": gates(chosen),
            "processes": self.workers.count,
            "device": device(self.folder / files.LOG),
            "command": self.shown_command(),
            "versions": versions(),
            "updates_per_second": speed(self.folder / files.LOG),
        }
        write_text(self.folder / files.RESULT, json.dumps(result, indent=2) + "\n")


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Name the first setting that differs."""
    for name in sorted({*found, *wanted}):
        one, other = found.get(name), wanted.get(name)
        if one != other:
            both = isinstance(one, dict) and isinstance(other, dict)
            return _difference(one, other) if both else f"{name}: {one!r} there, {other!r} here"
    return "none"


def versions() -> dict[str, str]:
    """Return package -> version, Python's first; those that are not there are left out."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
