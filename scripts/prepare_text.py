"""Prepare a dataset for `--task text_classification` or `--task sequence_labeling`.

python scripts/prepare_text.py --dataset cola --raw-dir CoLA --destdir data-bin/cola
python scripts/prepare_text.py --dataset plain --train-file train.tsv --valid-file valid.tsv \
    --text-column sentence --label-column label --destdir data-bin/mine

On several machines: the same command with --shard 1/2 and --shard 2/2, then with --merge.
"""

from __future__ import annotations

import argparse
import logging
import sys

from fairseq_plugins import command
from fairseq_plugins.prep.recipes.text import prepare
from fairseq_plugins.prep.recipes.text_options import add_text_flags, options_from

GO_ON = "stopped; run the same command again to go on"


def main() -> int:
    """Parse the flags and prepare; what goes wrong is one line on stderr."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_text_flags(parser)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", force=True)
    flags = vars(parser.parse_args())
    return command.run(lambda: prepare(options_from(flags)), flags["destdir"], stopped=GO_ON)


if __name__ == "__main__":
    sys.exit(main())
