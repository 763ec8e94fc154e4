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
from fairseq_plugins.inference import prediction_inputs, prediction_outputs
from fairseq_plugins.inference.overrides import EXAMPLES, add_overrides
from fairseq_plugins.inference.prediction_files import PredictionOptions, predict_files


def parse_args() -> PredictionOptions:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("checkpoint", help="run folder (its checkpoint_best.pt), or checkpoint files joined by ':'")
    add("--data", metavar="DIR", help="prepared folder (default: the one it was trained on)")
    add("--split", help="predict this split of the prepared folder")
    add("--input", metavar="FILE", help="or predict raw text: a file, or - for standard input")
    add(
        "--input-format",
        default="text",
        choices=prediction_inputs.FORMATS,
        help="text: one example a line, a TAB between the sentences of a pair; conll: one word a "
        "line (first column; of several, the last is the gold label), an empty line between "
        "sentences",
    )
    add(
        "--output",
        metavar="FILE",
        help="where to write predictions (default: standard output, unless --submission-dir or "
        "--metrics is all that is wanted)",
    )
    add("--format", default="jsonl", choices=prediction_outputs.FORMATS, help="of --output")
    add("--submission-dir", metavar="DIR", help="write the GLUE server's file of this split there")
    add("--metrics", metavar="FILE", help="write metrics as JSON; needs gold labels")
    add("--batch-size", type=int, default=32, metavar="N", help="most examples of a batch")
    add("--max-tokens", type=int, metavar="N", help="most wordpieces of a batch")
    add_overrides(parser, EXAMPLES)
    add("--cpu", action="store_true", help="use no GPU")
    return PredictionOptions(**vars(parser.parse_args()))


def main() -> int:
    """Predict; what goes wrong is one line on stderr."""
    options = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr, force=True)
    logging.getLogger("fairseq").setLevel(logging.WARNING)
    return command.run(lambda: predict_files(options), options.checkpoint)


if __name__ == "__main__":
    sys.exit(main())
