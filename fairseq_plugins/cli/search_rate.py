"""Try learning rates on a part of the training data, and report each result as its run ends.

    fairseq-plugins search-rate examples/bertqa_squad/configs/minilm.yaml \\
        --data data-bin/squad2 --fraction 0.2 --range 1e-5 3e-4 6
    fairseq-plugins search-rate examples/glue/configs/rte.yaml --rates 1e-5 2e-5 5e-5 \\
        --examples 500 --archs bert_plain_minilm bert_sla_minilm

It works for every task that grids know. Each learning rate is a run on the same randomly chosen
training examples (--choice-seed), with the first value of each of the grid's choices. Finished runs
are skipped and interrupted ones continue, so the same command finishes a search that was stopped. A
rate at which training diverges has a line in the report, too.
"""

import argparse
import logging
import signal
import sys
from pathlib import Path

from ..lab.plan.grid import SIZES
from . import command

READ = ("grid", "data")
PLACES, STOPPED = ("grid",), "stopped; the same command goes on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("grid", metavar="CONFIG", help="YAML file of a grid; see `run`")
    add("--data", metavar="DIR", help="prepared folder (default: data-bin/DATASET)")
    add("--runs", metavar="DIR", type=Path, help="folder of runs (default: runs/rates/DATASET)")
    systems = "systems, or architectures (default: the first system of the grid)"
    add("--archs", nargs="+", default=(), metavar="NAME", help=systems)
    rates = parser.add_mutually_exclusive_group()
    rates.add_argument("--rates", nargs="+", type=float, metavar="LR", help="learning rates to try")
    text = "or COUNT rates, each the same multiple of the one before (default: 1e-06 0.001 7)"
    names = ("LOW", "HIGH", "COUNT")
    rates.add_argument("--range", nargs=3, metavar=names, default=(1e-6, 1e-3, 7), help=text)
    part = parser.add_mutually_exclusive_group()
    share = "fraction of the training examples (default: 0.1)"
    part.add_argument("--fraction", type=float, default=0.1, help=share)
    part.add_argument("--examples", type=int, metavar="N", help="or number of training examples")
    add("--choice-seed", type=int, default=1, metavar="N", help="seed for the choice of examples")
    add("--epochs", type=int, metavar="N", help="number of epochs (default: the grid's first)")
    add("--updates", type=int, metavar="N", help="number of updates (default: the grid's)")
    add("--seed", type=int, default=1, metavar="N", help="random seed of the runs")
    add("--options", nargs="+", default=(), metavar="NAME=V", help="options of fairseq-train")
    add("--size", default="", help=f"model size of the systems: {' | '.join(SIZES)}")
    add("--jobs", type=int, default=1, metavar="N", help="number of runs at a time")
    add("--cpu", action="store_true", help="use no GPU")
    add("--keep-checkpoints", action="store_true", help="do not remove the checkpoints of the runs")
    files = "write STEM.md, .csv, .json, .png, .svg (default: RUNS/rates)"
    add("--output", metavar="STEM", help=files)


def run(args: argparse.Namespace) -> int:
    """Try the rates, report on them; return the exit status."""
    from tqdm import tqdm

    from ..files import write_text
    from ..lab.execution import rate_search, runner
    from ..lab.figures.drawing import check_stem
    from ..lab.figures.plots import plot_rates
    from ..lab.results import rate_trials

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end the trainings as well
    command.show_log()
    runner_log = logging.getLogger(runner.__name__)
    runner_log.setLevel(logging.CRITICAL)  # what goes wrong is told at the end
    runs = rate_search.planned(args)
    stem = check_stem(args.output or runs[0].root / "rates", "md", "csv", "json")
    trials, failures = rate_search.search(
        runs,
        lambda trial: tqdm.write(rate_trials.format_trial(trial), file=sys.stdout),
        jobs=args.jobs,
        keep=args.keep_checkpoints,
    )
    examples = runs[0].data.examples
    text = rate_trials.format_summary(trials, examples)
    write_text(f"{stem}.md", text)
    write_text(f"{stem}.csv", rate_trials.to_csv(trials))
    write_text(f"{stem}.json", rate_trials.to_json(trials, examples))
    plot_rates(trials, stem)
    print(f"\n{text}", end="")
    for message in failures:
        print(f"error: {message}", file=sys.stderr)
    return 1 if failures else 0
