"""Show what one system gets right and another does not, with the differing words marked.

Translations: the sentences that one of two systems translates better.

    fairseq-plugins compare baseline.log syntax.log --gold test.de --src test.en

Classes of sentences and pairs: examples that one of several systems gets right and another gets
wrong, from the JSON lines of `predict` or `robustness`.

    fairseq-plugins compare BERT=runs/robustness/rte/BERT/1/SwapAnt.jsonl \\
        DABERT=runs/robustness/rte/DABERT/1/SwapAnt.jsonl
    fairseq-plugins compare plain.jsonl dabert.jsonl \\
        --src data-bin/rte/valid.examples.jsonl --positive entailment

Answers to questions: those that one of several systems gets right and another gets wrong, from the
predictions.json that `answer` writes, with the context that the question is about. The wrong
answers are counted by question word (what, who, ...).

    fairseq-plugins compare plain/predictions.json ensemble/predictions.json \\
        --gold dev-v2.0.json

Models of pairs, of which one has difference attention (DABERT): pairs that one model gets right and
another gets wrong, or all pairs of one model or without labels, with the words that receive most
difference attention from the other sentence, in %.

    fairseq-plugins compare runs/rte/plain runs/rte/dabert --split valid
    fairseq-plugins compare runs/rte/dabert --pair "12 people came." "42 people came."
"""

import argparse
import os
from dataclasses import fields

from ..evaluation.contrast import ContrastOptions
from ..inference.options import PairOptions
from ..option_flags import add_flags, flag_of
from . import command

READ = ("systems", "gold", "input", "data")
PLACES = ("html",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    files = (
        "two generation logs or plain files of translations; two or more files of predictions or "
        "answers; or run folders or checkpoints of models of pairs (default name: the part of "
        "their paths that differs)"
    )
    add("systems", nargs="+", metavar="[NAME=]SYSTEM", help=files)
    add_flags(parser, ContrastOptions, strict=True)
    pair = "models: two raw sentences; may be repeated"
    add("--pair", nargs=2, action="append", metavar="SENTENCE", help=pair)
    add_flags(parser, PairOptions, strict=True)


def run(args: argparse.Namespace) -> None:
    """Compare, print, and write the outputs."""
    options = ContrastOptions(
        **{spec.name: getattr(args, spec.name) for spec in fields(ContrastOptions)}
    )
    pairs = PairOptions(**{spec.name: getattr(args, spec.name) for spec in fields(PairOptions)})
    command.show_log()
    first = options.named[1][0]
    if os.path.isdir(first.split(os.pathsep)[0]) or first.endswith(".pt"):
        if sum(map(bool, (pairs.pair, pairs.input, pairs.split))) != 1:
            alone = "give one of --pair, --input and --split"
            raise command.UsageError(f"models judge pairs: {alone}")
        from ..inference.difference_study import compare_models

        print(compare_models(options, pairs), end="")
        return
    for spec in fields(PairOptions):
        if getattr(pairs, spec.name) != spec.default:
            raise command.UsageError(f"{flag_of(spec.name)} is for models, and {first} is a file")
    from functools import partial

    from ..evaluation.contrast_kinds import compare_files
    from ..prep.qa_examples import read_asked

    print(compare_files(options, partial(read_asked, contexts=True)), end="")
