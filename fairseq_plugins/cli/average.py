#!/usr/bin/env python
"""Average checkpoints into one that fairseq loads like any other.

python scripts/average_checkpoints.py --dir checkpoints --last 5 --output averaged.pt
python scripts/average_checkpoints.py --inputs a.pt b.pt --output averaged.pt
python scripts/average_checkpoints.py --inputs a.pt --ema --output ema.pt
"""

import argparse
import logging
import sys

from fairseq_plugins import command
from fairseq_plugins.inference.averaging import (
    KINDS,
    average_checkpoints,
    best_checkpoints,
    last_checkpoints,
)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--inputs", nargs="+", metavar="FILE", help="checkpoints to average")
    source.add_argument("--dir", help="folder of checkpoints; with --last or --best")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--last", type=int, metavar="N", help="average the last N of --dir")
    which.add_argument("--best", type=int, metavar="N", help="average the best N of --dir")
    parser.add_argument("--by", choices=KINDS, help="count --last in epochs or in updates")
    parser.add_argument("--ema", action="store_true", help="average the stored EMA weights")
    parser.add_argument("--output", required=True, metavar="FILE", help="averaged checkpoint")
    args = parser.parse_args()
    if (args.dir is not None) != (args.last is not None or args.best is not None):
        parser.error("--dir goes with --last N or --best N, --inputs with neither")
    return args


def average(args: argparse.Namespace) -> None:
    """Choose the checkpoints and average them."""
    if args.inputs:
        inputs = args.inputs
    elif args.last is not None:
        inputs = last_checkpoints(args.dir, args.last, kind=args.by)
    else:
        inputs = best_checkpoints(args.dir, args.best)
    average_checkpoints(inputs, args.output, ema=args.ema)


def main() -> int:
    """Average; what goes wrong is one line on stderr."""
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    return command.run(lambda: average(args), args.output)


if __name__ == "__main__":
    sys.exit(main())
