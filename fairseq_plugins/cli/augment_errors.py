"""Put grammatical errors into the sentences of an English treebank, for error detection.

    fairseq-plugins augment errors --conllu en_ewt-ud-train.conllu --output errors/train.tsv \\
        --seed 1
    fairseq-plugins prepare text --dataset token_errors --raw-dir errors --destdir data-bin/errors

The output has a word a line, a tab and c (correct) or i (incorrect), as the files of FCE have.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..augment.error_injection import Injection, inject_file
from ..augment.error_rules import RULES

PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--conllu", type=Path, required=True, help="treebank, with UPOS and FEATS")
    add("--output", type=Path, required=True, help="token file to write")
    add("--seed", type=int, required=True, help="of all choices")
    add(
        "--rate",
        type=float,
        default=Injection.rate,
        help="expected errors a word in sentences with errors, which have one at least "
        "(default: %(default)s)",
    )
    add(
        "--erroneous",
        type=float,
        default=Injection.erroneous,
        help="share of sentences that get errors (default: %(default)s)",
    )
    kinds = ",".join(RULES)
    add("--kinds", default=kinds, help="comma-separated kinds (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    """Inject, and print the counts."""
    kinds = tuple(kind.strip() for kind in args.kinds.split(","))
    injection = Injection(args.seed, args.rate, args.erroneous, kinds)
    counts = inject_file(args.conllu, args.output, injection)
    print(
        f"{counts['sentences']} sentences, {counts['erroneous']} with errors, "
        f"{counts['untouched']} to which no kind applies\n"
        f"{counts['words']} words, {counts['wrong']} incorrect"
    )
    for kind in kinds:
        print(f"{kind}\t{counts[kind]}")
