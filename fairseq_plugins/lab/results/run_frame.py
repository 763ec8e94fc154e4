"""A run as a row of a data frame, and frames of runs.

A row is a run, finished or not, with these columns (values are as they are, of any type):

part, root                     its part of the experiment, and the folder of the part's runs
folder, status, done           where it lies, how far it is, whether its result is there
dataset, data                  what it is about; fingerprint of the prepared folder (of question
                               answering of its validation file, since runs on other training data
                               are compared as well)
metric, score, validation      what chose its checkpoint; its value, None for none yet; its split
setting, seed                  which run; the setting's own fields are columns as well
arch, ablated, options         architecture, the part of it that was taken out, training options
prepared, positive             prepared folder; label that F1 and error metrics are about
planned                        updates in all; 0 if nothing tells
parameters, gates              of the model, 0 if nothing tells; layer -> mean share of local
                               attention
evaluated                      split that its best checkpoint was tried on as well; may be empty
note, trial                    what is said of its result wherever it is shown; mark of a run that
                               was cut short; empty of most
facts                          all that its files say
place, counts                  of a row that is kept without its run: file and line, and how each
                               example counts (`ExampleCounts`); empty and None of all others
best.X, last.X, evaluation.X   metric X at the best and the last validation, and on that split;
                               None where the run lacks it
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...messages import named
from ..plan.grid import Choice
from ..run_files import LOG
from .training_log import parameters

FINISHED, FAILED, UNFINISHED = "finished", "failed", "unfinished"
BEST, LAST, EVALUATION = "best", "last", "evaluation"
_TEXTS = ("dataset", "metric", "prepared", "positive", "evaluated", "note", "trial")
_NOTHING = (KeyError, TypeError, ValueError, AttributeError, OverflowError)

Facts = Mapping[str, Any]


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
    def choices(self) -> str:
        """What was chosen of the system's options."""
        return " ".join(f"{name}={value}" for name, value in self.choice)

    @property
    def order(self) -> tuple[Any, ...]:
        """What settings are sorted by."""
        return (*self[:3], str(self.choice))

    @property
    def title(self) -> str:
        """The system and what was chosen of its options, to be read."""
        share = "" if self.fraction == 1 else f"{self.fraction * 100:g} %"
        return " ".join(filter(None, (self.system, share, self.choices)))


def row_of_facts(part: str, root: Path, folder: Path, facts: Facts) -> dict[str, Any]:
    """Make a row of what is known of a run.

    Args:
        part, root: what it belongs to, and the folder of that part's runs.
        folder: of the run.
        facts: what its files say; ``done`` says whether it has a result.

    Raises:
        ValueError: its files say something else.
    """
    try:
        return {"part": part, "root": root, "folder": folder, **_columns(folder, facts)}
    except _NOTHING as error:
        raise ValueError(f"{folder}: its files say nothing of a run ({error!r})") from None


def _columns(folder: Path, facts: Facts) -> dict[str, Any]:
    """Return the columns of a run that its files tell; fails where they say something else."""
    setting, updates = _setting(facts), int(facts.get("updates") or 0)
    done, metric = bool(facts.get("done")), str(facts.get("metric") or "")
    told = (facts.get("options"), facts.get("gates"))
    options, gates = (value if isinstance(value, dict) else {} for value in told)
    count = int(facts.get("parameters") or (parameters(folder / LOG) if done else 0))
    metrics = {
        f"{where}.{name}": float(value)
        for where in (BEST, LAST, EVALUATION)
        for name, value in (facts.get(where) or {}).items()
        if isinstance(value, (int, float))
    }
    return {
        "status": str(facts.get("status") or (FINISHED if done else UNFINISHED)),
        "done": done,
        "data": str(facts.get("validation_data", facts.get("data", ""))),
        **{name: str(facts.get(name) or "") for name in _TEXTS},
        "score": metrics.get(f"{BEST}.{metric}"),
        "validation": str(facts.get("validation") or "valid"),
        "setting": setting,
        **setting._asdict(),
        "seed": int(facts["seed"]),
        "arch": str(options.get("arch") or facts.get("arch") or setting.system),
        "ablated": str(options.get("ablate", "none")).replace("none", ""),
        "options": options,
        "planned": int(options.get("max-update") or updates),
        "parameters": count,
        "gates": gates,
        "facts": facts,
        "place": "",
        "counts": None,
        **metrics,
    }


def _setting(facts: Facts) -> Setting:
    epochs, rate = int(facts.get("epochs") or 0), facts.get("learning_rate")
    share = float(facts.get("fraction", 1.0))
    if not 0 < share <= 1:
        raise ValueError(f"{share} is no share of a training set")
    setting = Setting(
        str(facts["system"]),
        math.nan if rate is None else float(rate),
        epochs,
        tuple((str(name), value) for name, value in (facts.get("choice") or {}).items()),
        share,
        0 if epochs else int(facts.get("updates") or 0),
    )
    hash(setting)  # fails for a choice of lists
    return setting


_BARE = _columns(Path(), {"system": "", "seed": 0})
COLUMNS = ("part", "root", "folder", *_BARE)  # of every frame; those of metrics follow


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Make a data frame of rows of runs, with values as they are."""
    columns = dict.fromkeys((*COLUMNS, *(name for row in rows for name in row)))
    cells = {name: [row.get(name) for row in rows] for name in columns}
    return pd.DataFrame(cells, dtype=object)


def rows_where(runs: pd.DataFrame, wanted: Iterable[bool]) -> pd.DataFrame:
    """Return the wanted rows of a frame, with all its columns also where it has no row."""
    return runs[np.fromiter(wanted, bool, len(runs))]


def found_scores(runs: pd.DataFrame, where: str, metric: str) -> list[float | None]:
    """Return a metric of every run; None of those that lack it."""
    return list(runs.get(f"{where}.{metric}", [None] * len(runs)))


def scores_of(runs: pd.DataFrame, where: str, metric: str) -> list[float]:
    """Return a metric of every run at `BEST`, at `LAST` or of the `EVALUATION`.

    Raises:
        ValueError: a run lacks it; names those it has.
    """
    found = found_scores(runs, where, metric)
    if None in found:
        run = runs.iloc[found.index(None)]
        there = (name for name in run.index if name.startswith(f"{where}."))
        names = sorted(name.partition(".")[2] for name in there if run[name] is not None)
        raise ValueError(f"{run.folder}: no metric {metric!r}; choices: {named(names)}")
    return [score for score in found if score is not None]
