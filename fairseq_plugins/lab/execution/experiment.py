"""An experiment on disk: the parts that the command line selects, their runs, and their checks."""

import argparse
import logging
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import InputError
from ...messages import named, quoted
from ...prep.shares import WHOLE, Share
from ..commands import written
from ..plan import grid_selection as grids
from ..plan.allowed import check_training
from ..plan.experiment_file import PlannedExperiment, PlannedPart, read_experiment
from ..plan.grid import Cell, Grid
from ..plan.prepared_data import PreparedData, preparation, read_folders
from ..plan.systems import TAKEN
from ..rows import FAILED, read_rows
from ..run_files import AFTER, ERROR, RESULT, ROWS
from ..safe_files import is_file, refuse_links
from .machine import Machine, machine_of
from .run import Run, difference, share_batches
from .training import planned_row

JOBS = "jobs"  # folder of Slurm's files
SUBSETS = "data"  # folder of partial training sets, where the systems lie

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plan:
    """An experiment with all its runs."""

    experiment: PlannedExperiment
    root: Path  # folder of the experiment
    runs: tuple[Run, ...]  # part by part


def selected(args: argparse.Namespace) -> PlannedExperiment:
    experiment = read_experiment(args.file)
    names = [part.name for part in experiment.parts]
    for name in args.parts:
        if name not in names:
            raise InputError(f"--parts {name!r}: choices are {named(names)}")
    parts = [part for part in experiment.parts if not args.parts or part.name in args.parts]
    own = {key: getattr(args, key) for key in ("data", "name") if getattr(args, key)}
    if len(parts) > 1 and own:
        raise InputError(f"--data and --name are for one part, not for {named(names)}")
    size, chosen = "" if args.smoke else args.size, []
    for part in parts:
        grid = grids.select_systems(part.grid, args.archs, size or part.size)
        part = replace(part, **own, grid=grid).resized(size)
        chosen.append(replace(part, grid=grids.selected_grid(part.grid, args)))
    mark = "smoke" if args.smoke else args.size  # a short run has its own folder
    name = args.name or "_".join(filter(None, [experiment.name, mark]))
    is_folder = Path(name).name == name and name not in ("", "..", *TAKEN)
    if not is_folder or name.startswith("-") or not name.isprintable():
        raise InputError(f"--name {name!r} is no name for a folder")
    return replace(experiment, name=name, parts=tuple(chosen))


def planned(args: argparse.Namespace, experiment: PlannedExperiment) -> tuple[Plan, dict[str, str]]:
    """Return all runs, and for each part what is missing to run it."""
    root = args.runs or Path("runs") / experiment.name
    machine = machine_of(args, root / JOBS)
    if not args.dry_run:
        machine.check()
    if args.raw and not args.dry_run:
        _prepare(args, experiment.parts)
    folders: dict[str, Mapping[str, PreparedData]] = {}
    missing: dict[str, str] = {}
    for part in experiment.parts:
        try:
            folders[part.name] = read_folders(part.folder, part.grid)
        except FileNotFoundError as error:
            first = f"{part.folder} is not prepared yet: that is done first, from {args.raw}"
            missing[part.name] = first if args.raw else str(error)
    plan = make_plan(experiment, root, folders, machine, predict=not args.no_predictions)
    check_plan(plan)
    return plan, missing


def _prepare(args: argparse.Namespace, parts: Iterable[PlannedPart]) -> None:
    """Prepare the data of all parts; existing folders stay as they are."""
    try:
        more = shlex.split(args.prepare)
    except ValueError as error:  # an unmatched quote
        raise InputError(f"--prepare {quoted(args.prepare)}: {error}") from None
    for part in parts:
        for words in preparation(part, args.raw, args.pretrained, more):
            logger.info("data of %s: %s", part.name, written(*words[3:]))
            if subprocess.run(words, check=False).returncode:
                raise InputError(f"the data of {part.name} could not be prepared")


def make_plan(
    experiment: PlannedExperiment,
    root: Path,
    folders: Mapping[str, Mapping[str, PreparedData]],
    machine: Machine,
    *,
    predict: bool = True,
) -> Plan:
    """Return all runs of an experiment; parts without a result of `read_folders` are left out."""
    runs = []
    for part in experiment.parts:
        place = experiment.runs_of(part, root)
        for cell in part.grid.cells() if part.name in folders else ():
            name = part.grid.data_of(cell.system)
            data = folders[part.name][name]
            if (share := _share_of(part.grid, cell)) != WHOLE:
                folder = place / SUBSETS / _stem(name, share)
                data = data.part(share, folder)
            runs.append(Run(part.grid, cell, data, place, machine, predict, part.name))
    return Plan(experiment, root, tuple(runs))


def _share_of(grid: Grid, cell: Cell) -> Share:
    """Return the training share of a run; seeds of a whole training set share one folder."""
    seed = cell.seed if cell.setting.fraction < 1 else WHOLE.seed
    return Share(cell.setting.fraction, seed, grid.select_fraction)


def _stem(name: str, share: Share) -> str:
    held = f"-select{share.select:g}" if share.select else ""
    of = f"-fraction{share.fraction:g}-seed{share.seed}" if share.fraction < 1 else ""
    return f"{name or 'train'}{held}{of}".replace("/", "_")


def check_plan(plan: Plan) -> None:
    """Refuse, before any work, a plan that would fail later."""
    for name in map(str, [plan.root, *(part.folder for part in plan.experiment.parts)]):
        if name.startswith("-") or not name.isprintable():
            raise InputError(f"{name!r}: begins like an option, or breaks a line")
    folders = [plan.experiment.runs_of(part, plan.root) for part in plan.experiment.parts]
    folders += [plan.root / JOBS, plan.root / AFTER]
    folders += {run.data.folder for run in plan.runs if run.data.taken}
    for folder in folders:
        refuse_links(plan.root, folder)
    planned = Counter(run.folder for run in plan.runs)
    for folder in (folder for folder, count in planned.items() if count > 1):
        raise InputError(f"{folder}: two runs of the plan have this folder: are two rates alike?")
    for run in {run.folder.parent: run for run in plan.runs}.values():  # one of its seeds
        try:
            check_training(run.settings["options"])
        except InputError as error:
            raise InputError(f"{run.cell.system}: {error}") from None
        share_batches(run.settings["options"], run.machine.processes, run.cell.system)
    for part in plan.experiment.parts:
        if any(run.part == part.name for run in plan.runs):
            _check_grid(part)
    _check_rows(plan)


def _check_grid(part: PlannedPart) -> None:
    grid = part.grid
    if grid.reference and not Path(grid.reference).is_file():
        raise FileNotFoundError(f"{part.name}: reference {grid.reference}: no such file")
    if grid.average > (grid.updates // grid.validate_every if grid.validate_every else 0):
        raise InputError(
            f"{part.name}: average {grid.average} checkpoints: {grid.updates} updates with "
            f"validate_every {grid.validate_every} keep fewer"
        )


def has_ended(folder: Path) -> bool:
    """Return whether a folder holds a run that ended. A row can outlive its folder."""
    return any(is_file(folder / name) for name in (RESULT, ERROR))


def _check_rows(plan: Plan) -> None:
    """Refuse folders that hold runs on other data, or the same setting with other options.

    Seeds of a setting are averaged, so all must have the same options.
    """
    parts = {part.name: part for part in plan.experiment.parts}
    own = {run.folder: planned_row(run, status=FAILED) for run in plan.runs}
    data = {(row.part, row.data) for row in own.values()}
    settings = {(row.part, row.setting): row for row in own.values()}
    path = plan.root / ROWS
    found = read_rows(path, remarks=[]) if is_file(path) else []
    for one in (one for one in found if has_ended(one.folder)):
        row, other = one.row, settings.get((one.row.part, one.row.setting))
        if row.part in {part for part, _ in data} and (row.part, row.data) not in data:
            raise InputError(
                f"{one.folder} is a run on other data than {parts[row.part].folder}: name another "
                "folder for the runs (--runs)"
            )
        if other and one.folder not in own and row.trained not in ("", other.trained):
            options = difference(row.options, other.options) or "another select_fraction"
            raise InputError(
                f"{one.folder} is another seed of a setting, but with other options ({options}): "
                "name another folder for the runs (--runs), or remove that one"
            )
