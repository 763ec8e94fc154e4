"""Measure how much systems lose on perturbed examples (Table 3 of the DABERT paper).

    fairseq-plugins robustness runs/paws/plain runs/paws/dabert --sets perturbed/paws \\
        --output runs/robustness/paws
    fairseq-plugins robustness BERT=runs/a/seed1,runs/a/seed2 DABERT=runs/b/seed1,runs/b/seed2 \\
        --sets perturbed/rte/SwapAnt trans_NumWord_99.json dev.json:rte --output runs/robustness/rte

A SET is a folder that `perturb` wrote, a folder of such folders, a file of TextFlint (trans_…json,
with ori_…json beside it) or AdvGLUE's dev.json (dev.json:TASK for a task other than the model's).
The command writes OUTPUT.md, and predictions as OUTPUT/SYSTEM/RUN/SET.jsonl, which `compare` reads.
All inputs are checked before anything is predicted.
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from ..inference.options import ExampleOptions
from ..option_flags import add_flags
from . import command

if TYPE_CHECKING:
    from ..augment.perturbed_sets import PerturbedExamples
    from ..lab.results.robustness_table import PerturbedSet

READ = ("systems", "data")  # a set may be FILE:TASK
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    runs = (
        "run folder or checkpoint, or NAME=PATH,PATH for the mean of several runs (default name: "
        "the part of their paths that differs); each system is compared with the first"
    )
    add("systems", nargs="+", metavar="SYSTEM", help=runs)
    add("--sets", nargs="+", required=True, metavar="SET", help="perturbed sets (see above)")
    files = "write the table STEM.md, and predictions into folder STEM"
    add("--output", required=True, metavar="STEM", help=files)
    add_flags(parser, ExampleOptions, strict=True)
    add("--samples", type=int, default=1000, help="number of bootstrap resamples; 0 for no test")
    add("--seed", type=int, default=12345, help="random seed of the bootstrap")


def run(args: argparse.Namespace) -> None:
    """Predict, write all results, print the table."""
    from ..files import write_text
    from ..inference.robustness import RobustnessOptions, parse_systems, try_systems
    from ..lab.results.robustness_table import robustness_table
    from ..lab.results.tables import format_table

    command.check_least(args, samples=0, seed=0)
    command.show_log("INFO")
    given = {spec.name: getattr(args, spec.name) for spec in fields(ExampleOptions)}
    systems = parse_systems(args.systems)
    trial = try_systems(RobustnessOptions(systems, args.sets, Path(args.output), **given))
    draws = {"samples": args.samples, "seed": args.seed}
    columns = [column(one) for one in trial.sets]
    table = robustness_table(trial.manifest.target_kind, columns, trial.systems, **draws)
    text = format_table(table)
    write_text(f"{args.output}.md", text)
    print(text, end="")


def column(one: PerturbedExamples) -> PerturbedSet:
    """Return a perturbed set as a column of the table."""
    from ..lab.results.robustness_table import PerturbedSet

    labels = {example.label for example in one.perturbed}
    only = labels.pop() or "" if len(labels) == 1 else ""
    both = zip(one.originals or (), one.perturbed)
    untouched = sum(before.texts == after.texts for before, after in both)
    return PerturbedSet(one.name, len(one.perturbed), one.dataset, one.split, only, untouched)
