"""Write a seeded fraction of a prepared folder's training pairs or examples.

    fairseq-plugins subset data-bin/sample_en_de data-bin/sample_en_de.10 --fraction 0.1
    fairseq-plugins subset data-bin/squad2 data-bin/squad2.20 --fraction 0.2
    fairseq-plugins subset data-bin/cola data-bin/cola.select --fraction 1 --select-fraction 0.1

A smaller fraction of the same seed lies within a larger one. What is held out becomes the split
`select`, to choose checkpoints and rates on (`fairseq-train ... --valid-subset select`), so that
the validation set is used once, for the figure that is reported.
"""

import argparse

PLACES = ("destination",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="prepared folder")
    parser.add_argument("destination", help="folder to write")
    add = parser.add_argument
    add("--fraction", type=float, required=True, help="of what is not held out, above 0, at most 1")
    add("--select-fraction", type=float, default=0.0, help="of the training set, to be held out")
    parser.add_argument("--seed", type=int, default=1, help="of the choice (default: 1)")


def run(args: argparse.Namespace) -> None:
    """Write the subset, and say how large it is."""
    from ..prep.shares import SELECT, Share
    from ..prep.subset import write_subset

    if args.fraction == 1 and not args.select_fraction:
        raise ValueError("nothing to be chosen: give --fraction, --select-fraction, or both")
    share = Share(args.fraction, args.seed, args.select_fraction)
    manifest = write_subset(args.folder, args.destination, share)
    held = f", {manifest.count(SELECT)} held out as split {SELECT!r}" if share.select else ""
    print(f"{args.destination}: {manifest.count('train')} training examples{held}")
