"""Answer the questions of a prepared split or a SQuAD file; write files in SQuAD's official form.

    fairseq-plugins answer runs/squad --split valid --output answers
    fairseq-plugins answer runs/squad --input dev-v2.0.json --output answers
    fairseq-plugins answer runs/a:runs/b --ensemble paper --split valid --output ab

The output folder gets predictions.json, null_odds.json and nbest_predictions.json, and metrics.json
if gold answers are known.
"""

import argparse

from ..inference.options import AnswerOptions
from ..option_flags import add_flags
from . import command

READ = ("checkpoint", "input", "data")
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_flags(parser, AnswerOptions, strict=True)


def run(args: argparse.Namespace) -> None:
    from ..inference.answer_files import answer_files

    command.show_log("INFO")
    answer_files(AnswerOptions(**vars(args)))
