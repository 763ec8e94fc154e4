"""Write a page of experiments, finished or still running; or of papers' claims, with conclusions.

    fairseq-plugins results page runs/sla_table1     # writes report.html there
    fairseq-plugins results page runs                # all experiments of a folder on one page
    fairseq-plugins results page examples/evidence/claims.yaml --output docs/replication.md

The page needs no network and no server: open it in a browser, send it, print it. A file of claims
names files of rows that `results keep` wrote: figures, tables and the sentences about them are made
from these rows, and the same command makes them again, without training.
"""

import argparse
import sys
from pathlib import Path

from ..messages import plain
from ..option_flags import flag_of
from . import command

READ = ("folder",)
PLACES = ("folder", "output")
_OF_EXPERIMENTS = {"title": "", "no_paper": False, "baseline": "", "samples": 1000, "seed": 12345}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = "folder of one experiment or of several, or a YAML file of claims"
    add("folder", type=Path, metavar="RUNS_DIR", help=what)
    page = (
        "HTML file to write (default: RUNS_DIR/report.html); of claims, a Markdown file with its "
        "pictures in a folder beside it (default: the name of their file with .md)"
    )
    add("--output", default="", metavar="FILE", help=page)
    add("--title", help="title of the page (default: the experiment's)")
    add("--no-paper", action="store_true", help="do not show the papers' scores")
    add("--baseline", metavar="SYSTEM", help="system the others are compared with")
    add("--samples", type=int, help="number of bootstrap resamples")
    add("--seed", type=int, help="random seed of the bootstrap")
    parser.set_defaults(**_OF_EXPERIMENTS)


def run(args: argparse.Namespace) -> None:
    """Write the page, and print its path."""
    command.check_least(args, samples=1, seed=0)
    if args.output and not Path(args.output).name:
        raise command.UsageError(f"--output {args.output}: is a folder; name a file")
    if args.folder.is_file():
        for name, usual in _OF_EXPERIMENTS.items():
            if getattr(args, name) != usual:
                told = f"{flag_of(name)} is for experiments, and {args.folder} is a file of claims"
                raise command.UsageError(told)
        from ..lab.report.replication import write_page

        print(*write_page(args.folder, args.output or args.folder.with_suffix(".md")), sep="\n")
        return
    from ..lab.report.making import ReportOptions, write_report
    from ..lab.report.page import total

    command.show_log()
    options = ReportOptions(args.title, not args.no_paper, args.baseline, args.samples, args.seed)
    page, chapters, remarks = write_report(args.folder, args.output, options)
    for remark in remarks:
        print(f"warning: {plain(remark)}", file=sys.stderr)
    counts = total(chapters)
    done = f"{counts['finished']:,} of {sum(counts.values()):,} runs finished"
    print(f"{done}, {counts['failed']:,} failed", page, sep="\n")
