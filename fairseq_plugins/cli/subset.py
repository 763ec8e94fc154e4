"""Write a seeded fraction of a prepared folder's training pairs or examples.

    fairseq-plugins subset data-bin/sample_en_de data-bin/sample_en_de.10 --fraction 0.1
    fairseq-plugins subset data-bin/squad2 data-bin/squad2.20 --fraction 0.2

A smaller fraction of the same seed lies within a larger one.
"""

import argparse

PLACES = ("destination",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="prepared folder")
    parser.add_argument("destination", help="folder to write")
    parser.add_argument("--fraction", type=float, required=True, help="above 0, at most 1")
    parser.add_argument("--seed", type=int, default=1, help="of the choice (default: 1)")


def run(args: argparse.Namespace) -> None:
    """Write the subset, and say how large it is."""
    from ..prep.subset import write_subset

    manifest = write_subset(args.folder, args.destination, args.fraction, args.seed)
    print(f"{args.destination}: {manifest.count('train')} training examples")
