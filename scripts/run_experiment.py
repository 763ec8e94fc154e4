"""Run an experiment: every run behind a table or a figure, then what shows them.

python scripts/run_experiment.py examples/sla/table1.yaml --dry-run
python scripts/run_experiment.py examples/sla/table1.yaml --raw RAW --pretrained BERT --jobs 2
python scripts/run_experiment.py examples/glue/configs/cola.yaml --seeds 1 2 3
python scripts/run_experiment.py examples/wmt14_en_de/table1.yaml --executor slurm --gpus-per-node 4

Finished runs are passed over and interrupted ones go on, so the same command finishes an experiment
that was stopped in whatever way. Results: runs/NAME/rows.jsonl, one line a run; a page to look at:
python scripts/report.py runs/NAME
"""

from __future__ import annotations

import argparse
import logging
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fairseq_plugins import command
from fairseq_plugins.lab.execution import after_steps
from fairseq_plugins.lab.execution.cluster import Machine, add_flags, machine_of
from fairseq_plugins.lab.execution.cost import costs, format_costs
from fairseq_plugins.lab.execution.experiment import (
    JOBS,
    Plan,
    check_plan,
    make_plan,
    messages_by_folder,
    write_description,
    write_rows,
)
from fairseq_plugins.lab.execution.run import Run
from fairseq_plugins.lab.execution.runner import execute
from fairseq_plugins.lab.plan.experiment_file import Experiment, Part, read_experiment
from fairseq_plugins.lab.plan.grid import SIZES, Grid
from fairseq_plugins.lab.plan.grid_file import is_name
from fairseq_plugins.lab.plan.grid_selection import (
    choose,
    contrast,
    preset,
    quick,
    select,
    select_systems,
    smoke,
    with_options,
)
from fairseq_plugins.lab.plan.option_values import read_assignments, read_choices
from fairseq_plugins.lab.plan.preparations import preparation
from fairseq_plugins.lab.plan.prepared_data import SPANS, PreparedData, read_folders
from fairseq_plugins.lab.plan.workers import Workers
from fairseq_plugins.lab.results.experiment_tables import check_names
from fairseq_plugins.messages import named
from fairseq_plugins.prep.subset import write_subset

HERE = Path(__file__).resolve().parent
PREDICT, PREDICT_SPANS, TRANSLATE = "predict.py", "predict_squad.py", "translate.py"
STOPPED = "stopped; the same command goes on"


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", metavar="FILE", help="an experiment or a grid (YAML)")
    _add_places(parser.add_argument_group("where things are").add_argument)
    _add_selection(parser.add_argument_group("what to run").add_argument)
    add_flags(parser)
    return parser.parse_args()


def _add_places(add) -> None:
    add("--raw", metavar="DIR", type=Path, help="prepare the data from here, if they are not yet")
    add("--pretrained", default="", metavar="DIR", help="Hugging Face BERT to prepare them for")
    add("--prepare", default="", metavar="OPTIONS", help="further options of the preparation")
    add("--data", metavar="DIR", help="prepared folder, of an experiment of one part")
    add("--name", default="", help="of data-bin/NAME and runs/NAME, of an experiment of one part")
    add("--runs", metavar="DIR", type=Path, help="folder of the runs (default: runs/NAME)")


def _add_selection(add) -> None:
    add("--parts", nargs="+", default=(), metavar="NAME", help="only these parts")
    add("--archs", nargs="+", default=(), metavar="NAME", help="these systems or architectures")
    add("--learning-rates", nargs="+", type=float, default=(), metavar="LR", help="only these")
    add("--epochs", nargs="+", type=int, default=(), metavar="N", help="only these lengths")
    add("--updates", type=int, default=0, metavar="N", help="length of every run")
    add("--seeds", nargs="+", type=int, default=(), metavar="N", help="only these seeds")
    add("--fractions", nargs="+", type=float, default=(), metavar="F", help="of the training data")
    pairs = {"nargs": "+", "default": ()}
    add("--choices", **pairs, metavar="NAME=V,V", help="only these of the grid's choices")
    add("--contrast", **pairs, metavar="NAME=V,V", help="beside each system one for each value")
    add("--options", **pairs, metavar="NAME=V", help="of fairseq-train, for all; NAME= takes away")
    add("--generate", **pairs, metavar="NAME=V", help="of fairseq-generate, in place of the file's")
    add("--evaluate", default="", metavar="SPLIT", help="split to try the best checkpoint on")
    add("--reference", default="", metavar="FILE", help="raw reference of that split")
    add("--size", default="", help=f"of all systems: {' | '.join(SIZES)}")
    add("--preset", action="store_true", help="first learning rate, epochs and choices")
    add("--quick", action="store_true", help="one learning rate, epoch and choice, two seeds")
    add("--smoke", action="store_true", help="two updates of every system: does all of it run?")
    add("--cpu", action="store_true", help="use no GPU")
    add("--no-predictions", action="store_true", help="do not predict; no significance then")
    add("--no-after", action="store_true", help="leave out what follows the runs")
    add("--dry-run", action="store_true", help="print the plan, its cost and its commands")


def selected(args: argparse.Namespace) -> Experiment:
    """Return the part of the experiment that the command line asks for."""
    experiment = read_experiment(args.file)
    names = [part.name for part in experiment.parts]
    for name in args.parts:
        if name not in names:
            raise ValueError(f"--parts {name!r}: choices are {named(names)}")
    parts = [part for part in experiment.parts if not args.parts or part.name in args.parts]
    if len(parts) > 1 and (args.data or args.name):
        raise ValueError(f"--data and --name are for one part, not for {named(names)}")
    own = {"data": args.data} if args.data else {}
    own |= {"name": args.name} if args.name else {}
    size = "" if args.smoke else args.size
    some = [
        replace(part, **own, grid=select_systems(part.grid, args.archs, size or part.size))
        for part in parts
    ]
    sized = [part.resized(size) for part in some]
    chosen = [replace(part, grid=selected_grid(args, part.grid)) for part in sized]
    after_steps.read_steps(experiment.after)  # what is wrong is said before long work
    check_names(experiment.tables)
    mark = "smoke" if args.smoke else args.size  # nobody takes the one for the other
    name = args.name or "_".join(filter(None, [experiment.name, mark]))
    if not is_name(name):
        raise ValueError(f"--name {name!r} is no name for a folder")
    return replace(experiment, name=name, parts=tuple(chosen))


def selected_grid(args: argparse.Namespace, grid: Grid) -> Grid:
    """Return the part of a grid that the command line asks for."""
    for wanted, change in ((args.preset, preset), (args.quick, quick), (args.smoke, smoke)):
        grid = change(grid) if wanted else grid
    grid = select(
        grid,
        learning_rates=args.learning_rates,
        epochs=args.epochs,
        seeds=args.seeds,
        fractions=args.fractions,
        updates=args.updates,
    )
    grid = contrast(choose(grid, read_choices(args.choices)), read_choices(args.contrast))
    generate = {**grid.generate, **read_assignments(args.generate)}
    own = {"evaluate": args.evaluate, "reference": args.reference}
    own = {key: value for key, value in own.items() if value}
    grid = replace(grid, generate=generate, **own)
    return with_options(grid, read_assignments(args.options))


def prepare(args: argparse.Namespace, parts: Iterable[Part]) -> None:
    """Prepare the data of all parts; what is there already is left as it is.

    Raises:
        ValueError: a preparation failed, which has said why.
    """
    for part in parts:
        more = shlex.split(args.prepare)
        for words in preparation(part, args.raw, args.pretrained, more):
            print(f"data of {part.name}: {shlex.join(words[1:])}", file=sys.stderr)
            if subprocess.run(words, check=False).returncode:
                raise ValueError(f"the data of {part.name} could not be prepared")


def read_data(
    parts: Sequence[Part],
) -> tuple[dict[str, Mapping[str, PreparedData]], dict[str, str]]:
    """Return part -> prepared folders, and part -> what is said where they are not there."""
    found, missing = {}, {}
    for part in parts:
        try:
            found[part.name] = read_folders(part.folder, part.grid)
        except FileNotFoundError as error:
            missing[part.name] = str(error)
    return found, missing


def predict_command(args: argparse.Namespace, data: PreparedData) -> tuple[str, ...]:
    """Return the command that predicts with a run."""
    if args.no_predictions:
        return ()
    usual = PREDICT_SPANS if data.manifest["target"] == SPANS else PREDICT
    return sys.executable, str(HERE / (TRANSLATE if data.translates else usual))


def planned(args: argparse.Namespace) -> tuple[Plan, Machine, dict[str, str]]:
    """Return all runs, where they are executed, and what is missing for some of them."""
    experiment = selected(args)
    root = args.runs or Path("runs") / experiment.name
    machine = machine_of(args, root / JOBS)
    if not args.dry_run:
        machine.check()
    if args.raw and not args.dry_run:
        prepare(args, experiment.parts)
    folders, missing = read_data(experiment.parts)
    plan = make_plan(
        experiment,
        root,
        folders,
        lambda data: predict_command(args, data),
        cpu=args.cpu or not machine.gpus,
        workers=Workers(machine.nodes, machine.processes),
    )
    check_plan(plan)
    return plan, machine, missing


def show(plan: Plan, machine: Machine, missing: Mapping[str, str], after: bool) -> None:
    """Print the commands of training, and beside them (stderr) cost and what else would run."""
    parts = [part for part in plan.experiment.parts if part.name in missing]
    counts = {part.name: len(list(part.grid.cells())) for part in parts}
    print(format_costs(costs(plan), machine.jobs, counts), end="", file=sys.stderr)
    for line in missing.values():
        print(line, file=sys.stderr)
    for one in plan.runs:
        print(shlex.join(one.run.train_command()))
    first: dict[str, Run] = {}
    for one in plan.runs:
        first.setdefault(one.part.name, one.run)
    for name, run in first.items():
        if run.grid.evaluate:
            line = f"then, of each run of {name}: {shlex.join(run.evaluate_command())}"
            print(line, file=sys.stderr)
    for step in after_steps.read_steps(plan.experiment.after) if after else ():
        print(step, file=sys.stderr)


def run_all(plan: Plan, machine: Machine) -> int:
    """Bring all runs to their end, keeping the rows up to date; return how many failed."""
    print(format_costs(costs(plan), machine.jobs), end="", file=sys.stderr)
    for subset in plan.subsets:
        write_subset(subset.source, subset.folder, subset.fraction, subset.seed)
    write_description(plan, shlex.join(["python", *sys.argv]))
    runs = [one.run for one in plan.runs]
    failures: dict[Path, str] = {}

    def done(run: Run, messages: Sequence[str]) -> None:
        failures.update(messages_by_folder([run], messages))
        write_rows(plan, failures)

    write_rows(plan, failures)
    failed = execute(runs, machine, done)
    write_rows(plan, failures)
    if failed:
        print(f"error: {len(failed)} of {len(runs)} runs failed", file=sys.stderr)
    return len(failed)


def show_results(plan: Plan) -> int:
    """Print the tables of an experiment, or of a grid the report over its seeds; 0 if it could."""
    experiment, root = plan.experiment, plan.root
    if experiment.tables:
        words = ["report_table.py", str(root), "--layout", *experiment.tables]
        words += ["--output", str(root / "tables")]
    else:
        words = ["report_seeds.py", str(experiment.runs_of(experiment.parts[0], root))]
    sys.stdout.flush()
    done = subprocess.run([sys.executable, str(HERE / words[0]), *words[1:]], check=False)
    print(f"a page to look at: python scripts/report.py {root}", file=sys.stderr)
    return done.returncode


def work(args: argparse.Namespace) -> int:
    """Run, or print what would run."""
    plan, machine, missing = planned(args)
    if args.dry_run:
        show(plan, machine, missing, not args.no_after)
        return 0
    if missing:
        raise FileNotFoundError(next(iter(missing.values())))
    failed = run_all(plan, machine)
    remarks = []
    if not args.no_after and not failed:
        remarks = after_steps.perform_all(plan, args.raw)
    for line in remarks:
        print(f"error: {line}", file=sys.stderr)
    unshown = show_results(plan)
    return 1 if failed or remarks or unshown else 0


def main() -> int:
    """Run; what goes wrong is one line on stderr."""
    args = parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end the trainings as well
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr, force=True)
    return command.run(lambda: work(args), stopped=STOPPED)


if __name__ == "__main__":
    sys.exit(main())
