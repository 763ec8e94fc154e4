"""Prepare parallel text for `--task syntax_translation` (and stock `--task translation`).

    fairseq-plugins prepare translation -s en -t de --trainpref corpus/train \\
        --validpref corpus/valid --testpref corpus/test --destdir data-bin/corpus

On several machines (here two), run the same command on each, with --shard 1/2 and --shard 2/2; when
all have finished, run it with --merge.

With --samples 5 (BPE dropout, or the sampling of sentencepiece) it also writes five folders whose
training text is cut into subwords by chance, and prints the list of them for fairseq-train.
"""

import argparse

from ..option_flags import add_flags
from ..prep.recipes.translation_options import TranslationOptions
from . import command

UNGIVEN = True  # an option that is not given is None: --like gives the value, else the default
READ = (
    "bpe_codes",
    "sentencepiece_model",
    "srcdict",
    "tgtdict",
    "like",
    "like_model",
    "layer_dicts",
)
PLACES, STOPPED = ("destdir",), "stopped; run the same command again to go on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_flags(parser, TranslationOptions)
    parser.add_argument(
        "--like",
        metavar="FOLDER",
        help="take the settings of a prepared folder: languages, tokeniser, normaliser, subwords, "
        "dictionaries, features, trees and tagger",
    )
    parser.add_argument(
        "--like-model",
        metavar="FOLDER",
        help="take subwords, dictionaries and language tokens of a trained model: fairseq's folder "
        "with dict.LANG.txt and codes or a sentencepiece model, or a Hugging Face directory "
        "(M2M-100, NLLB, mBART); for training with --pretrained FOLDER",
    )


def run(args: argparse.Namespace) -> None:
    from ..prep.recipes.like import options_of
    from ..prep.recipes.samples import training_folders
    from ..prep.recipes.translation import prepare

    command.show_log("INFO", command.TIMED)
    options = options_of(vars(args))
    prepare(options)
    if options.samples and not options.shard:
        print(f"data of fairseq-train: {training_folders(options)}")
