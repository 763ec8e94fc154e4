"""Average checkpoints into one checkpoint, which fairseq loads like any other.

fairseq-plugins average --dir checkpoints --last 5 --output averaged.pt
fairseq-plugins average --inputs a.pt b.pt --output averaged.pt
fairseq-plugins average --inputs a.pt --ema --output ema.pt
"""

import argparse
import sys

from ..inference.options import COUNTED
from . import command

READ = ("inputs", "dir")
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--inputs", nargs="+", metavar="FILE", help="checkpoints to average")
    source.add_argument("--dir", help="folder with checkpoints; needs --last or --best")
    which = parser.add_mutually_exclusive_group()
    last = "average the last N checkpoints of --dir"
    which.add_argument("--last", type=int, metavar="N", help=last)
    best = "average the N best checkpoints of --dir (fairseq: --keep-best-checkpoints)"
    which.add_argument("--best", type=int, metavar="N", help=best)
    by = "count --last in checkpoints saved by epoch or by update; needed if --dir has both"
    parser.add_argument("--by", choices=COUNTED, help=by)
    ema = "average the EMA weights stored in the checkpoints (fairseq: --store-ema)"
    parser.add_argument("--ema", action="store_true", help=ema)
    parser.add_argument("--output", required=True, metavar="FILE", help="checkpoint to write")


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
