"""Train a spaCy pipeline on a Universal Dependencies treebank: tags, morphology, lemmas, trees.

    fairseq-plugins train-pipeline --ud-dir UD_German-GSD --out de_gsd_small

spaCy's stock CPU configuration ("efficiency"): one tok2vec shared by a morphologizer, a tagger, an
edit-tree lemmatizer and a transition parser, as far as the treebank has what they learn. Training
mixes in lower-cased and Moses-tokenised variants, keeps the pipeline that scores best on the
development split and may be interrupted: what was best so far is saved. score-pipeline measures it
afterwards; --spacy-model takes it.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    folder = "treebank: *-ud-train.conllu, *-ud-dev.conllu, *-ud-test.conllu"
    add("--ud-dir", type=Path, required=True, help=folder)
    add("--out", type=Path, required=True, help="the pipeline's directory")
    add("--train", type=Path, help="CoNLL-U file to train on, in place of the treebank's split")
    add("--dev", type=Path, help="CoNLL-U file to choose the best pipeline on, likewise")
    add("--lang", default="", help="language code (default: of the names of the treebank's files)")
    text = "what it is to give beside pos: morph, tag, lemma, heads (default: all there is)"
    add("--layers", default="", help=text)
    add("--license", default="", help="the treebank's licence (default: what its README says)")
    add("--source", default="", help="the treebank's name (default: its folder's)")
    add("--url", default="", help="where it is published, for the card")
    add("--author", default="", help="who made it, for the card")
    add("--steps", type=int, default=7000, help="updates of about 1,000 words")
    add("--minutes", type=float, default=120, help="stop after this long")
    add("--eval-every", type=int, default=500, help="updates between scorings")
    add("--variant-rate", type=float, default=0.2, help="share of each variant")
    add("--seed", type=int, default=1, help="of all choices")
    rows = [5000, 1000, 2500, 2500]
    add("--rows", type=int, nargs=4, default=rows, help="hash rows for norm, prefix, suffix, shape")


def run(args: argparse.Namespace) -> None:
    """Train."""
    from ..text.pipeline.training import train

    train(args)
