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
"""

import argparse
import sys
from collections.abc import Callable

from fairseq_plugins import command
from fairseq_plugins.evaluation import text_comparison
from fairseq_plugins.evaluation.comparison import METRICS
from fairseq_plugins.evaluation.comparison_report import compare_files, format_examples, short_names
from fairseq_plugins.evaluation.inputs import TextForm
from fairseq_plugins.evaluation.text_comparison_report import (
    compare_text_files,
    format_text_examples,
)
from fairseq_plugins.evaluation.text_files import write_text

TRANSLATION_ONLY = ("gold", "lang", "tokenized", "metric")
STYLES = ("markdown", "tsv")
SIDES = {"last": "second", "any": "both"}  # of two translations


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="two generation logs or plain files; or two or more files of predictions",
    )
    add("--gold", metavar="FILE", help="translation: references (default: T- lines)")
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
        default="",
        metavar="CLASS",
        help="classes: whose probability is shown (default: 1 of 0 and 1, else the answer's)",
    )
    add("--max", type=int, default=10, help="how many to show (default: 10)")
    add("--markdown", metavar="FILE", help="write a Markdown table here")
    add("--tsv", metavar="FILE", help="write tab-separated values here")
    return parser.parse_args()


def compare_translations(args: argparse.Namespace) -> tuple[list, Callable[..., str]]:
    """Return the sentences, and what renders them.

    Raises:
        FileNotFoundError, ValueError: see `compare_files`; more or fewer than two systems.
    """
    if len(args.systems) != 2 or args.positive:
        what = f"{len(args.systems)} systems were given" if not args.positive else "--positive"
        raise ValueError(f"{what}: translations are compared two by two, without classes")
    metric = args.metric or "chrf"
    form = TextForm(args.lang or "de", args.tokenized or "auto")
    criteria = {"better": SIDES.get(args.better, args.better), "min_gap": args.min_gap}
    found = compare_files(*args.systems, args.gold, args.src, form, metric=metric, **criteria)
    return found, lambda shown, **how: format_examples(shown, metric=metric, **how)


def compare_classes(args: argparse.Namespace) -> tuple[list, Callable[..., str]]:
    """Return the examples, and what renders them.

    Raises:
        FileNotFoundError, ValueError: see `compare_text_files`; options of translations.
    """
    for name in TRANSLATION_ONLY:
        if getattr(args, name) is not None:
            raise ValueError(f"--{name} is for translations; {args.systems[0]} holds predictions")
    criteria = {"better": args.better, "min_gap": args.min_gap}
    found = compare_text_files(args.systems, args.src, **criteria)
    return found, lambda shown, **how: format_text_examples(shown, positive=args.positive, **how)


def compare(args: argparse.Namespace) -> None:
    """Compare, print, and write the tables asked for.

    Raises:
        FileNotFoundError, ValueError: what `compare_translations` and `compare_classes` refuse;
            more or fewer names than systems.
    """
    for system in args.systems:
        text_comparison.refuse_answers(system)
    is_text = text_comparison.holds_predictions(args.systems[0])
    found, render = (compare_classes if is_text else compare_translations)(args)
    names = tuple(args.names or short_names(args.systems))
    if len(names) != len(args.systems):
        raise ValueError(f"--names gives {len(names)} names for {len(args.systems)} systems")
    shown = found[: max(args.max, 0)]
    tables = {style: render(shown, names=names, style=style) for style in ("text", *STYLES)}
    print(tables["text"], end="")
    print(f"{len(shown)} of {len(found)} such {'examples' if is_text else 'sentences'} shown")
    if is_text:
        print(text_comparison.agreement([*map(text_comparison.read_predictions, args.systems)]))
    for style in STYLES:
        if getattr(args, style):
            write_text(getattr(args, style), tables[style])


def main() -> int:
    """Compare; what goes wrong is one line on stderr."""
    args = parse_args()
    return command.run(lambda: compare(args), args.systems[0])


if __name__ == "__main__":
    sys.exit(main())
