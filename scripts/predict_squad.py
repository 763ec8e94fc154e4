"""Answer the questions of a prepared split or of a SQuAD file, in the official files.

python scripts/predict_squad.py --path runs/squad --split valid --output-dir answers
python scripts/predict_squad.py --path runs/squad --input dev-v2.0.json --output-dir answers
python scripts/predict_squad.py --path runs/a:runs/b --ensemble paper --split valid --output-dir ab

The folder gets predictions.json, null_odds.json and nbest_predictions.json, and metrics.json where
gold answers are known.
"""

from __future__ import annotations

import argparse
import logging
import sys

from fairseq_plugins import command
from fairseq_plugins.inference.answer_files import AnswerOptions, answer_files
from fairseq_plugins.option_flags import add_flags


def parse_args() -> AnswerOptions:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_flags(parser, AnswerOptions, strict=True)
    return AnswerOptions(**vars(parser.parse_args()))


def main() -> int:
    """Answer; what goes wrong is one line on stderr."""
    options = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr, force=True)
    logging.getLogger("fairseq").setLevel(logging.WARNING)
    return command.run(lambda: answer_files(options), options.output_dir)


if __name__ == "__main__":
    sys.exit(main())
