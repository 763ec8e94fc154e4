"""Show what one system gets right and another does not, with the differing words marked.

Translations: the sentences that one of two systems translates better.

    fairseq-plugins compare baseline.log syntax.log --gold test.de --src test.en

Classes of sentences and pairs: examples that one of several systems gets right and another gets
wrong, from the JSON lines of `predict` or `robustness`.

    fairseq-plugins compare runs/robustness/rte/BERT/1/SwapAnt.jsonl \\
        runs/robustness/rte/DABERT/1/SwapAnt.jsonl
    fairseq-plugins compare plain.jsonl dabert.jsonl \\
        --src data-bin/rte/valid.examples.jsonl --positive entailment

Answers to questions: those that one of several systems gets right and another gets wrong, from the
predictions.json that `answer` writes, with the context that the question is about.

    fairseq-plugins compare plain/predictions.json ensemble/predictions.json \\
        --gold dev-v2.0.json
"""

import argparse

from ..evaluation.contrast import ContrastOptions
from ..option_flags import add_flags

READ = ("gold",)
PLACES = ("systems",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    files = (
        "two generation logs or plain files of translations; or two or more files of predictions "
        "or answers"
    )
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help=files)
    names = "names of the systems (default: the part of their paths that differs)"
    parser.add_argument("--names", nargs="+", help=names)
    add_flags(parser, ContrastOptions, strict=True)


def run(args: argparse.Namespace) -> None:
    """Compare, print, and write the tables asked for."""
    from functools import partial

    from ..evaluation.contrast_files import compare_files
    from ..prep.qa_examples import read_asked

    options = ContrastOptions(**vars(args))
    print(compare_files(options, partial(read_asked, contexts=True)), end="")
