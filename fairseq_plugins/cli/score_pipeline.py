"""Score a pipeline that train-pipeline made, on the test split of its treebank.

    fairseq-plugins score-pipeline --ud-dir UD_German-GSD --output de_gsd_small

The scores are printed, and written into the pipeline's scores.json and its model card.
"""

import argparse
from pathlib import Path

READ = ("ud_dir",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--ud-dir", type=Path, required=True, help="folder with *-ud-test.conllu or test.conllu")
    add("--output", type=Path, required=True, help="directory of the pipeline to score")


def run(args: argparse.Namespace) -> None:
    """Score, and print the figures."""
    from ..text.pipeline.training import evaluate
    from ..text.pipeline.treebank import split_file

    for name, value in evaluate(split_file(args.ud_dir, "test"), args.output).items():
        print(f"{name:28s} {value:10.2f}")
