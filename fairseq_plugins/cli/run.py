"""Run an experiment: all runs behind a table or a figure, then the steps that show their results.

    fairseq-plugins run examples/sla/table1.yaml --dry-run
    fairseq-plugins run examples/sla/table1.yaml --raw RAW --pretrained BERT --jobs 2
    fairseq-plugins run examples/glue/configs/cola.yaml --seeds 1 2 3
    fairseq-plugins run examples/wmt14_en_de/table1.yaml --executor slurm --gpus-per-node 4

Finished runs are skipped and interrupted ones continue, so the same command finishes an experiment
that was stopped in whatever way. The results are in runs/NAME/rows.jsonl, one line per run; to make
a page of them: fairseq-plugins results page runs/NAME
"""

from __future__ import annotations

import argparse
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..lab.commands import command as program
from ..lab.execution.machine import add_flags
from ..lab.plan.grid import SIZES
from . import command
from .subcommands import PROGRAM

if TYPE_CHECKING:
    from ..lab.execution.experiment import Plan
    from ..lab.execution.run import Run

STOPPED = "stopped; the same command goes on"

READ = ("file",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="YAML file of an experiment or of a grid")
    add_places(parser.add_argument_group("where things are").add_argument)
    _add_selection(parser.add_argument_group("what to run").add_argument)
    add_flags(parser)


def add_places(add) -> None:
    raw = "prepare the data from this folder of raw data, if that is not done yet"
    add("--raw", metavar="DIR", type=Path, help=raw)
    add("--pretrained", default="", metavar="DIR", help="Hugging Face BERT to prepare the data for")
    add("--prepare", default="", metavar="OPTIONS", help="more options of `prepare`, as one string")
    add("--data", metavar="DIR", help="prepared folder, if the experiment has one part")
    name = "name of the folders in data-bin/ and runs/, if the experiment has one part"
    add("--name", default="", help=name)
    add("--runs", metavar="DIR", type=Path, help="folder of the runs (default: runs/NAME)")


def _add_selection(add) -> None:
    add("--parts", nargs="+", default=(), metavar="NAME", help="run only these parts")
    add_choices(add)
    shares = "fractions of the training data"
    add("--fractions", nargs="+", type=float, default=(), metavar="F", help=shares)
    pairs = {"nargs": "+", "default": ()}
    variants = "add to each system one variant for each value V of option NAME"
    add("--contrast", **pairs, metavar="NAME=V,V", help=variants)
    search = "options of fairseq-generate, which replace those of the same name in the file"
    add("--generate", **pairs, metavar="NAME=V", help=search)
    add("--evaluate", default="", metavar="SPLIT", help="split to evaluate the best checkpoint on")
    add("--reference", default="", metavar="FILE", help="raw references for the --evaluate split")
    add("--size", default="", help=f"model size of all systems: {' | '.join(SIZES)}")
    add("--preset", action="store_true", help="only the first learning rate, epochs and choices")
    add("--smoke", action="store_true", help="test that every system trains: two updates of each")
    add("--cpu", action="store_true", help="use no GPU")
    none = "do not predict, nor do --evaluate; no significance tests over examples then"
    add("--no-predictions", action="store_true", help=none)
    add("--no-after", action="store_true", help="skip the steps that the file lists under `after`")
    add("--dry-run", action="store_true", help="only print the plan, its cost and its commands")


def add_choices(add) -> None:
    systems = "run only these systems, or these architectures"
    add("--archs", nargs="+", default=(), metavar="NAME", help=systems)
    rates = "learning rates, in place of the file's"
    add("--learning-rates", nargs="+", type=float, default=(), metavar="LR", help=rates)
    lengths = "numbers of epochs, in place of the file's"
    add("--epochs", nargs="+", type=int, default=(), metavar="N", help=lengths)
    add("--updates", type=int, default=0, metavar="N", help="number of updates of every run")
    seeds = "random seeds, in place of the file's"
    add("--seeds", nargs="+", type=int, default=(), metavar="N", help=seeds)
    choices = "values to try for an option that is a list in the file, in place of that list"
    add("--choices", nargs="+", default=(), metavar="NAME=V,V", help=choices)
    text = "options of fairseq-train for all systems; NAME= removes one"
    add("--options", nargs="+", default=(), metavar="NAME=V", help=text)


def run(args: argparse.Namespace) -> int:
    """Run, or print the planned runs."""
    command.check_places({} if args.dry_run else {"raw": args.raw})
    from ..lab.execution import after
    from ..lab.execution.experiment import planned, selected
    from ..lab.results.layouts import check_names

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # also ends the trainings
    command.show_log("INFO")
    experiment = selected(args)
    check_names(experiment.tables)
    plan, missing = planned(args, experiment)
    if args.dry_run:
        show(plan, missing, not args.no_after)
        return 0
    if missing:
        raise FileNotFoundError(next(iter(missing.values())))
    failed = run_all(plan)
    remarks = []
    if not (args.no_after or failed or any(not run.is_finished() for run in plan.runs)):
        remarks = after.perform(plan, args.raw)
    for line in remarks:
        command.complain(line, breaks=True)
    unshown = show_results(plan)
    return 1 if failed or remarks or unshown else 0


def show(plan: Plan, missing: Mapping[str, str], after: bool) -> None:
    """Print the remaining commands of training, and costs and later steps on standard error."""
    from ..lab.execution.progress import format_costs

    parts = [part for part in plan.experiment.parts if part.name in missing]
    counts = {part.name: len(list(part.grid.cells())) for part in parts}
    print(format_costs(plan, counts), end="", file=sys.stderr)
    for line in missing.values():
        print(line, file=sys.stderr)
    first: dict[str, Run] = {}
    for run in plan.runs:
        if not run.is_finished():
            print(shlex.join(run.train_command()))
        first.setdefault(run.part, run)
    for name, run in first.items():
        if run.is_tested:
            line = f"then, of each run of {name}: {shlex.join(run.predict_command(tested=True))}"
            print(line, file=sys.stderr)
    for step in plan.experiment.after if after else ():
        print(step, file=sys.stderr)


def run_all(plan: Plan) -> int:
    """Finish all runs and update the rows; return the number of failures."""
    from ..lab.execution.complete import complete
    from ..lab.execution.progress import format_costs

    print(format_costs(plan), end="", file=sys.stderr)
    failed = complete(plan, shlex.join([PROGRAM, *sys.argv[1:]]))
    if failed:
        print(f"error: {len(failed)} of {len(plan.runs)} runs failed", file=sys.stderr)
    return len(failed)


def show_results(plan: Plan) -> int:
    """Print an experiment's tables, or a grid's report over seeds; return the exit status."""
    experiment, root = plan.experiment, plan.root
    words = program("results compare", str(experiment.runs_of(experiment.parts[0], root)))
    if experiment.tables:
        words = program("results table", str(root), "--layout", *experiment.tables)
        words += ["--output", str(root / "tables")]
    sys.stdout.flush()
    done = subprocess.run(words, check=False)
    print(f"a page to look at: {PROGRAM} results page {root}", file=sys.stderr)
    return done.returncode
