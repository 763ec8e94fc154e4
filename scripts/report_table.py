"""Lay finished runs out as tables: those that their experiment asks for, or those of the papers.

python scripts/report_table.py runs/sla_table1 --output runs/sla_table1/tables
python scripts/report_table.py runs/cola runs/rte runs/wnut17 --layout sla1
python scripts/report_table.py runs/multi30k_en_de_table1 --layout fractions settings
python scripts/report_table.py runs/bertqa_large --ensemble runs/bertqa_large/answers

Best setting of every system on the validation set; mean and deviation over seeds; an arrow where a
system is better than the baseline with p < 0.05; beside them the papers' figures.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from fairseq_plugins import command
from fairseq_plugins.files import write_text
from fairseq_plugins.lab.results.tables import bertqa_models
from fairseq_plugins.lab.results.tables.experiment_tables import (
    TABLES,
    Significance,
    check_names,
    lay_out,
)
from fairseq_plugins.lab.results.tables.found_runs import FoundRuns, find_runs
from fairseq_plugins.lab.results.tables.table_formats import format_csv
from fairseq_plugins.lab.results.tables.table_making import over_drawn_examples, over_seeds
from fairseq_plugins.lab.results.tables.variants import seeds_or_examples

INVENTED = "An invented corpus in the format of the dataset named: no result on that dataset.\n"


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="RUNS", help="experiments, or folders of runs")
    add(
        "--layout",
        nargs="+",
        default=(),
        metavar="TABLE",
        help=f"{' | '.join(TABLES)} (default: the experiment's, or all that fit)",
    )
    add(
        "--ensemble",
        nargs="+",
        default=(),
        metavar="DIR",
        help="answers of some of the runs together, folders of predict_squad.py (default: those "
        "that steps of the experiment left)",
    )
    add("--test", default="seeds", choices=("seeds", "examples"), help="Welch's t, or bootstrap")
    add("--samples", type=int, default=1000, help="resamples of the bootstrap")
    add("--seed", type=int, default=12345, help="of the bootstrap")
    add("--no-paper", action="store_true", help="leave the papers' figures out")
    add("--output", metavar="STEM", help="also write STEM.md and STEM.csv")
    return parser.parse_args()


def testing(args: argparse.Namespace) -> Significance:
    """Return the tests that the command line asks for."""
    pairs = seeds_or_examples(args.samples, args.seed)
    if args.test == "seeds":
        return Significance(over_seeds, "two-sided Welch's t-test over seeds", pairs)
    name = f"paired bootstrap over examples ({args.samples:,} samples, seed {args.seed})"
    return Significance(over_drawn_examples(args.samples, args.seed), name, pairs)


def read_runs(args: argparse.Namespace) -> FoundRuns:
    """Read the runs, with the answers of ensembles of them."""
    found = find_runs(args.folders)
    outcomes = found.outcomes
    for folder in args.ensemble or found.ensembles:
        outcomes = bertqa_models.with_ensemble(outcomes, folder)
    return replace(found, outcomes=outcomes, is_invented=found.is_invented or args.no_paper)


def report(args: argparse.Namespace) -> None:
    """Lay out, print, write."""
    check_names(args.layout)
    found = read_runs(args)
    names = args.layout or found.tables
    texts, models, lines = lay_out(found, args.folders, names, testing(args))
    if all(folder.resolve().name.endswith("_demo") for folder in args.folders):
        texts.append(INVENTED)
    text = "\n".join(texts)
    if args.output:
        write_text(f"{args.output}.md", text)
        write_text(f"{args.output}.csv", format_csv(lines) if lines else models)
    print(text, end="")


def main() -> int:
    """Report; what goes wrong is one line on stderr."""
    args = parse_args()
    return command.run(lambda: report(args))


if __name__ == "__main__":
    sys.exit(main())
