"""The runs that ``fairseq-plugins search-rate`` asks for: rates, systems and a part of the data."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from ...prep.subset import write_subset
from ..plan.grid import OWN_RATE, Grid
from ..plan.grid_file import read_grid
from ..plan.grid_selection import preset, resize, select, select_systems, with_options
from ..plan.option_values import read_assignments
from ..plan.prepared_data import PreparedData, read_folders
from .cluster import gpus_here
from .rate_search import spaced
from .run import Run


def narrowed(args: argparse.Namespace) -> Grid:
    """Return the grid of the search.

    Raises:
        FileNotFoundError, ValueError: no such grid, or values out of range.
    """
    grid = read_grid(args.grid)
    grid = preset(resize(grid, args.size) if args.size else grid)
    grid = select_systems(grid, args.archs or [*grid.systems][:1], args.size)
    grid = select(
        grid,
        learning_rates=rates_of(args),
        epochs=[args.epochs] if args.epochs else [],
        seeds=[args.seed],
    )
    systems = {
        name: {key: value for key, value in options.items() if key != OWN_RATE}
        for name, options in grid.systems.items()
    }
    grid = replace(grid, systems=systems, evaluate="")
    return with_options(grid, read_assignments(args.options))


def rates_of(args: argparse.Namespace) -> list[float]:
    """Return the rates to try.

    Raises:
        ValueError: no numbers above 0, or the same twice.
    """
    if args.rates is None:
        try:
            return spaced(float(args.range[0]), float(args.range[1]), int(args.range[2]))
        except ValueError as error:
            raise ValueError(f"--range {' '.join(map(str, args.range))}: {error}") from None
    if len(set(args.rates)) < len(args.rates) or not all(0 < rate < 1e9 for rate in args.rates):
        raise ValueError(f"--rates {args.rates}: expected different numbers above 0")
    return args.rates


def part_of(whole: PreparedData, args: argparse.Namespace) -> Path:
    """Write the chosen part of a prepared folder beside it, if it is not there.

    Raises:
        ValueError: no such part.
    """
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
    write_subset(whole.folder, whole.folder.with_name(name), fraction, args.choice_seed)
    return whole.folder.with_name(name)


def planned(args: argparse.Namespace) -> list[Run]:
    """Return the runs of the search, on parts of the data."""
    grid = narrowed(args)
    found = read_folders(Path(args.data or f"data-bin/{grid.dataset}"), grid)
    parts = {name: part_of(data, args) for name, data in found.items()}
    data = {name: read_folders(part, without_data(grid))[""] for name, part in parts.items()}
    root = args.runs or Path("runs/rates") / grid.dataset
    cpu = args.cpu or not gpus_here()
    return [
        Run(grid, cell, data[grid.data_of(cell.system)], root, cpu=cpu) for cell in grid.cells()
    ]


def without_data(grid: Grid) -> Grid:
    """Return the grid with no system that has data of its own."""
    return replace(grid, systems={"any": {}})
