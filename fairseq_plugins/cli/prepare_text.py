"""Prepare a dataset for `--task text_classification` or `--task sequence_labeling`.

    fairseq-plugins prepare text --dataset cola --raw-dir CoLA --destdir data-bin/cola
    fairseq-plugins prepare text --dataset plain --train-file train.tsv --valid-file valid.tsv \\
        --text-column sentence --label-column label --destdir data-bin/mine
    fairseq-plugins prepare text --dataset snli --raw-dir snli_1.0 --destdir data-bin/snli \\
        --words-from train --min-count 2 --lowercase --layers none

On several machines (here two), run the same command on each, with --shard 1/2 and --shard 2/2; when
all have finished, run it with --merge.
"""

import argparse

from ..prep.recipes.text_options import add_text_flags, options_from
from . import command

READ = (
    "raw_dir",
    "train_file",
    "valid_file",
    "test_file",
    "train_conllu",
    "valid_conllu",
    "test_conllu",
    "layer_dicts",
)
PLACES, STOPPED = ("destdir",), "stopped; run the same command again to go on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_text_flags(parser)


def run(args: argparse.Namespace) -> None:
    from ..prep.recipes.text import prepare

    command.show_log("INFO", command.TIMED)
    prepare(options_from(vars(args)))
