"""Train an annotator on a Universal Dependencies treebank, with spaCy or UDPipe; or score one.

    fairseq-plugins train-pipeline --ud-dir UD_German-GSD --output de_gsd_small
    fairseq-plugins train-pipeline --ud-dir UD_German-GSD --output de_gsd_small --score
    fairseq-plugins train-pipeline --ud-dir UD_Chinese-GSDSimp --output zh_gsdsimp.udpipe

A folder is a spaCy pipeline: tags, morphology, lemmas and trees. spaCy trains it by its CPU
configuration ("efficiency"): one tok2vec shared by a morphologizer, a tagger, an edit-tree
lemmatizer and a transition parser, as far as the treebank has annotation for them. Training adds
lower-cased and Moses-tokenised variants of some sentences, and keeps the pipeline that scores best
on the development split. It may be interrupted: the best pipeline so far is kept. If the process is
killed, that is in OUTPUT.training/model-best, which no later training removes. --score scores a
pipeline on the test split, into its scores.json and its model card.

A file NAME.udpipe is a model of UDPipe, for all languages, also those that do not separate words by
spaces. It needs the package ufal.udpipe; with the default options, a small treebank trains in
minutes.

An OUTPUT that is there already is refused. Other commands take the result as --spacy-model
de_gsd_small or --spacy-model udpipe:NAME.udpipe.
"""

import argparse
from pathlib import Path

from ..errors import InputError

READ = ("ud_dir",)
UDPIPE = {
    "tokenizer": "epochs=20;batch_size=50;dimension=24;early_stopping=1",
    "tagger": "iterations=10;early_stopping=1",
    "parser": "iterations=5;hidden_layer=100;embedding_upostag=20;embedding_feats=20;"
    "embedding_deprel=20;structured_interval=0;transition_system=projective;"
    "transition_oracle=static",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    folder = "folder of the treebank: *-ud-train.conllu, *-ud-dev.conllu, *-ud-test.conllu"
    add("--ud-dir", type=Path, help=folder)
    written = "folder to write a spaCy pipeline to, or NAME.udpipe"
    add("--output", type=Path, required=True, help=written)
    add("--train", type=Path, help="CoNLL-U file to train on, in place of the treebank's split")
    dev = "CoNLL-U file to choose the best model on, in place of the treebank's split"
    add("--dev", type=Path, help=dev)
    scored = "score the spaCy pipeline on the treebank's test split, in place of training"
    add("--score", action="store_true", help=scored)
    add = parser.add_argument_group("spaCy").add_argument
    add("--lang", default="", help="language code (default: from the treebank's file names)")
    text = "layers to learn besides pos: morph, tag, lemma, heads (default: all the treebank has)"
    add("--layers", default="", help=text)
    add("--license", default="", help="the treebank's licence (default: as in its README)")
    add("--source", default="", help="the treebank's name (default: its folder's name)")
    add("--url", default="", help="web address of the treebank, for the model card")
    add("--author", default="", help="authors of the treebank, for the model card")
    add("--steps", type=int, default=7000, help="number of updates, of up to about 1,000 words")
    add("--minutes", type=float, default=120, help="stop after this many minutes")
    add("--eval-every", type=int, default=500, help="number of updates between evaluations")
    variants = (
        "share of the sentences added lower-cased, and as large a share added as Moses tokens"
    )
    add("--variant-rate", type=float, default=0.2, help=variants)
    add("--seed", type=int, default=1, help="random seed")
    rows = [5000, 1000, 2500, 2500]
    sizes = "rows of the hash embeddings for norm, prefix, suffix and shape of a word"
    add("--rows", type=int, nargs=4, default=rows, help=sizes)
    add = parser.add_argument_group("UDPipe").add_argument
    for name, value in UDPIPE.items():
        add(f"--{name}", default=value, help=f"UDPipe's {name} options (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    """Train, or score and print the figures."""
    is_udpipe = args.output.suffix == ".udpipe"
    if is_udpipe and args.score:
        raise InputError(f"--score is for spaCy pipelines, not for {args.output}")
    from ..text.pipeline import scores, training, udpipe_training
    from ..text.pipeline.treebank import split_file

    if not (args.ud_dir or args.train and is_udpipe):
        raise InputError("give the treebank: --ud-dir (for UDPipe, --train does as well)")
    if (args.output.exists() or args.output.is_symlink()) and not args.score:
        raise InputError(f"--output {args.output} is there already: name another, or remove it")
    if is_udpipe:
        udpipe_training.train(args)
    elif args.score:
        for name, value in scores.evaluate(split_file(args.ud_dir, "test"), args.output).items():
            print(f"{name:28s} {value:10.2f}")
    else:
        training.train(args)
