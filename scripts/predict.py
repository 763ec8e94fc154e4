"""Predict classes, scores or word labels of a prepared split or of raw text.

python scripts/predict.py runs/cola --split valid --metrics valid.json --output valid.jsonl
python scripts/predict.py runs/cola --split test --submission-dir submission
echo "The cat sat on the mat." | python scripts/predict.py runs/cola --input -
python scripts/predict.py runs/wnut17 --input words.conll --input-format conll --format conll

Several checkpoints, joined by ':', are an ensemble: the mean of their probabilities or scores.
"""

from __future__ import annotations

import argparse
import logging
import sys

from fairseq_plugins import command
from fairseq_plugins.inference.prediction_files import PredictionOptions, predict_files
from fairseq_plugins.option_flags import add_flags


def parse_args() -> PredictionOptions:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "checkpoint", help="run folder (its checkpoint_best.pt), or checkpoint files joined by ':'"
    )
    add_flags(parser, PredictionOptions, strict=True)
    return PredictionOptions(**vars(parser.parse_args()))


def main() -> int:
    """Predict; what goes wrong is one line on stderr."""
    options = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr, force=True)
    logging.getLogger("fairseq").setLevel(logging.WARNING)
    return command.run(lambda: predict_files(options), options.checkpoint)


if __name__ == "__main__":
    sys.exit(main())
