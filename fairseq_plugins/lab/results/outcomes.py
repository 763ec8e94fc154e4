"""What finished runs left: their settings, and their metrics on the validation and other splits."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ...messages import named
from ..plan.grid import Choice
from ..run_files import EVALUATED, LOG, PREDICTIONS, RESULT
from ..safe_files import parse_json, read_text, run_folders
from .split_files import evaluation_of
from .training_log import parameters


class Setting(NamedTuple):
    """Everything about a run but its seed."""

    system: str
    learning_rate: float
    epochs: int
    choice: Choice = ()
    fraction: float = 1.0
    updates: int = 0

    @property
    def values(self) -> str:
        """The learning rate and whatever else was chosen; of an ensemble what it is."""
        made = [f"{name} {value}" for name, value in self.choice]
        if math.isnan(self.learning_rate):
            return ", ".join(made)
        length = f"{self.updates:,} updates" if self.updates else f"{self.epochs} epochs"
        share = [] if self.fraction == 1 else [f"{self.fraction * 100:g} % of the data"]
        return ", ".join([f"lr {self.learning_rate:g}", length, *share, *made])

    @property
    def title(self) -> str:
        """The system and what was chosen of its options, to be read."""
        share = [] if self.fraction == 1 else [f"{self.fraction * 100:g} %"]
        made = [f"{name}={value}" for name, value in self.choice]
        return " ".join([self.system, *share, *made])


@dataclass(frozen=True)
class Outcome:
    """The result of one run.

    Args:
        setting, seed: which run.
        best: metrics at its best validation.
        last: metrics at its last one.
        folder: where it lies.
        arch: its architecture.
        ablated: the part of it that was taken out; may be empty.
        positive: label that F1 and error metrics are about; may be empty.
        parameters: how many its model has; 0 if nothing tells.
        gates: layer -> mean local share of attention at its best validation.
        evaluated: split that its best checkpoint was tried on beside; may be empty.
        evaluation: metrics there.
        options: of its training.
        data: prepared folder that it was trained on; empty if nothing tells.
    """

    setting: Setting
    seed: int
    best: dict[str, float]
    last: dict[str, float]
    folder: Path
    arch: str = ""
    ablated: str = ""
    positive: str = ""
    parameters: int = 0
    gates: dict[int, float] = field(default_factory=dict)
    evaluated: str = ""
    evaluation: dict[str, float] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    data: str = ""

    @property
    def predictions(self) -> Path:
        """Its predictions of the validation set."""
        return self.folder / PREDICTIONS

    @property
    def evaluation_predictions(self) -> Path:
        """Its predictions of the other split."""
        return self.folder / EVALUATED


@dataclass(frozen=True)
class Outcomes:
    """The runs of one folder, all on the same data.

    Args:
        root: the folder.
        dataset: its name.
        data: fingerprint of the prepared folder; of question answering, of its validation file,
            since runs on other training data are compared as well.
        metric: that chose the checkpoints.
        validation: split that it was computed on.
        runs: sorted.
    """

    root: Path
    dataset: str
    data: str
    metric: str
    validation: str
    runs: list[Outcome]


def read_outcomes(root: str | Path) -> Outcomes:
    """Read all results below a folder of runs.

    Raises:
        FileNotFoundError: there is no finished run.
        ValueError: results on other data, or chosen by another metric, lie among them, or some that
            say nothing of a run.
    """
    root = Path(root)
    found = {folder: _read(folder / RESULT) for folder in run_folders(root, RESULT)}
    for result in found.values():
        result["data"] = result.get("validation_data", result.get("data"))
    if not found:
        raise FileNotFoundError(f"{root}: no finished run (no */*/*/{RESULT})")
    shared = {}
    for key in ("dataset", "data", "metric", "validation"):
        values = sorted({result[key] for result in found.values()})
        if len(values) > 1:
            raise ValueError(f"{root}: runs differ in their {key}: {named(values)}")
        shared[key] = values[0]
    runs = [_checked(folder, result) for folder, result in found.items()]
    order = sorted(runs, key=lambda run: (*run.setting[:3], str(run.setting.choice), run.seed))
    return Outcomes(root, runs=order, **shared)


def _read(path: Path) -> dict[str, Any]:
    """Read a JSON file.

    Raises:
        ValueError: it is none, or a link.
    """
    text = read_text(path)
    try:
        found = parse_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: not JSON, or none for runs: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: not a JSON object")
    return found


def _checked(folder: Path, result: dict[str, Any]) -> Outcome:
    """Do as `_outcome`; one clear error where files say something else."""
    try:
        return _outcome(folder, result)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ValueError(f"{folder}: its files say nothing of a run ({error!r})") from None


def share_of(value: Any) -> float:
    """Return the share of the training set that a run says it had; all of it if it says nothing.

    Raises:
        TypeError, ValueError: no such share.
    """
    share = 1.0 if value is None else float(value)
    if not 0 < share <= 1:
        raise ValueError(f"{share} is no share of a training set")
    return share


def _outcome(folder: Path, result: dict[str, Any]) -> Outcome:
    """Put together what lies in a run's folder."""
    tried = evaluation_of(folder, result)
    tried = _read(tried) if os.path.lexists(tried) else {"of": "", "metrics": {}}
    options = result.get("options", {})
    setting = Setting(
        result["system"],
        result["learning_rate"],
        result.get("epochs", 0),
        tuple(result.get("choice", {}).items()),
        share_of(result.get("fraction")),
        result["updates"] if not result.get("epochs") else 0,
    )
    hash(setting)  # fails for a choice of lists
    return Outcome(
        setting,
        result["seed"],
        result["best"],
        result["last"],
        folder,
        arch=str(options.get("arch", setting.system)),
        ablated=str(options.get("ablate", "none")).replace("none", ""),
        positive=result["positive"],
        parameters=int(result.get("parameters") or parameters(folder / LOG)),
        gates={int(layer): value for layer, value in result.get("gates", {}).items()},
        evaluated=tried["of"],
        evaluation=tried["metrics"],
        options=options,
        data=result.get("folder", ""),
    )
