#!/usr/bin/env python
"""Show what one system gets right and another does not, differing words marked.

Translations: the sentences that one of two systems translates better.

    python scripts/compare_predictions.py baseline.log syntax.log --gold test.de --src test.en

Classes of sentences and pairs: examples that one of several systems gets right and another gets
wrong, from the JSON lines of scripts/predict.py or scripts/robustness.py.

    python scripts/compare_predictions.py runs/robustness/rte/BERT/1/SwapAnt.jsonl \\
        runs/robustness/rte/DABERT/1/SwapAnt.jsonl
    python scripts/compare_predictions.py plain.jsonl dabert.jsonl \\
        --src data-bin/rte/valid.examples.jsonl --positive entailment

Answers to questions: those that one of several systems gets right and another gets wrong, from the
predictions.json of scripts/predict_squad.py, with the context that they are asked about.

    python scripts/compare_predictions.py plain/predictions.json ensemble/predictions.json \\
        --gold dev-v2.0.json
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

from fairseq_plugins import command
from fairseq_plugins.evaluation.contrast_files import ContrastOptions, compare_files
from fairseq_plugins.option_flags import add_flags
from fairseq_plugins.prep.qa_examples import read_asked


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="two generation logs or plain files; or more files of predictions or answers",
    )
    parser.add_argument(
        "--names", nargs="+", help="what to call the systems (default: what tells paths apart)"
    )
    add_flags(parser, ContrastOptions, strict=True)
    return parser.parse_args()


def compare(args: argparse.Namespace) -> None:
    """Compare, print, and write the tables asked for.

    Raises:
        FileNotFoundError, ValueError: see `compare_files`.
    """
    options = ContrastOptions(**vars(args))
    print(compare_files(options, partial(read_asked, contexts=True)), end="")


def main() -> int:
    """Compare; what goes wrong is one line on stderr."""
    args = parse_args()
    return command.run(lambda: compare(args), args.systems[0])


if __name__ == "__main__":
    sys.exit(main())
