"""Draw a score against the fraction of the training data, one line per system, as PNG and SVG.

    fairseq-plugins plot fractions runs/wmt14_en_de_table1 --output curve

At every fraction, each system is shown with the setting that is best on the validation set; of
several seeds, mean and range are drawn. The score is that of the split that was evaluated.
"""

import argparse
from pathlib import Path

from . import command

READ = ("folder",)
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    runs = "folder of an experiment, or of runs, on one dataset"
    parser.add_argument("folder", type=Path, help=runs)
    parser.add_argument("--output", default="fractions", help="name of the files without suffix")


def run(args: argparse.Namespace) -> None:
    """Draw, and say where.

    Raises:
        FileNotFoundError, ValueError: see `find_experiments`; several datasets, or a file that
            cannot be written.
    """
    from ..lab.figures.curves import plot_curves
    from ..lab.figures.drawing import check_stem, save
    from ..lab.results.frame import find_experiments, finished_parts
    from ..lab.results.part_tables import share_curves
    from ..messages import named

    command.show_log()
    stem = check_stem(args.output)
    first, *others = finished_parts(find_experiments([args.folder]))
    if others:
        names = named(one.root.iloc[0] for one in (first, *others))
        raise ValueError(f"{args.folder} holds several datasets: name one of {names}")
    curves, what = share_curves(first)
    print(*save(plot_curves(curves, what.title), stem), sep="\n")
