"""Score a pipeline of train-pipeline on the test split of its treebank.

    fairseq-plugins score-pipeline --ud-dir UD_English-EWT --out en_ewt_small

The figures go into the pipeline's meta.json and its card.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--ud-dir", type=Path, required=True, help="UD English-EWT: train, dev, test .conllu")
    add("--out", type=Path, required=True, help="the pipeline's directory")


def run(args: argparse.Namespace) -> None:
    """Score, and print the figures."""
    from ..text.pipeline.training import evaluate

    for name, value in evaluate(args.ud_dir, args.out).items():
        print(f"{name:28s} {value:10.2f}")
