"""Prepare SQuAD files (1.1 or 2.0) for `--task extractive_qa`.

    fairseq-plugins prepare questions --raw-dir squad --destdir data-bin/squad2
    fairseq-plugins prepare questions --train-file train.json --valid-file dev.json \\
        --layers none --max-positions 512 --destdir data-bin/mine

On several machines (here two), run the same command on each, with --shard 1/2 and --shard 2/2; when
all have finished, run it with --merge.
"""

import argparse

from ..option_flags import add_flags
from ..prep.recipes.question_options import QuestionOptions
from . import command

READ = ("raw_dir", "train_file", "valid_file", "test_file", "layer_dicts")
PLACES, STOPPED = ("destdir",), "stopped; run the same command again to go on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_flags(parser, QuestionOptions)


def run(args: argparse.Namespace) -> None:
    from ..prep.recipes.questions import prepare

    command.show_log("INFO", command.TIMED)
    prepare(QuestionOptions(**vars(args)))
