"""Train a spaCy pipeline on a Universal Dependencies treebank: tags, morphology, lemmas, trees.

    fairseq-plugins train-pipeline --ud-dir UD_German-GSD --output de_gsd_small

spaCy's stock CPU configuration ("efficiency"): one tok2vec shared by a morphologizer, a tagger, an
edit-tree lemmatizer and a transition parser, as far as the treebank has annotation for them.
Training adds lower-cased and Moses-tokenised variants of some sentences, and keeps the pipeline
that scores best on the development split. It may be interrupted: the best pipeline so far is saved.
score-pipeline scores it afterwards; other commands take it as --spacy-model.
"""

import argparse
from pathlib import Path

READ = ("ud_dir",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    folder = "folder of the treebank: *-ud-train.conllu, *-ud-dev.conllu, *-ud-test.conllu"
    add("--ud-dir", type=Path, required=True, help=folder)
    add("--output", type=Path, required=True, help="directory to write the pipeline to")
    add("--train", type=Path, help="CoNLL-U file to train on, in place of the treebank's split")
    dev = "CoNLL-U file to choose the best pipeline on, in place of the treebank's split"
    add("--dev", type=Path, help=dev)
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


def run(args: argparse.Namespace) -> None:
    """Train."""
    from ..text.pipeline.training import train

    train(args)
