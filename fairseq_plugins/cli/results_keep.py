"""Keep the rows (results of runs) of an experiment, to compare its systems later without its runs.

fairseq-plugins results keep runs/evidence_cola --output rows/cola.jsonl
fairseq-plugins results keep runs/sla_table1 --output rows/cola_base.jsonl --part cola
fairseq-plugins results compare rows/cola.jsonl --output cola     # compares, tests and draws them

A row holds the result of one run, and what each example contributes to it: 0.6 KB for the 1,043
examples of CoLA, five to seven bytes an example for translations and scores. Several machines may
add to the file: it keeps the rows of runs that the experiment no longer has, and the counts of runs
whose predictions are gone. Experiments may share a file if no setting and seed is the same in both.
"""

import argparse
import sys
from pathlib import Path

from ..messages import plain

READ = ("folder",)
PLACES = ("folder", "output")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, help="folder of an experiment (with rows.jsonl)")
    file = "file that the rows are added to"
    add("--output", type=Path, required=True, metavar="FILE", help=file)
    part = "only this part of the experiment (default: all parts, which must be of one dataset)"
    add("--part", default="", metavar="NAME", help=part)


def run(args: argparse.Namespace) -> None:
    """Keep the rows; print their number, and how many have counts of examples."""
    from ..lab.results.keep import keep_rows

    kept = keep_rows(args.folder, args.output, args.part)
    for remark in kept.remarks:
        print(f"warning: {plain(remark)}", file=sys.stderr)
    told = f"{kept.given} runs of {args.folder}, {kept.rows} in all"
    print(f"{args.output}: {told}, {kept.counted} with counts of their examples")
