#!/usr/bin/env python
"""Show what one system gets right and another does not, differing words marked.

Translations: the sentences that one of two systems translates better.

    python scripts/compare_predictions.py baseline.log syntax.log --gold test.de --src test.en

Classes of sentences and pairs: examples that one of several systems gets right and another gets
wrong, from the JSON lines of scripts/predict.py or scripts/robustness.py.

    python scripts/compare_predictions.py runs/robustness/rte/BERT/1/SwapAnt.jsonl \\
        runs/robustness/rte/DABERT/1/SwapAnt.jsonl
    python scripts/compare_predictions.py plain.jsonl dabert.jsonl \\
        --src data-bin/rte/valid.examples.jsonl --positive entailment

Answers to questions: those that one of several systems gets right and another gets wrong, from the
predictions.json of scripts/predict_squad.py, with the context that they are asked about.

    python scripts/compare_predictions.py plain/predictions.json ensemble/predictions.json \\
        --gold dev-v2.0.json
"""

import argparse
import sys
from collections.abc import Callable

from fairseq_plugins import command
from fairseq_plugins.evaluation import text_comparison
from fairseq_plugins.evaluation.answer_comparison import answer_agreement, compare_answers
from fairseq_plugins.evaluation.comparison import METRICS
from fairseq_plugins.evaluation.comparison_report import compare_files, format_examples, short_names
from fairseq_plugins.evaluation.inputs import TextForm
from fairseq_plugins.evaluation.squad_files import read_predictions
from fairseq_plugins.evaluation.text_comparison_report import (
    compare_text_files,
    format_text_examples,
)
from fairseq_plugins.files import write_text
from fairseq_plugins.lab.figures.answer_examples import format_answer_examples
from fairseq_plugins.prep.qa_examples import read_asked

TRANSLATION, CLASSES, ANSWERS = "translations", "classes", "answers"
NOT_FOR = {  # options that say nothing there
    TRANSLATION: ("positive",),
    CLASSES: ("gold", "lang", "tokenized", "metric"),
    ANSWERS: ("src", "lang", "tokenized", "metric", "positive"),
}
NOUNS = {TRANSLATION: "sentences", CLASSES: "examples", ANSWERS: "questions"}
STYLES = ("markdown", "tsv")
SIDES = {"last": "second", "any": "both"}  # of two translations


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add what names the files and says what they hold."""
    add = parser.add_argument
    add(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="two generation logs or plain files; or more files of predictions or answers",
    )
    add(
        "--gold",
        metavar="FILE",
        help="translation: references (default: T- lines); answers: SQuAD JSON with answers, or "
        "SPLIT.examples.jsonl of a prepared folder",
    )
    add(
        "--src",
        metavar="FILE",
        help="translation: source sentences (default: S- lines, if any); classes: the texts, where "
        "the predictions do not hold them: SPLIT.examples.jsonl of a prepared folder, or one "
        "example a line with a TAB between its sentences",
    )
    add("--lang", help="translation: target language (default: de)")
    add(
        "--tokenized",
        choices=("auto", "yes", "no"),
        help="translation: systems are Moses tokens (default: auto)",
    )


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_files(parser)
    add = parser.add_argument
    add("--names", nargs="+", help="what to call the systems (default: what tells paths apart)")
    add("--metric", choices=METRICS, help="translation: sentence score (default: chrf)")
    add(
        "--better",
        default="last",
        choices=text_comparison.BETTER,
        help="which system has to be better, or right; both and any: whichever (default: last)",
    )
    add("--min-gap", type=float, default=0.0, help="smallest difference in points, or in %%")
    add(
        "--positive",
        metavar="CLASS",
        help="classes: whose probability is shown (default: 1 of 0 and 1, else the answer's)",
    )
    add("--max", type=int, default=10, help="how many to show (default: 10)")
    add("--markdown", metavar="FILE", help="write a Markdown table here")
    add("--tsv", metavar="FILE", help="write tab-separated values here")
    return parser.parse_args()


def kind_of(args: argparse.Namespace) -> str:
    """Return what the first system's file holds; that the others do is found as they are read.

    Raises:
        FileNotFoundError: one is not there.
        ValueError: answers beside other things, or options that are not for the kind.
    """
    first, *others = args.systems
    kind = _kind(first)
    for path in others:
        if kind != ANSWERS and _kind(path) == ANSWERS:
            raise ValueError(f"{first} holds {kind}, {path} {ANSWERS}")
    for name in NOT_FOR[kind]:
        if getattr(args, name) is not None:
            raise ValueError(f"--{name} is not for {kind}, which {first} holds")
    return kind


def _kind(path: str) -> str:
    if text_comparison.holds_answers(path):
        return ANSWERS
    return CLASSES if text_comparison.holds_predictions(path) else TRANSLATION


def compare_translations(args: argparse.Namespace) -> tuple[list, Callable[..., str], str]:
    """Return the sentences, what renders them, and no summary.

    Raises:
        FileNotFoundError, ValueError: see `compare_files`; more or fewer than two systems.
    """
    if len(args.systems) != 2:
        raise ValueError(f"{len(args.systems)} systems: translations are compared two by two")
    metric = args.metric or "chrf"
    form = TextForm(args.lang or "de", args.tokenized or "auto")
    criteria = {"better": SIDES.get(args.better, args.better), "min_gap": args.min_gap}
    found = compare_files(*args.systems, args.gold, args.src, form, metric=metric, **criteria)
    return found, lambda shown, **how: format_examples(shown, metric=metric, **how), ""


def compare_classes(args: argparse.Namespace) -> tuple[list, Callable[..., str], str]:
    """Return the examples, what renders them, and how far systems agree.

    Raises:
        FileNotFoundError, ValueError: see `compare_text_files`.
    """
    found = compare_text_files(args.systems, args.src, better=args.better, min_gap=args.min_gap)
    summary = text_comparison.agreement([*map(text_comparison.read_predictions, args.systems)])
    positive = args.positive or ""
    return (
        found,
        lambda shown, **how: format_text_examples(shown, positive=positive, **how),
        summary,
    )


def compare_questions(args: argparse.Namespace) -> tuple[list, Callable[..., str], str]:
    """Return the questions, what renders them, and how far systems agree.

    Raises:
        FileNotFoundError, ValueError: see `read_asked` and `compare_answers`; no ``--gold``.
    """
    if args.gold is None:
        raise ValueError(f"{args.systems[0]} holds answers: --gold names the questions")
    asked = read_asked(args.gold, contexts=True)
    gold = {name: question.golds for name, question in asked.items()}
    systems = [(path, read_predictions(path)) for path in args.systems]
    found = compare_answers(gold, systems, better=args.better, min_gap=args.min_gap)
    summary = answer_agreement(gold, systems)
    return found, lambda shown, **how: format_answer_examples(shown, asked, **how), summary


COMPARE = {
    TRANSLATION: compare_translations,
    CLASSES: compare_classes,
    ANSWERS: compare_questions,
}


def compare(args: argparse.Namespace) -> None:
    """Compare, print, and write the tables asked for.

    Raises:
        FileNotFoundError, ValueError: what `kind_of` and the functions of `COMPARE` refuse; more or
            fewer names than systems.
    """
    kind = kind_of(args)
    found, render, summary = COMPARE[kind](args)
    names = tuple(args.names or short_names(args.systems))
    if len(names) != len(args.systems):
        raise ValueError(f"--names gives {len(names)} names for {len(args.systems)} systems")
    shown = found[: max(args.max, 0)]
    tables = {style: render(shown, names=names, style=style) for style in ("text", *STYLES)}
    print(tables["text"], end="")
    print(f"{len(shown)} of {len(found)} such {NOUNS[kind]} shown")
    if summary:
        print(summary)
    for style in STYLES:
        if getattr(args, style):
            write_text(getattr(args, style), tables[style])


def main() -> int:
    """Compare; what goes wrong is one line on stderr."""
    args = parse_args()
    return command.run(lambda: compare(args), args.systems[0])


if __name__ == "__main__":
    sys.exit(main())
