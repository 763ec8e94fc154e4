"""Prepare SQuAD files (1.1 or 2.0) for `--task extractive_qa`.

python scripts/prepare_squad.py --raw-dir squad --destdir data-bin/squad2
python scripts/prepare_squad.py --train-file train.json --valid-file dev.json \
    --annotations none --max-positions 512 --destdir data-bin/mine

On several machines: the same command with --shard 1/2 and --shard 2/2, then with --merge.
"""

from __future__ import annotations

import argparse
import logging
import sys

from fairseq_plugins import command
from fairseq_plugins.option_flags import add_flags
from fairseq_plugins.prep.recipes.question_options import QuestionOptions
from fairseq_plugins.prep.recipes.questions import prepare

GO_ON = "stopped; run the same command again to go on"


def main() -> int:
    """Parse the flags and prepare; what goes wrong is one line on stderr."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_flags(parser, QuestionOptions)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", force=True)
    flags = vars(parser.parse_args())
    return command.run(lambda: prepare(QuestionOptions(**flags)), flags["destdir"], stopped=GO_ON)


if __name__ == "__main__":
    sys.exit(main())
