"""What finished runs left: their settings, and their metrics on the validation and other splits."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..messages import named
from .grid import Choice
from .run import EVALUATED, EVALUATION, LOG, PREDICTIONS, RESULT
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
        ValueError: results on other data, or chosen by another metric, lie among them.
    """
    root = Path(root)
    found = {path.parent: _read(path) for path in sorted(root.glob(f"*/*/*/{RESULT}"))}
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
    runs = [_outcome(folder, result) for folder, result in found.items()]
    order = sorted(runs, key=lambda run: (*run.setting[:3], str(run.setting.choice), run.seed))
    return Outcomes(root, runs=order, **shared)


def _read(path: Path) -> dict[str, Any]:
    """Read a JSON file.

    Raises:
        ValueError: it is none.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"{path}: not JSON") from None


def _outcome(folder: Path, result: dict[str, Any]) -> Outcome:
    """Put together what lies in a run's folder."""
    tried = folder / EVALUATION
    tried = _read(tried) if tried.is_file() else {"of": "", "metrics": {}}
    options = result.get("options", {})
    setting = Setting(
        result["system"],
        result["learning_rate"],
        result.get("epochs", 0),
        tuple(result.get("choice", {}).items()),
        result.get("fraction", 1.0),
        result["updates"] if not result.get("epochs") else 0,
    )
    return Outcome(
        setting,
        result["seed"],
        result["best"],
        result["last"],
        folder,
        arch=options.get("arch", setting.system),
        ablated=str(options.get("ablate", "none")).replace("none", ""),
        positive=result["positive"],
        parameters=result.get("parameters") or parameters(folder / LOG),
        gates={int(layer): value for layer, value in result.get("gates", {}).items()},
        evaluated=tried["of"],
        evaluation=tried["metrics"],
        options=options,
        data=result.get("folder", ""),
    )
