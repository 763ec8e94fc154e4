"""Draw a score against the share of the training data, one line a system, as PNG and SVG.

python scripts/plot_fractions.py runs/wmt14_en_de_table1 --out curve

Each system stands at every share with the setting that is best on the validation set; several seeds
are their mean with their range. What is drawn is the score of the split that was evaluated.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from fairseq_plugins import command
from fairseq_plugins.lab.figures.drawing import check_stem
from fairseq_plugins.lab.figures.plots import plot_curves
from fairseq_plugins.lab.results.fractions import curve_points
from fairseq_plugins.lab.results.runs import find_outcomes
from fairseq_plugins.messages import named


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="of an experiment, or of runs, on one dataset")
    parser.add_argument("--out", default="fractions", help="file name without suffix")
    return parser.parse_args()


def draw(args: argparse.Namespace) -> None:
    """Draw, and say where.

    Raises:
        FileNotFoundError, ValueError: see `find_outcomes`; several datasets, or a file that cannot
            be written.
    """
    stem = check_stem(args.out)
    first, *others = find_outcomes([args.folder])
    if others:
        names = named(one.root for one in (first, *others))
        raise ValueError(f"{args.folder} holds several datasets: name one of {names}")
    points, what = curve_points(first)
    print(*plot_curves(points, stem, metric=what.title), sep="\n")


def main() -> int:
    """Draw; what goes wrong is one line on stderr."""
    args = parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr, force=True)
    return command.run(lambda: draw(args), args.out)


if __name__ == "__main__":
    sys.exit(main())
