"""Put grammatical errors into the sentences of an English treebank, for error detection.

    fairseq-plugins augment errors --conllu en_ewt-ud-train.conllu --output errors/train.tsv \\
        --seed 1
    fairseq-plugins prepare text --dataset token_errors --raw-dir errors --destdir data-bin/errors

Each line of the output has a word, a tab, and c (correct) or i (incorrect), as in the files of FCE.
With --trees, the treebank's own trees can be compared with a parser's (prepare text
--train-conllu). They are the trees of what was meant: a word that is kept keeps its head, an added
word depends on its neighbour.
"""

import argparse
from pathlib import Path

from ..augment.error_injection import Injection, inject_file
from ..option_flags import add_flags

READ = ("conllu",)
PLACES = ("output", "trees")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--conllu", type=Path, required=True, help="treebank (CoNLL-U) with UPOS and FEATS")
    add("--output", type=Path, required=True, help="token file to write")
    trees = "also write the same sentences as CoNLL-U, with the treebank's trees carried over"
    add("--trees", type=Path, metavar="FILE", help=trees)
    add_flags(parser, Injection)


def run(args: argparse.Namespace) -> None:
    """Inject, and print the counts."""
    injection = Injection(args.seed, args.rate, args.erroneous, args.kinds)
    counts = inject_file(args.conllu, args.output, injection, args.trees)
    print(
        f"{counts['sentences']} sentences, {counts['erroneous']} with errors, "
        f"{counts['untouched']} to which no kind applies\n"
        f"{counts['words']} words, {counts['wrong']} incorrect"
    )
    for kind in injection.names:
        print(f"{kind}\t{counts[kind]}")
