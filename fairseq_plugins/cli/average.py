"""Average checkpoints into one checkpoint, which fairseq loads like any other.

fairseq-plugins average runs/mine --last 5 --output averaged.pt
fairseq-plugins average a.pt b.pt --output averaged.pt
fairseq-plugins average a.pt --ema --output ema.pt
"""

import argparse
import os
import sys

from ..inference.options import COUNTED
from . import command

READ = ("checkpoints",)
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    files = "checkpoint files; or one folder with checkpoints, with --last or --best"
    parser.add_argument("checkpoints", nargs="+", metavar="MODEL", help=files)
    which = parser.add_mutually_exclusive_group()
    last = "average the last N checkpoints of the folder"
    which.add_argument("--last", type=int, metavar="N", help=last)
    best = "average the N best checkpoints of the folder (fairseq: --keep-best-checkpoints)"
    which.add_argument("--best", type=int, metavar="N", help=best)
    by = "count --last in checkpoints saved by epoch or by update; needed if the folder has both"
    parser.add_argument("--by", choices=COUNTED, help=by)
    ema = "average the EMA weights stored in the checkpoints (fairseq: --store-ema)"
    parser.add_argument("--ema", action="store_true", help=ema)
    parser.add_argument("--output", required=True, metavar="FILE", help="checkpoint to write")


def run(args: argparse.Namespace) -> None:
    """Choose the checkpoints and average them."""
    folder, *others = inputs = args.checkpoints
    chosen = args.last is not None or args.best is not None
    if chosen != os.path.isdir(folder) or chosen and others:
        raise command.UsageError("a folder goes with --last N or --best N, files with neither")
    from ..inference import averaging

    command.show_log("INFO", stream=sys.stdout)
    if args.last is not None:
        inputs = averaging.last_checkpoints(folder, args.last, kind=args.by)
    elif chosen:
        inputs = averaging.best_checkpoints(folder, args.best)
    averaging.average_checkpoints(inputs, args.output, ema=args.ema)
