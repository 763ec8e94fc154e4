"""Show finished runs as tables: those that their experiment asks for, or those of the papers.

    fairseq-plugins results table runs/sla_table1 --output runs/sla_table1/tables
    fairseq-plugins results table runs/cola runs/rte runs/wnut17 --layout sla1
    fairseq-plugins results table runs/multi30k_en_de_table1 --layout fractions settings

For every system, a table shows the setting that is best on the validation set: mean and standard
deviation over seeds, an arrow where the system is better or worse than the baseline with p < 0.05,
and below them seeds, p and the papers' scores.
"""

import argparse
from pathlib import Path

from ..lab.results.layouts import table_names
from . import command

READ = ("folders",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="RUNS", help="folders of experiments, or of runs")
    names = f"tables: {' | '.join(table_names())} (default: the experiment's, or all that fit)"
    add("--layout", nargs="+", default=(), metavar="TABLE", help=names)
    tests = "Welch's t-test over seeds, or paired bootstrap over examples"
    add("--test", default="seeds", choices=("seeds", "examples"), help=tests)
    add("--samples", type=int, default=1000, help="number of bootstrap resamples")
    add("--seed", type=int, default=12345, help="random seed of the bootstrap")
    add("--no-paper", action="store_true", help="do not show the papers' scores")
    add("--output", metavar="STEM", help="also write STEM.md")


def run(args: argparse.Namespace) -> None:
    """Print and write the tables."""
    command.check_least(args, samples=1, seed=0)
    from ..files import write_text
    from ..lab.results.compare import Significance
    from ..lab.results.experiment_tables import lay_out

    test = Significance(args.test, args.samples, args.seed)
    text = "\n".join(lay_out(args.folders, args.layout, test=test, paper=not args.no_paper))
    if args.output:
        write_text(f"{args.output}.md", text)
    print(text, end="")
