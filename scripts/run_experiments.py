"""Fine-tune every system of a grid, with every learning rate and seed.

python scripts/run_experiments.py examples/glue/configs/cola.yaml --dry-run
python scripts/run_experiments.py examples/glue/configs/cola.yaml --seeds 1 2 3 --jobs 2

Finished runs are passed over and interrupted ones go on, so the same command finishes a grid that
was stopped. Report: python scripts/report_seeds.py runs/cola
"""

from __future__ import annotations

import argparse
import logging
import shlex
import signal
import sys
from pathlib import Path

import torch

from fairseq_plugins.experiments.grid import SIZES, Grid
from fairseq_plugins.experiments.grid_file import read_assignments, read_choices, read_grid
from fairseq_plugins.experiments.grid_selection import (
    choose,
    contrast,
    preset,
    quick,
    resize,
    select,
    with_options,
)
from fairseq_plugins.experiments.prepared_data import SPANS, read_folders
from fairseq_plugins.experiments.run import Run
from fairseq_plugins.experiments.runner import execute

HERE = Path(__file__).resolve().parent
PREDICT, PREDICT_SPANS = "predict.py", "predict_squad.py"


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("grid", metavar="CONFIG", help="YAML file, e.g. examples/glue/configs/cola.yaml")
    add("--data", metavar="DIR", help="prepared folder (default: data-bin/DATASET)")
    add("--runs", metavar="DIR", type=Path, help="folder of the runs (default: runs/DATASET)")
    add("--archs", nargs="+", default=(), metavar="NAME", help="these systems or architectures")
    add("--learning-rates", nargs="+", type=float, default=(), metavar="LR", help="only these")
    add("--epochs", nargs="+", type=int, default=(), metavar="N", help="only these lengths")
    add("--seeds", nargs="+", type=int, default=(), metavar="N", help="only these seeds")
    add(
        "--choices",
        nargs="+",
        default=(),
        metavar="NAME=V,V",
        help="only these of the grid's choices",
    )
    add(
        "--contrast",
        nargs="+",
        default=(),
        metavar="NAME=V,V",
        help="beside each system another for each of these values",
    )
    add(
        "--options",
        nargs="+",
        default=(),
        metavar="NAME=V",
        help="of fairseq-train, for all; NAME= takes one away",
    )
    add("--size", default="", help=f"of all systems: {' | '.join(SIZES)}")
    add("--preset", action="store_true", help="first learning rate, epochs and choices")
    add("--quick", action="store_true", help="one learning rate, epoch and choice, two seeds")
    add("--jobs", type=int, default=1, metavar="N", help="runs at a time")
    add("--cpu", action="store_true", help="use no GPU")
    add("--no-predictions", action="store_true", help="do not predict the validation set")
    add("--dry-run", action="store_true", help="print the commands that would run")
    return parser.parse_args()


def selected(args: argparse.Namespace) -> Grid:
    """Return the part of the grid that the command line asks for."""
    grid = read_grid(args.grid)
    if args.size:
        grid = resize(grid, args.size)
    if args.preset:
        grid = preset(grid)
    if args.quick:
        grid = quick(grid)
    grid = select(
        grid,
        systems=args.archs,
        learning_rates=args.learning_rates,
        epochs=args.epochs,
        seeds=args.seeds,
    )
    grid = contrast(choose(grid, read_choices(args.choices)), read_choices(args.contrast))
    return with_options(grid, read_assignments(args.options))


def planned(args: argparse.Namespace) -> list[Run]:
    """Return the runs that the command line asks for."""
    grid = selected(args)
    data = read_folders(Path(args.data or f"data-bin/{grid.dataset}"), grid)
    root = args.runs or Path("runs") / grid.dataset
    cpu = args.cpu or not torch.cuda.is_available()
    runs = []
    for cell in grid.cells():
        own = data[grid.data_of(cell.system)]
        script = HERE / (PREDICT_SPANS if own.manifest["target"] == SPANS else PREDICT)
        predict = () if args.no_predictions else (sys.executable, str(script))
        runs.append(Run(grid, cell, own, root, predict, cpu))
    return runs


def main() -> int:
    """Run, or print what would run."""
    args = parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end the trainings as well
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr, force=True)
    try:
        runs = planned(args)
        if args.dry_run:
            for run in runs:
                print(shlex.join(run.train_command()))
            return 0
        failures = execute(runs, args.jobs)
    except (ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return 130
    if failures:
        print(f"error: {len(failures)} of {len(runs)} runs failed", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
