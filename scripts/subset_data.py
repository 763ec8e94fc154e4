"""Write a seeded fraction of a prepared folder's training pairs or examples.

python scripts/subset_data.py data-bin/sample_en_de data-bin/sample_en_de.10 --fraction 0.1
python scripts/subset_data.py data-bin/squad2 data-bin/squad2.20 --fraction 0.2

A smaller fraction of the same seed lies within a larger one.
"""

from __future__ import annotations

import argparse
import sys

from fairseq_plugins import command
from fairseq_plugins.prep.subset import write_subset


def main() -> int:
    """Parse the flags and write the subset."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", help="prepared folder")
    parser.add_argument("destination", help="folder to write")
    parser.add_argument("--fraction", type=float, required=True, help="above 0, at most 1")
    parser.add_argument("--seed", type=int, default=1, help="of the choice (default: 1)")
    args = parser.parse_args()

    def work() -> None:
        manifest = write_subset(args.folder, args.destination, args.fraction, args.seed)
        print(f"{args.destination}: {manifest.count('train')} training examples")

    return command.run(work, args.destination)


if __name__ == "__main__":
    sys.exit(main())
