"""Copy a prepared folder with a random fraction of its training data, chosen by a seed.

    fairseq-plugins subset data-bin/sample_en_de --output data-bin/sample_en_de.10 --fraction 0.1
    fairseq-plugins subset data-bin/squad2 --output data-bin/squad2.20 --fraction 0.2
    fairseq-plugins subset data-bin/cola --output data-bin/cola.select --fraction 1 \\
        --select-fraction 0.1

A smaller fraction is contained in every larger one of the same seed. What is held out becomes the
split `select`, on which checkpoints and learning rates are chosen (`fairseq-train ...
--valid-subset select`), so that the validation set is used only once, for the reported score.
"""

import argparse

from ..errors import InputError

READ = ("folder",)
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", help="prepared folder")
    add("--output", required=True, metavar="DIR", help="folder to write")
    kept = "fraction to keep of what is not held out; above 0, at most 1"
    add("--fraction", type=float, required=True, help=kept)
    held = "fraction of the training set to hold out as split `select`"
    add("--select-fraction", type=float, default=0.0, help=held)
    add("--seed", type=int, default=1, help="random seed (default: 1)")


def run(args: argparse.Namespace) -> None:
    """Write the subset, and print its size."""
    from ..prep.shares import SELECT, Share
    from ..prep.subset import write_subset

    if args.fraction == 1 and not args.select_fraction:
        raise InputError("nothing to be chosen: give --fraction, --select-fraction, or both")
    share = Share(args.fraction, args.seed, args.select_fraction)
    manifest = write_subset(args.folder, args.output, share)
    held = f", {manifest.count(SELECT)} held out as split {SELECT!r}" if share.select else ""
    print(f"{args.output}: {manifest.count('train')} training examples{held}")
