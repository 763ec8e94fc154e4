"""Learning rates tried on a part of the training data (Chadha and Sood 2019, sections 3.5-3.6).

Every rate is a run of a grid, so a search that was stopped goes on. A rate at which training breaks
down is an answer as well, and is remembered next to its log.
"""

import argparse
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...files import write_text
from ...prep.shares import Share
from ...prep.subset import write_subset
from ..plan.grid import OWN_RATE, Grid, read_grid
from ..plan.grid_selection import preset, resize, select, select_systems, with_options
from ..plan.option_values import read_assignments
from ..plan.prepared_data import PreparedData, read_folders
from ..results.rate_trials import RateTrial
from ..run_files import LOG, RESULT
from ..safe_files import read_json, read_tail
from .cluster import Machine, gpus_here
from .run import Run
from .runner import execute

BROKEN = "diverged.json"
DIVERGED, FAILED = "diverged", "failed"  # the latter for another reason than the rate
_BREAKDOWN = re.compile(r"nan/inf|Nan/Inf|FloatingPointError|Minimum loss scale reached")
_TAIL = 20_000  # bytes of a log that show why it ended


def planned(args: argparse.Namespace) -> list[Run]:
    """Return the runs that ``fairseq-plugins search-rate`` asks for, on parts of the data.

    Raises:
        FileNotFoundError, ValueError: no such grid, data or part of them, or values out of range.
    """
    grid = _narrowed(args)
    found = read_folders(Path(args.data or f"data-bin/{grid.dataset}"), grid)
    parts = {name: _part_of(data, args) for name, data in found.items()}
    alone = replace(grid, systems={"any": {}})  # has no data of its own
    data = {name: read_folders(part, alone)[""] for name, part in parts.items()}
    root = args.runs or Path("runs/rates") / grid.dataset
    cpu = args.cpu or not gpus_here()
    return [
        Run(grid, cell, data[grid.data_of(cell.system)], root, cpu=cpu) for cell in grid.cells()
    ]


def _narrowed(args: argparse.Namespace) -> Grid:
    """Return the grid of the search: the file's first values, without rates of the systems."""
    grid = read_grid(args.grid)
    grid = preset(resize(grid, args.size) if args.size else grid)
    grid = select_systems(grid, args.archs or [*grid.systems][:1], args.size)
    epochs = [args.epochs] if args.epochs else []
    own = {"epochs": epochs, "seeds": [args.seed], "updates": args.updates}
    grid = select(grid, learning_rates=_rates_of(args), **own)
    systems = {
        name: {key: value for key, value in options.items() if key != OWN_RATE}
        for name, options in grid.systems.items()
    }
    grid = replace(grid, systems=systems, evaluate="")
    return with_options(grid, read_assignments(args.options))


def _rates_of(args: argparse.Namespace) -> list[float]:
    """Return the rates to try; they are different and above 0."""
    if args.rates is None:
        try:
            return spaced(float(args.range[0]), float(args.range[1]), int(args.range[2]))
        except ValueError as error:
            raise ValueError(f"--range {' '.join(map(str, args.range))}: {error}") from None
    if len(set(args.rates)) < len(args.rates) or not all(0 < rate < 1e9 for rate in args.rates):
        raise ValueError(f"--rates {args.rates}: expected different numbers above 0")
    return args.rates


def _part_of(whole: PreparedData, args: argparse.Namespace) -> Path:
    """Write the chosen part of a prepared folder beside it, if it is not there."""
    fraction = args.fraction
    if args.examples is not None:
        if not 1 <= args.examples <= whole.examples:
            raise ValueError(f"--examples {args.examples}: there are 1 to {whole.examples}")
        fraction = args.examples / whole.examples
    if not 0 < fraction <= 1:
        raise ValueError(f"--fraction {fraction}: must be above 0 and at most 1")
    if fraction == 1:
        return whole.folder
    name = f"{whole.folder.name}.{fraction:.6g}-seed{args.choice_seed}"
    share = Share(fraction, args.choice_seed)
    write_subset(whole.folder, whole.folder.with_name(name), share)
    return whole.folder.with_name(name)


def spaced(low: float, high: float, count: int) -> list[float]:
    """Return rates from ``low`` to ``high``, each the same multiple of the one before.

    Raises:
        ValueError: no such range.
    """
    if not 0 < low < high < math.inf or count < 2:
        raise ValueError(
            f"rates from {low:g} to {high:g} in {count}: expected 0 < low < high, and 2 or more"
        )
    step = math.log(high / low) / (count - 1)
    return [float(f"{low * math.exp(step * k):.3g}") for k in range(count)]


def search(
    runs: Sequence[Run], report: Callable[[RateTrial], None], *, jobs: int = 1, keep: bool = False
) -> tuple[list[RateTrial], list[str]]:
    """Bring all runs to their end.

    Args:
        runs: one a rate and system.
        report: is called with each trial, finished ones at once and others as they end.
        jobs: how many at a time.
        keep: whether to keep their checkpoints.

    Returns:
        The trials in the order of the runs; and messages of runs that failed for another reason
        than the rate, which the next search tries again.

    Raises:
        ValueError: fewer than one job, or a folder with a run of other settings.
    """
    trials: dict[Path, RateTrial] = {}
    failures: list[str] = []

    def done(run: Run, reason: str = "") -> None:
        trials[run.folder] = _ended(run, reason, keep)
        if reason and trials[run.folder].problem != DIVERGED:
            failures.append(f"{run.folder}: {reason}")
        report(trials[run.folder])

    waiting = [run for run in runs if not run.is_finished() and _known(run) is None]
    for run in runs:
        if run not in waiting:
            done(run)
    if waiting:
        gpus = 0 if runs[0].cpu else min(1, gpus_here())
        execute(waiting, Machine(runs[0].root / "jobs", jobs=jobs, gpus_per_node=gpus), done)
    return [trials[run.folder] for run in runs], failures


def _ended(run: Run, reason: str, keep: bool) -> RateTrial:
    """Return what a run came to; its checkpoints are removed where there is nothing left to do."""
    if reason and _BREAKDOWN.search(read_tail(run.folder / LOG, _TAIL)):
        text = json.dumps({"settings": run.settings, "problem": DIVERGED}, indent=2)
        write_text(run.folder / BROKEN, text + "\n")  # it is not tried again
    trial = _known(run)
    for path in run.folder.glob("*.pt") if trial and not keep else ():
        path.unlink()
    return trial or _trial(run, problem=FAILED)


def _known(run: Run) -> RateTrial | None:
    """Return what a finished run came to; None where it is still to be trained."""
    if result := read_json(run.folder / RESULT):
        best, last, metric = result["best"], result["last"], result["metric"]
        return _trial(
            run,
            score=float(best[metric]),
            loss=float(best.get("loss", math.nan)),
            last=float(last.get(metric, math.nan)),
            updates=int(result["best_updates"]),
        )
    broken = read_json(run.folder / BROKEN)
    same = broken and broken["settings"] == run.settings
    return _trial(run, problem=broken["problem"]) if same else None


def _trial(run: Run, **found: Any) -> RateTrial:
    return RateTrial(run.cell.system, run.cell.learning_rate, run.settings["metric"], **found)
