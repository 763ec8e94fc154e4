"""Run fairseq-train in several processes, one for each GPU, or on the CPU.

    fairseq-plugins train-distributed 2 data-bin/x --task syntax_translation --arch ...

Without a GPU, or with --cpu among the arguments, they run on the CPU. For several machines, set the
environment variable TORCHRUN to torchrun's own options, e.g.
TORCHRUN="--nnodes 2 --rdzv_backend c10d --rdzv_endpoint host:29500".

Do not run `torchrun fairseq-train` itself: where fairseq sees one GPU or none, each process
assumes that it is the only one; it then trains alone and overwrites the others' checkpoints.
Recipes, and which options work together: docs/distributed.md of the project.
"""

import argparse
import os


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("processes", type=int, help="number of processes on this machine")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of fairseq-train")


def run(args: argparse.Namespace) -> int:
    """Train; return the exit status of the training."""
    from ..lab.execution.distributed import launch

    return launch(args.processes, args.arguments, os.environ.get("TORCHRUN", ""))
