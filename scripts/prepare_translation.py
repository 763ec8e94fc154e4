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
from fairseq_plugins.option_flags import add_flags
from fairseq_plugins.prep.recipes.like import options_of
from fairseq_plugins.prep.recipes.translation import prepare
from fairseq_plugins.prep.recipes.translation_options import TranslationOptions

GO_ON = "stopped; run the same command again to go on"


def main() -> int:
    """Parse the flags and prepare; what goes wrong is one line on stderr."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_flags(parser, TranslationOptions)
    parser.add_argument(
        "--like",
        metavar="FOLDER",
        help="prepare as this prepared folder was: its languages, tokeniser, normaliser, subwords, "
        "dictionaries, features, trees and tagger",
    )
    logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", force=True)
    unset = argparse.Namespace(**dict.fromkeys(vars(parser.parse_args())))
    flags = vars(parser.parse_args(namespace=unset))  # what is not given stays None
    return command.run(lambda: prepare(options_of(flags)), flags["destdir"], stopped=GO_ON)


if __name__ == "__main__":
    sys.exit(main())
