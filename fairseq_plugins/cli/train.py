"""Train one model from a file: prepare its data, train, predict, and print the next commands.

    fairseq-plugins train mine.yaml --raw corpora/mine
    fairseq-plugins train examples/glue/configs/rte.yaml --raw RTE --archs bert_sla_minilm \\
        --learning-rates 5e-5 --epochs 3 --seeds 1

The file has the keys of a part of an experiment (see `run`), each with one value; if it has more
values, choose one of each by options. A training that was stopped continues with the same command.
The run is written where `run` would put it: runs/NAME/SYSTEM/SETTING/seedN.
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ..lab.commands import parser_of, written
from . import command
from .run import STOPPED, add_choices, add_places, run_all, show

if TYPE_CHECKING:
    from ..lab.execution.run import Run
    from ..lab.plan.experiment_file import PlannedExperiment

SHOWN = 5  # metrics in a line

__all__ = ["STOPPED"]  # beside the names of every command

READ = ("file",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="YAML file of a grid with one run")
    add_places(parser.add_argument_group("where things are").add_argument)
    add = parser.add_argument_group("what to train").add_argument
    add_choices(add)
    add("--cpu", action="store_true", help="use no GPU")
    add("--dry-run", action="store_true", help="only print the plan, its cost and its command")


def run(args: argparse.Namespace) -> int:
    """Train, or print the commands."""
    command.check_places({} if args.dry_run else {"raw": args.raw})
    from ..lab.execution.experiment import planned, selected

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # also ends the training
    command.show_log("INFO")
    given = argparse.Namespace(**{**vars(parser_of("run").parse_args([args.file])), **vars(args)})
    experiment = selected(given)
    if not args.dry_run:
        check_single(experiment)
    plan, missing = planned(given, experiment)
    if args.dry_run:
        show(plan, missing, after=False)
        return 0
    if missing:
        raise FileNotFoundError(next(iter(missing.values())))
    (one,) = plan.runs
    failed = run_all(plan)
    if not failed:
        steps = (str(one.folder), *scores_of(one), *next_steps(one))
        print("".join(f"{line}\n" for line in steps), end="")
    return 1 if failed else 0


def check_single(experiment: PlannedExperiment) -> None:
    """Refuse an experiment of several runs."""
    parts = [part.name for part in experiment.parts]
    cells = [cell for part in experiment.parts for cell in part.grid.cells()]
    if len(cells) == 1:
        return
    if len(parts) > 1:
        raise InputError(
            f"{experiment.file} has {len(parts)} parts ({', '.join(parts)}), and one run is "
            "trained here: take `fairseq-plugins run`, with --parts"
        )
    several = {
        "--archs": {cell.system for cell in cells},
        "--learning-rates": {f"{cell.setting.learning_rate:g}" for cell in cells},
        "--epochs": {str(cell.setting.epochs) for cell in cells},
        "--seeds": {str(cell.seed) for cell in cells},
    }
    choices = [f"{flag} {' | '.join(sorted(v))}" for flag, v in several.items() if len(v) > 1]
    raise InputError(
        f"{experiment.file} has {len(cells)} runs: choose one "
        f"({'; '.join(choices) or '--choices'}), or take `fairseq-plugins run`"
    )


def scores_of(run: Run) -> Iterable[str]:
    """Yield a run's scores on the split of evaluation, as a line; nothing without scores."""
    row = run.row()
    if row and row.evaluated:
        found = list(row.metrics[row.evaluated].items())[:SHOWN]
        yield f"{row.evaluated}: {', '.join(f'{name} {value:.4g}' for name, value in found)}"


def next_steps(run: Run) -> Iterable[str]:
    """Yield the commands for the next steps."""
    folder = str(run.folder)
    if run.data.translates:
        yield written("translate", folder, "--split", run.grid.evaluate or "test")
    elif run.answers_questions:
        yield f"{written('ask', folder, '--context')} FILE --question '...'"
    else:
        yield f"echo 'a sentence' | {written('predict', folder, '--input', '-')}"
    yield written(
        "export", folder, "--output", f"bundles/{Path(run.cell.system).name}", "--with-pipeline"
    )
