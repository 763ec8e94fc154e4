"""The part of an experiment's file that ``fairseq-plugins run`` asks for, and its plan."""

import argparse
import logging
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ...messages import named
from ..commands import command
from ..plan import grid_selection as grids
from ..plan.experiment_file import PlannedExperiment, PlannedPart, read_experiment
from ..plan.grid import Grid
from ..plan.prepared_data import SPANS, PreparedData, preparation, read_folders
from ..plan.recipes import Workers
from ..plan.systems import TAKEN
from .cluster import Machine, machine_of
from .experiment import JOBS, Plan, check_plan, make_plan

logger = logging.getLogger(__name__)


def selected(args: argparse.Namespace) -> PlannedExperiment:
    """Return the part of the experiment that the command line asks for.

    Raises:
        FileNotFoundError, ValueError: no such file, part, system or value.
    """
    experiment = read_experiment(args.file)
    names = [part.name for part in experiment.parts]
    for name in args.parts:
        if name not in names:
            raise ValueError(f"--parts {name!r}: choices are {named(names)}")
    parts = [part for part in experiment.parts if not args.parts or part.name in args.parts]
    own = {key: getattr(args, key) for key in ("data", "name") if getattr(args, key)}
    if len(parts) > 1 and own:
        raise ValueError(f"--data and --name are for one part, not for {named(names)}")
    size, chosen = "" if args.smoke else args.size, []
    for part in parts:
        grid = grids.select_systems(part.grid, args.archs, size or part.size)
        part = replace(part, **own, grid=grid).resized(size)
        chosen.append(replace(part, grid=selected_grid(args, part.grid)))
    mark = "smoke" if args.smoke else args.size  # nobody takes the one for the other
    name = args.name or "_".join(filter(None, [experiment.name, mark]))
    is_folder = Path(name).name == name and name not in ("", "..", *TAKEN)
    if not is_folder or name.startswith("-") or not name.isprintable():
        raise ValueError(f"--name {name!r} is no name for a folder")
    return replace(experiment, name=name, parts=tuple(chosen))


def selected_grid(args: argparse.Namespace, grid: Grid) -> Grid:
    """Return the part of a grid that the command line asks for."""
    for name in ("preset", "quick", "smoke"):
        grid = getattr(grids, name)(grid) if getattr(args, name) else grid
    keys = ("learning_rates", "epochs", "seeds", "fractions", "updates")
    grid = grids.select(grid, **{key: getattr(args, key) for key in keys})
    grid = grids.choose(grid, grids.read_choices(args.choices))
    grid = grids.contrast(grid, grids.read_choices(args.contrast))
    generate = {**grid.generate, **grids.read_assignments(args.generate)}
    own = {key: getattr(args, key) for key in ("evaluate", "reference") if getattr(args, key)}
    grid = replace(grid, generate=generate, **own)
    return grids.with_options(grid, grids.read_assignments(args.options))


def prepare(args: argparse.Namespace, parts: Iterable[PlannedPart]) -> None:
    """Prepare the data of all parts; what is there already is left as it is."""
    for part in parts:
        more = shlex.split(args.prepare)
        for words in preparation(part, args.raw, args.pretrained, more):
            logger.info("data of %s: %s", part.name, shlex.join(words[1:]))
            if subprocess.run(words, check=False).returncode:
                raise ValueError(f"the data of {part.name} could not be prepared")


def predict_command(args: argparse.Namespace, data: PreparedData) -> tuple[str, ...]:
    """Return the command that predicts with a run."""
    if args.no_predictions:
        return ()
    usual = "answer" if data.manifest["target"] == SPANS else "predict"
    return tuple(command("translate" if data.translates else usual))


def planned(
    args: argparse.Namespace, experiment: PlannedExperiment
) -> tuple[Plan, Machine, dict[str, str]]:
    """Return all runs, where they are executed, and part -> what is missing for its runs.

    Raises:
        FileNotFoundError, ValueError: what `prepare`, `read_folders` and `check_plan` refuse.
    """
    root = args.runs or Path("runs") / experiment.name
    machine = machine_of(args, root / JOBS)
    if not args.dry_run:
        machine.check()
    if args.raw and not args.dry_run:
        prepare(args, experiment.parts)
    folders: dict[str, Mapping[str, PreparedData]] = {}
    missing: dict[str, str] = {}
    for part in experiment.parts:
        try:
            folders[part.name] = read_folders(part.folder, part.grid)
        except FileNotFoundError as error:
            first = f"{part.folder} is not prepared yet: that is done first, from {args.raw}"
            missing[part.name] = first if args.raw else str(error)
    plan = make_plan(
        experiment,
        root,
        folders,
        lambda data: predict_command(args, data),
        cpu=args.cpu or not machine.gpus_per_node,
        workers=Workers(machine.nodes, machine.processes),
    )
    check_plan(plan)
    return plan, machine, missing
