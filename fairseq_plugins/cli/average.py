"""Average checkpoints into one that fairseq loads like any other.

fairseq-plugins average --dir checkpoints --last 5 --output averaged.pt
fairseq-plugins average --inputs a.pt b.pt --output averaged.pt
fairseq-plugins average --inputs a.pt --ema --output ema.pt
"""

import argparse
import sys

from ..inference.options import COUNTED
from . import command

PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--inputs", nargs="+", metavar="FILE", help="checkpoints to average")
    source.add_argument("--dir", help="folder of checkpoints; with --last or --best")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--last", type=int, metavar="N", help="average the last N of --dir")
    which.add_argument("--best", type=int, metavar="N", help="average the best N of --dir")
    parser.add_argument("--by", choices=COUNTED, help="count --last in epochs or in updates")
    parser.add_argument("--ema", action="store_true", help="average the stored EMA weights")
    parser.add_argument("--output", required=True, metavar="FILE", help="averaged checkpoint")


def run(args: argparse.Namespace) -> None:
    """Choose the checkpoints and average them."""
    if (args.dir is not None) != (args.last is not None or args.best is not None):
        raise command.UsageError("--dir goes with --last N or --best N, --inputs with neither")
    from ..inference import averaging

    command.show_log("INFO", stream=sys.stdout)
    if args.inputs:
        inputs = args.inputs
    elif args.last is not None:
        inputs = averaging.last_checkpoints(args.dir, args.last, kind=args.by)
    else:
        inputs = averaging.best_checkpoints(args.dir, args.best)
    averaging.average_checkpoints(inputs, args.output, ema=args.ema)
