"""Try learning rates on a part of the training data, and report as they end.

python scripts/search_learning_rate.py examples/bertqa_squad/configs/minilm.yaml \
    --data data-bin/squad2 --fraction 0.2 --range 1e-5 3e-4 6
python scripts/search_learning_rate.py examples/glue/configs/rte.yaml --rates 1e-5 2e-5 5e-5 \
    --examples 500 --archs bert_plain_minilm bert_sla_minilm

For every task that grids know. Each rate is a run on the same seeded choice of training examples,
with the first values of the grid's choices. Finished rates are passed over and interrupted ones go
on, so the same command finishes a search that was stopped. A rate at which training breaks down is
a line of the report.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from dataclasses import replace
from pathlib import Path

import torch
from tqdm import tqdm

from fairseq_plugins import command
from fairseq_plugins.evaluation.text_files import write_text
from fairseq_plugins.lab.execution import rate_search, runner
from fairseq_plugins.lab.execution.run import Run
from fairseq_plugins.lab.figures.drawing import check_stem
from fairseq_plugins.lab.figures.rate_plots import plot_rates
from fairseq_plugins.lab.plan.grid import OWN_RATE, SIZES, Grid
from fairseq_plugins.lab.plan.grid_file import read_grid
from fairseq_plugins.lab.plan.grid_selection import (
    preset,
    resize,
    select,
    select_systems,
    with_options,
)
from fairseq_plugins.lab.plan.option_values import read_assignments
from fairseq_plugins.lab.plan.prepared_data import PreparedData, read_folders
from fairseq_plugins.lab.results import rate_trials
from fairseq_plugins.prep.subset import write_subset

RANGE = (1e-6, 1e-3, 7)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("grid", metavar="CONFIG", help="YAML file of a grid; see run_experiment.py")
    add("--data", metavar="DIR", help="prepared folder (default: data-bin/DATASET)")
    add("--runs", metavar="DIR", type=Path, help="of the runs (default: runs/rates/DATASET)")
    add("--archs", nargs="+", default=(), metavar="NAME", help="systems (default: the first)")
    rates = parser.add_mutually_exclusive_group()
    rates.add_argument("--rates", nargs="+", type=float, metavar="LR", help="these rates")
    rates.add_argument(
        "--range",
        nargs=3,
        metavar=("LOW", "HIGH", "COUNT"),
        default=RANGE,
        help="or so many, each the same multiple of the one before (default: "
        f"{' '.join(f'{value:g}' for value in RANGE)})",
    )
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--fraction", type=float, default=0.1, help="of the examples (default: 0.1)")
    part.add_argument("--examples", type=int, metavar="N", help="or so many of them")
    add("--choice-seed", type=int, default=1, metavar="N", help="of the choice of examples")
    add("--epochs", type=int, metavar="N", help="passes over them (default: the grid's first)")
    add("--seed", type=int, default=1, metavar="N", help="of the runs")
    add("--options", nargs="+", default=(), metavar="NAME=V", help="of fairseq-train")
    add("--size", default="", help=f"of the systems: {' | '.join(SIZES)}")
    add("--jobs", type=int, default=1, metavar="N", help="runs at a time")
    add("--cpu", action="store_true", help="use no GPU")
    add("--keep-checkpoints", action="store_true", help="otherwise they are removed")
    add(
        "--output", metavar="STEM", help="of STEM.md, .csv, .json, .png, .svg (default: RUNS/rates)"
    )
    return parser.parse_args()


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
            return rate_search.spaced(
                float(args.range[0]), float(args.range[1]), int(args.range[2])
            )
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
    cpu = args.cpu or not torch.cuda.is_available()
    return [
        Run(grid, cell, data[grid.data_of(cell.system)], root, cpu=cpu) for cell in grid.cells()
    ]


def without_data(grid: Grid) -> Grid:
    """Return the grid with no system that has data of its own."""
    return replace(grid, systems={"any": {}})


def search(args: argparse.Namespace) -> int:
    """Try the rates, report on them; return the exit status."""
    runs = planned(args)
    stem = check_stem(args.output or runs[0].root / "rates", "md", "csv", "json")
    trials, failures = rate_search.search(
        runs,
        lambda trial: tqdm.write(rate_trials.format_trial(trial), file=sys.stdout),
        jobs=args.jobs,
        keep=args.keep_checkpoints,
    )
    write_reports(trials, runs[0].data.examples, stem)
    for message in failures:
        print(f"error: {message}", file=sys.stderr)
    return 1 if failures else 0


def write_reports(trials: list[rate_trials.Trial], examples: int, stem: Path) -> None:
    """Print the summary, and leave it as files and as a curve."""
    text = rate_trials.format_summary(trials, examples)
    write_text(f"{stem}.md", text)
    write_text(f"{stem}.csv", rate_trials.to_csv(trials))
    write_text(f"{stem}.json", rate_trials.to_json(trials, examples))
    plot_rates(trials, stem)
    print(f"\n{text}", end="")


def main() -> int:
    """Search; what goes wrong is one line on stderr."""
    args = parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end the trainings as well
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr, force=True)
    runner_log = logging.getLogger(runner.__name__)
    runner_log.setLevel(logging.CRITICAL)  # what goes wrong is told at the end
    return command.run(lambda: search(args), args.grid, stopped="stopped; the same command goes on")


if __name__ == "__main__":
    sys.exit(main())
