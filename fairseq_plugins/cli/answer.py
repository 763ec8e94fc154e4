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
from fairseq_plugins.inference.overrides import WINDOWS, add_overrides
from fairseq_plugins.inference.question_answering import BATCH_SIZE, ENSEMBLES


def parse_args() -> AnswerOptions:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "--path",
        required=True,
        help="run folder (its checkpoint_best.pt), or checkpoint files; an ensemble joined by ':'",
    )
    add("--output-dir", required=True, metavar="DIR", help="where the files go")
    add("--data", metavar="DIR", help="prepared folder (default: the one it was trained on)")
    add("--split", help="answer this split of the prepared folder")
    add("--input", metavar="FILE", help="or a SQuAD file")
    add("--ids", metavar="FILE", help="only these questions: one id a line, or JSON that has them")
    add(
        "--null-threshold",
        type=float,
        metavar="T",
        help="no answer where its score exceeds that of the best span by more (default: as in "
        "training)",
    )
    add("--n-best", type=int, metavar="N", help="answers listed for a question")
    add("--max-answer-length", type=int, metavar="N", help="most wordpieces of an answer")
    add_overrides(parser, WINDOWS)
    add(
        "--ensemble",
        default=ENSEMBLES[0],
        choices=ENSEMBLES,
        help="logits: the mean of all models' logits; paper: the most probable answer of one of "
        "them, none if any says none",
    )
    add("--batch-size", type=int, default=BATCH_SIZE, metavar="N", help="most rows of a batch")
    add("--cpu", action="store_true", help="use no GPU")
    return AnswerOptions(**vars(parser.parse_args()))


def main() -> int:
    """Answer; what goes wrong is one line on stderr."""
    options = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr, force=True)
    logging.getLogger("fairseq").setLevel(logging.WARNING)
    return command.run(lambda: answer_files(options), options.output_dir)


if __name__ == "__main__":
    sys.exit(main())
