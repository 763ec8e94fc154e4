"""Keep the rows of an experiment, so that its systems can be compared again without its runs.

fairseq-plugins keep runs/evidence_cola rows/cola.jsonl
fairseq-plugins keep runs/sla_table1 rows/cola.jsonl --part cola
fairseq-plugins seeds rows/cola.jsonl --output cola     # compares, tests and draws them

A row says what a run came to and, in a few hundred characters, how each example counts for it. The
file may be added to from several machines: rows of runs that the experiment no longer has stay.
"""

import argparse
from pathlib import Path

PLACES = ("folder", "file")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, help="of an experiment (with rows.jsonl)")
    add("file", type=Path, help="file of rows to add to")
    part = "only this part (default: all, which have to be of one dataset)"
    add("--part", default="", metavar="NAME", help=part)


def run(args: argparse.Namespace) -> None:
    """Keep the rows, say how many there are."""
    from ..lab.results.kept_rows import keep_rows

    given, count = keep_rows(args.folder, args.file, args.part)
    print(f"{args.file}: {given} runs of {args.folder}, {count} in all")
