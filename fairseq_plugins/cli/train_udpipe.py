"""Train a UDPipe model on a Universal Dependencies treebank: tokenisation, tags, trees.

    fairseq-plugins train-udpipe --ud-dir UD_Chinese-GSDSimp --output zh_gsdsimp.udpipe

For all languages, also those that do not separate words by spaces. It needs the package
ufal.udpipe. Other commands take the model as --spacy-model udpipe:zh_gsdsimp.udpipe. The options of
its three parts are UDPipe's own; with the defaults, a small treebank trains in minutes.
"""

import argparse
from pathlib import Path

READ = ("ud_dir",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--ud-dir", type=Path, help="folder with *-ud-train.conllu and *-ud-dev.conllu")
    add("--output", type=Path, required=True, help="file to write the model to")
    add("--train", type=Path, help="CoNLL-U file to train on, in place of the treebank's split")
    dev = "CoNLL-U file of held-out sentences, in place of the treebank's split"
    add("--dev", type=Path, help=dev)
    tokenizer = "epochs=20;batch_size=50;dimension=24;early_stopping=1"
    tagger = "iterations=10;early_stopping=1"
    parser_options = (
        "iterations=5;hidden_layer=100;embedding_upostag=20;embedding_feats=20;embedding_deprel=20;"
        "structured_interval=0;transition_system=projective;transition_oracle=static"
    )
    for name, value in (("tokenizer", tokenizer), ("tagger", tagger), ("parser", parser_options)):
        add(f"--{name}", default=value, help=f"UDPipe's {name} options (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    """Train."""
    from ..text.pipeline.udpipe_training import train

    if not (args.ud_dir or args.train):
        raise ValueError("nothing to train on: give --ud-dir or --train")
    train(args)
