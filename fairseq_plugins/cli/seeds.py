"""Report the runs of a grid: mean, deviation and best over seeds, and what differences mean.

fairseq-plugins seeds runs/cola     # writes seeds.md, settings.csv, comparisons.csv there
"""

import argparse
from pathlib import Path

PLACES = ("folder",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, help="folder of the runs")
    add("--metric", default="", help="default: the one that chose the checkpoints")
    add("--baseline", default="", metavar="NAME", help="system the others are compared with")
    add("--samples", type=int, default=1000, help="resamples of the bootstrap over examples")
    add("--seed", type=int, default=12345, help="of the bootstrap")


def run(args: argparse.Namespace) -> None:
    """Compare the systems, write everything, print it."""
    from ..files import write_text
    from ..lab.results import setting_tables

    options = vars(args)
    folder = options.pop("folder")
    report = setting_tables.make_report(folder, **options)
    text = setting_tables.format_markdown(report)
    for name, content in {"seeds.md": text, **setting_tables.csv_files(report)}.items():
        write_text(folder / name, content)
    print(text, end="")
