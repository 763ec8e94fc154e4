"""An experiment on disk: the runs of all its parts, and whether they can be done."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ...prep.shares import WHOLE, Share
from ..plan.allowed import check_training
from ..plan.experiment_file import PlannedExperiment
from ..plan.grid import Cell, Grid
from ..plan.prepared_data import PreparedData
from ..plan.recipes import ALONE, Workers, share_batches
from ..run_files import AFTER, RESULT, SETTINGS
from ..safe_files import read_json, refuse_links, run_folders
from .run import Run

JOBS = "jobs"  # folder of the executor's files
SUBSETS = "data"  # folder of the parts of training sets, where the systems lie


class Subset(NamedTuple):
    """A part of a training set that has to be made before runs can use it."""

    source: Path  # the whole prepared folder
    folder: Path  # of the part
    share: Share


@dataclass(frozen=True)
class Plan:
    """What there is to do."""

    experiment: PlannedExperiment  # what for
    root: Path  # its folder
    runs: tuple[Run, ...]  # all runs, part by part
    subsets: tuple[Subset, ...]  # parts of training sets that they need


def make_plan(
    experiment: PlannedExperiment,
    root: Path,
    folders: Mapping[str, Mapping[str, PreparedData]],
    predict: Callable[[PreparedData], tuple[str, ...]],
    *,
    cpu: bool = True,
    workers: Workers = ALONE,
) -> Plan:
    """Return all runs of an experiment.

    Args:
        experiment, root: what to run, and its folder.
        folders: part -> what `read_folders` found; parts that it lacks are left out.
        predict: data -> command that predicts with a run.
        cpu, workers: see `PlacedRun`.
    """
    runs, subsets = [], {}
    for part in experiment.parts:
        place = experiment.runs_of(part, root)
        for cell in part.grid.cells() if part.name in folders else ():
            name = part.grid.data_of(cell.system)
            data = folders[part.name][name]
            if (share := share_of(part.grid, cell)) != WHOLE:
                folder = place / SUBSETS / _stem(name, share)
                subsets[folder] = Subset(data.folder, folder, share)
                data = data.part(share, folder)
            own = (predict(data), cpu, workers, part.name)
            runs.append(Run(part.grid, cell, data, place, *own))
    return Plan(experiment, root, tuple(runs), tuple(subsets.values()))


def share_of(grid: Grid, cell: Cell) -> Share:
    """Return the part of the training set that a run sees; whole sets give all seeds one part."""
    seed = cell.seed if cell.setting.fraction < 1 else WHOLE.seed
    return Share(cell.setting.fraction, seed, grid.select_fraction)


def _stem(name: str, share: Share) -> str:
    """Name the folder of a part."""
    held = f"-select{share.select:g}" if share.select else ""
    of = f"-fraction{share.fraction:g}-seed{share.seed}" if share.fraction < 1 else ""
    return f"{name or 'train'}{held}{of}".replace("/", "_")


def check_plan(plan: Plan) -> None:
    """Refuse before any work what would only go wrong after it.

    Raises:
        FileNotFoundError: a reference that is not there.
        ValueError: runs on other data or with other options in a part's folder, checkpoints to
            average that are not kept, batches that processes cannot share, folders behind links or
            with names that a command would take for options.
    """
    for name in map(str, [plan.root, *(part.folder for part in plan.experiment.parts)]):
        if name.startswith("-") or not name.isprintable():
            raise ValueError(f"{name!r}: begins like an option, or breaks a line")
    folders = [plan.experiment.runs_of(part, plan.root) for part in plan.experiment.parts]
    folders += [plan.root / JOBS, plan.root / AFTER, *(subset.folder for subset in plan.subsets)]
    for folder in folders:
        refuse_links(plan.root, folder)
    _check_folders(plan.runs)
    for run in {run.folder.parent: run for run in plan.runs}.values():  # one of its seeds
        share_batches(run.settings["options"], run.workers, run.cell.system)
        _check_model(run)
    planned = {run.part for run in plan.runs}
    for part in [part for part in plan.experiment.parts if part.name in planned]:
        grid = part.grid
        if grid.reference and not Path(grid.reference).is_file():
            raise FileNotFoundError(f"{part.name}: reference {grid.reference}: no such file")
        if grid.average > (grid.updates // grid.validate_every if grid.validate_every else 0):
            raise ValueError(
                f"{part.name}: average {grid.average} checkpoints: {grid.updates} updates with "
                f"validate_every {grid.validate_every} keep fewer"
            )
        known = {_validated_on(run.settings) for run in plan.runs if run.part == part.name}
        for folder in run_folders(plan.experiment.runs_of(part, plan.root), RESULT):
            if _validated_on(read_json(folder / RESULT)) not in known:
                raise ValueError(
                    f"{folder} is a run on other data than {part.folder}: name another folder "
                    "for the runs (--runs)"
                )


def _check_model(run: Run) -> None:
    """Refuse options that no training has, or that do not fit each other; names the system."""
    try:
        check_training(run.settings["options"])
    except ValueError as error:
        raise ValueError(f"{run.cell.system}: {error}") from None


def _check_folders(runs: Sequence[Run]) -> None:
    """Refuse runs that share a folder, and such as differ from others of their setting; ValueError.

    Seeds of a setting are averaged: with other options, of a file that was changed meanwhile, they
    would be of other models.
    """
    planned = Counter(run.folder for run in runs)
    for folder in (folder for folder, count in planned.items() if count > 1):
        raise ValueError(f"{folder}: two runs of the plan have this folder: are two rates alike?")
    for run in {run.folder.parent: run for run in runs}.values():
        for path in sorted(run.folder.parent.glob(f"*/{SETTINGS}")):
            differing = "" if path.parent in planned else run.difference(read_json(path))
            if differing:
                raise ValueError(
                    f"{path.parent} is another seed of {run.folder}, but with other settings "
                    f"({differing}): name another folder for the runs (--runs), or remove that one"
                )


def _validated_on(result: Mapping[str, Any]) -> str | None:
    return result.get("validation_data", result.get("data"))
