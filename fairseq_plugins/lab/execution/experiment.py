"""An experiment on disk: the runs of all its parts, what is recorded of it, its rows.

``experiment.json`` says what it is, ``rows.jsonl`` holds one line a run that came to an end, in the
plan's order. Everything about time stands in a row's ``time``: the rest is the same whenever and
however often it was interrupted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...evaluation.text_files import write_text
from ..plan.experiment_file import Experiment, Part
from ..plan.prepared_data import TRANSLATION, PreparedData
from ..plan.workers import ALONE, Workers, share_batches
from ..run_files import AFTER, RESULT
from ..safe_files import read_text, refuse_links, run_folders
from .run import Run
from .versions import versions

DESCRIPTION, ROWS = "experiment.json", "rows.jsonl"
JOBS = "jobs"  # folder of the executor's files
SUBSETS = "data"  # folder of the parts of training sets, beside the systems
# of a result, what a row has under the same name; the rest is spelt in `_row`
_SHARED = ("dataset", "system", "learning_rate", "metric", "validation", "best", "last")
_MORE = ("best_updates", "parameters", "processes", "command", "versions")


@dataclass(frozen=True)
class PlannedRun:
    """A run and the part it belongs to."""

    part: Part
    run: Run


@dataclass(frozen=True)
class Subset:
    """A part of a training set that has to be made before runs can use it.

    Args:
        source: the whole prepared folder.
        folder: of the part.
        fraction: of the training set.
        seed: of the choice.
    """

    source: Path
    folder: Path
    fraction: float
    seed: int


@dataclass(frozen=True)
class Plan:
    """What there is to do.

    Args:
        experiment: what for.
        root: its folder.
        runs: all runs, part by part.
        subsets: parts of training sets that they need.
    """

    experiment: Experiment
    root: Path
    runs: tuple[PlannedRun, ...]
    subsets: tuple[Subset, ...]


def make_plan(
    experiment: Experiment,
    root: Path,
    folders: Mapping[str, Mapping[str, PreparedData]],
    predict: Callable[[PreparedData], tuple[str, ...]],
    *,
    cpu: bool = True,
    workers: Workers = ALONE,
) -> Plan:
    """Return all runs of an experiment.

    Args:
        experiment: what to run.
        root: its folder.
        folders: part -> what `read_folders` found; parts that it lacks are left out.
        predict: data -> command that predicts with a run.
        cpu: whether to train without a GPU.
        workers: processes of each run.
    """
    runs, subsets = [], {}
    for part in experiment.parts:
        place = experiment.runs_of(part, root)
        for cell in part.grid.cells() if part.name in folders else ():
            name = part.grid.data_of(cell.system)
            data = folders[part.name][name]
            if cell.fraction < 1:
                stem = f"{name or 'train'}-fraction{cell.fraction:g}-seed{cell.seed}"
                folder = place / SUBSETS / stem.replace("/", "_")
                subsets[folder] = Subset(data.folder, folder, cell.fraction, cell.seed)
                data = data.part(cell.fraction, folder)
            run = Run(part.grid, cell, data, place, predict(data), cpu, workers)
            runs.append(PlannedRun(part, run))
    return Plan(experiment, root, tuple(runs), tuple(subsets.values()))


def describe(plan: Plan, command: str) -> dict[str, Any]:
    """Return what ``experiment.json`` says.

    Args:
        plan: all runs.
        command: that runs the experiment.
    """
    experiment = plan.experiment
    parts = [
        {
            "name": part.name,
            "folder": "." if experiment.is_grid else part.name,
            "dataset": part.grid.dataset,
            "data": str(part.folder),
            "kind": TRANSLATION if part.grid.dataset == TRANSLATION else "understanding",
        }
        for part in experiment.parts
    ]
    return {
        "name": experiment.name,
        "title": experiment.title,
        "file": str(experiment.file),
        "command": command,
        "parts": parts,
        "runs": [str(planned.run.folder.relative_to(plan.root)) for planned in plan.runs],
        "tables": list(experiment.tables),
        "after": [step.model_dump() for step in experiment.after],
        "versions": versions(),
    }


def write_description(plan: Plan, command: str) -> None:
    """Write ``experiment.json``; what an earlier plan made and is still there stays in it."""
    found, earlier = describe(plan, command), _read(plan.root / DESCRIPTION)
    names = [part["name"] for part in found["parts"]]
    found["parts"] += [part for part in earlier.get("parts", []) if part["name"] not in names]
    others = [run for run in earlier.get("runs", []) if run not in found["runs"]]
    found["runs"] += [run for run in others if (plan.root / run).is_dir()]
    plan.root.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    write_text(plan.root / DESCRIPTION, text)


def check_plan(plan: Plan) -> None:
    """Refuse before any work what would only go wrong after it.

    Raises:
        FileNotFoundError: a reference that is not there.
        ValueError: runs on other data in a part's folder, checkpoints to average that are not
            kept, batches that the processes of a run cannot share, folders behind links or with
            names that a command would take for options.
    """
    for folder in [plan.root, *(part.folder for part in plan.experiment.parts)]:
        if str(folder).startswith("-") or not str(folder).isprintable():
            raise ValueError(f"{str(folder)!r}: begins like an option, or breaks a line")
    folders = [plan.experiment.runs_of(part, plan.root) for part in plan.experiment.parts]
    folders += [plan.root / JOBS, plan.root / AFTER, *(subset.folder for subset in plan.subsets)]
    for folder in folders:
        refuse_links(plan.root, folder)
    for one in plan.runs:
        share_batches(one.run.settings["options"], one.run.workers, one.run.cell.system)
    for part in {one.part.name: one.part for one in plan.runs}.values():
        grid = part.grid
        if grid.reference and not Path(grid.reference).is_file():
            raise FileNotFoundError(f"{part.name}: reference {grid.reference}: no such file")
        if grid.average > (grid.updates // grid.validate_every if grid.validate_every else 0):
            raise ValueError(
                f"{part.name}: average {grid.average} checkpoints: {grid.updates} updates with "
                f"validate_every {grid.validate_every} keep fewer"
            )
        _check_data(plan, part)


def _check_data(plan: Plan, part: Part) -> None:
    """Refuse runs on other data where those of a part lie: nothing could be compared."""
    runs = [one.run.settings for one in plan.runs if one.part.name == part.name]
    known = {run.get("validation_data", run["data"]) for run in runs}
    for folder in run_folders(plan.experiment.runs_of(part, plan.root), RESULT):
        result = _read(folder / RESULT)
        if result.get("validation_data", result.get("data")) not in known:
            raise ValueError(
                f"{folder} is a run on other data than {part.folder}: name another folder "
                "for the runs (--runs)"
            )


def rows(plan: Plan, failures: Mapping[Path, str]) -> list[dict[str, Any]]:
    """Return a row for every run that came to an end.

    Args:
        plan: all runs.
        failures: folder -> what went wrong, of runs that failed.
    """
    found = []
    for planned in plan.runs:
        folder = planned.run.folder
        result = _read(folder / RESULT)
        if folder in failures:
            result = {**planned.run.settings, **result, "error": failures[folder]}
        if result:
            found.append(_row(plan, planned, result))
    return found


def _row(plan: Plan, planned: PlannedRun, result: Mapping[str, Any]) -> dict[str, Any]:
    """Lay out what is known of a run."""
    run = planned.run
    tried = _read(run.evaluation)
    speed = result.get("updates_per_second")
    error = {"error": result["error"]} if "error" in result else {}
    return {
        "experiment": plan.experiment.name,
        "part": planned.part.name,
        **{name: result.get(name) for name in _SHARED},
        "arch": result.get("options", {}).get("arch", ""),
        "epochs": result.get("epochs", 0),
        "updates": run.updates,
        "fraction": run.cell.fraction,
        "choice": dict(run.cell.choice),
        "seed": run.cell.seed,
        "status": "failed" if error else "finished",
        "evaluated": tried.get("of", ""),
        "evaluation": tried.get("metrics", {}),
        **{name: result.get(name) for name in _MORE},
        "folder": str(run.folder.relative_to(plan.root)),
        **error,
        "time": {
            "updates_per_second": speed,
            "seconds": round(run.updates / speed, 1) if speed else None,
        },
    }


def write_rows(plan: Plan, failures: Mapping[Path, str]) -> None:
    """Write ``rows.jsonl`` anew: the plan's runs, then others that were planned and done before."""
    found = [*rows(plan, failures), *_earlier_rows(plan)]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in found]
    plan.root.mkdir(parents=True, exist_ok=True)
    write_text(plan.root / ROWS, "".join(lines))


def _earlier_rows(plan: Plan) -> list[dict[str, Any]]:
    """Return the rows of finished runs that are not of this plan, such as those of other seeds."""
    if not (plan.root / ROWS).is_file():
        return []
    planned = {str(one.run.folder.relative_to(plan.root)) for one in plan.runs}
    others = [row for row in read_rows(plan.root) if row.get("folder") not in planned]
    return [row for row in others if (plan.root / str(row.get("folder")) / RESULT).is_file()]


def read_rows(folder: str | Path) -> list[dict[str, Any]]:
    """Read the rows of an experiment.

    Raises:
        FileNotFoundError: it has none.
        ValueError: a line that is no row; names file and line.
    """
    path, found = Path(folder) / ROWS, []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise ValueError(f"{path}:{number}: no row of an experiment")
        found.append(row)
    return found


def _read(path: Path) -> dict[str, Any]:
    """Read a JSON file; an empty one if there is none."""
    return json.loads(read_text(path)) if os.path.lexists(path) else {}


def messages_by_folder(runs: Sequence[Run], messages: Sequence[str]) -> dict[Path, str]:
    """Return folder -> message of the runs that failed; a message begins with its folder."""
    return {
        run.folder: message.removeprefix(f"{run.folder}: ")
        for run in runs
        for message in messages
        if message.startswith(f"{run.folder}: ")
    }
