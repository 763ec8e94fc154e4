"""Prepare parallel text for `--task syntax_translation` (and stock `--task translation`).

python scripts/prepare_translation.py -s en -t de --trainpref corpus/train \
    --validpref corpus/valid --testpref corpus/test --destdir data-bin/corpus

On several machines: the same command with --shard 1/2 and --shard 2/2, then with --merge.
"""

from __future__ import annotations

import argparse
import logging
import sys

from fairseq_plugins import command
from fairseq_plugins.prep.options import TranslationOptions, add_flags
from fairseq_plugins.prep.translation import prepare

GO_ON = "stopped; run the same command again to go on"


def main() -> int:
    """Parse the flags and prepare; what goes wrong is one line on stderr."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_flags(parser)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", force=True)
    flags = vars(parser.parse_args())
    return command.run(
        lambda: prepare(TranslationOptions(**flags)), flags["destdir"], stopped=GO_ON
    )


if __name__ == "__main__":
    sys.exit(main())
