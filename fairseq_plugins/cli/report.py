"""Report experiments, finished or still running, on one page: tables, figures, failures, commands.

python scripts/report.py runs/sla_table1     # writes report.html and report.md there
python scripts/report.py runs                # all experiments of a folder on one page

The page needs no network and no server: open it in a browser, send it, print it.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from fairseq_plugins import command
from fairseq_plugins.lab.report.choice import ReportOptions
from fairseq_plugins.lab.report.making import write_report


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("folder", type=Path, metavar="RUNS_DIR", help="folder of an experiment, or above several")
    add("--output", default="", metavar="STEM", help="STEM.html and STEM.md (default: report)")
    add("--title", default="", help="of the page (default: the experiment's)")
    add("--no-paper", action="store_true", help="leave the papers' figures out")
    add("--baseline", default="", metavar="SYSTEM", help="system the others are compared with")
    add("--samples", type=int, default=1000, help="resamples of the bootstrap")
    add("--seed", type=int, default=12345, help="of the bootstrap")
    args = parser.parse_args()
    if args.samples < 1:
        parser.error(f"--samples {args.samples}: must be at least 1")
    return args


def report(args: argparse.Namespace) -> None:
    """Write both pages, and say where they are."""
    options = ReportOptions(args.title, not args.no_paper, args.baseline, args.samples, args.seed)
    pages, found = write_report(args.folder, args.output, options)
    for remark in found.remarks:
        print(f"warning: {remark}", file=sys.stderr)
    counts = found.counts
    print(f"{counts.finished:,} of {counts.total:,} runs finished, {counts.failed:,} failed")
    print(*pages, sep="\n")


def main() -> int:
    """Report; what goes wrong is one line on stderr."""
    args = parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s", force=True)
    return command.run(lambda: report(args), args.folder)


if __name__ == "__main__":
    sys.exit(main())
