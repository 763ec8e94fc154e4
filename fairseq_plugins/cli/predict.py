"""Predict classes, scores, sets of labels or word labels for a prepared split or for raw text.

    fairseq-plugins predict runs/cola --split valid --metrics valid.json --output valid.jsonl
    fairseq-plugins predict runs/emotions --split valid --tune-thresholds
    fairseq-plugins predict runs/cola --split test --submission-dir submission
    echo "The cat sat on the mat." | fairseq-plugins predict runs/cola --input -
    fairseq-plugins predict runs/mine --input mine.csv --text-column text --keep-columns
    fairseq-plugins predict runs/wnut17 --input words.conll --input-format conll --format conll

Several checkpoints joined by ':' are an ensemble: their probabilities or scores are averaged.
"""

import argparse

from ..inference.options import PredictionOptions
from ..option_flags import add_flags
from . import command

READ = ("checkpoint", "input", "data")
PLACES = ("checkpoint",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_flags(parser, PredictionOptions, strict=True)


def run(args: argparse.Namespace) -> None:
    from ..inference.prediction_files import predict_files

    command.show_log("INFO")
    predict_files(PredictionOptions(**vars(args)))
