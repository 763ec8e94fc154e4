"""Keep the rows of an experiment, so that its systems can be compared again without its runs.

fairseq-plugins keep runs/evidence_cola rows/cola.jsonl
fairseq-plugins keep runs/sla_table1 rows/cola_base.jsonl --part cola
fairseq-plugins seeds rows/cola.jsonl --output cola     # compares, tests and draws them

A row says what a run came to and how each example counts for it: 0.6 KB of the 1,043 examples of
CoLA, five to seven bytes an example of translations and scores. The file may be added to from
several machines: rows of runs that the experiment no longer has stay, and so do counts of runs
whose predictions are gone. Experiments may share a file if no setting and seed is in both.
"""

import argparse
import sys
from pathlib import Path

PLACES = ("folder", "file")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, help="of an experiment (with rows.jsonl)")
    add("file", type=Path, help="file of rows to add to")
    part = "only this part (default: all, which have to be of one dataset)"
    add("--part", default="", metavar="NAME", help=part)


def run(args: argparse.Namespace) -> None:
    """Keep the rows, say how many there are, and how many tell of their examples."""
    from ..lab.results.keeping import keep_rows

    kept = keep_rows(args.folder, args.file, args.part)
    for remark in kept.remarks:
        print(f"warning: {remark}", file=sys.stderr)
    told = f"{kept.given} runs of {args.folder}, {kept.rows} in all"
    print(f"{args.file}: {told}, {kept.counted} with counts of their examples")
