"""Report experiments, finished or still running, on one page: tables, figures, failures, commands.

    fairseq-plugins report runs/sla_table1     # writes report.html and report.md there
    fairseq-plugins report runs                # all experiments of a folder on one page

The page needs no network and no server: open it in a browser, send it, print it.
"""

import argparse
import sys
from pathlib import Path

from ..messages import plain
from . import command

READ = ("folder",)
PLACES = ("folder",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, metavar="RUNS_DIR", help="folder of one experiment or of several")
    pages = "write STEM.html and STEM.md (default: RUNS_DIR/report)"
    add("--output", default="", metavar="STEM", help=pages)
    add("--title", default="", help="title of the page (default: the experiment's)")
    add("--no-paper", action="store_true", help="do not show the papers' scores")
    add("--baseline", default="", metavar="SYSTEM", help="system the others are compared with")
    add("--samples", type=int, default=1000, help="number of bootstrap resamples")
    add("--seed", type=int, default=12345, help="random seed of the bootstrap")


def run(args: argparse.Namespace) -> None:
    """Write both pages, and say where they are."""
    if args.samples < 1:
        raise command.UsageError(f"--samples {args.samples}: must be at least 1")
    from ..lab.report.making import ReportOptions, write_report

    command.show_log()
    options = ReportOptions(args.title, not args.no_paper, args.baseline, args.samples, args.seed)
    pages, found = write_report(args.folder, args.output, options)
    for remark in found.remarks:
        print(f"warning: {plain(remark)}", file=sys.stderr)
    counts = found.counts
    print(f"{counts.finished:,} of {counts.total:,} runs finished, {counts.failed:,} failed")
    print(*pages, sep="\n")
