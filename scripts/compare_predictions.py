#!/usr/bin/env python
"""Show the sentences that one of two systems translates better, differing words marked.

python scripts/compare_predictions.py baseline.log syntax.log --gold test.de --src test.en
"""

import argparse
import sys

from fairseq_plugins.evaluation.comparison import BETTER, METRICS
from fairseq_plugins.evaluation.comparison_report import compare_files, format_examples, short_names
from fairseq_plugins.evaluation.inputs import TextForm
from fairseq_plugins.evaluation.text_files import write_text


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("systems", nargs=2, metavar="SYSTEM", help="generation logs or plain files")
    add("--gold", metavar="FILE", help="references (default: T- lines)")
    add("--src", metavar="FILE", help="source sentences (default: S- lines, if any)")
    add("--lang", default="de", help="target language (default: de)")
    add(
        "--tokenized",
        default="auto",
        choices=("auto", "yes", "no"),
        help="systems are Moses tokens",
    )
    add("--names", nargs=2, help="what to call the systems (default: what tells their paths apart)")
    add("--metric", default="chrf", choices=METRICS, help="sentence score (default: chrf)")
    add("--better", default="second", choices=BETTER, help="which system has to be better")
    add("--min-gap", type=float, default=0.0, help="smallest difference in points")
    add("--max", type=int, default=10, help="how many to show (default: 10)")
    add("--markdown", metavar="FILE", help="write a Markdown table here")
    add("--tsv", metavar="FILE", help="write tab-separated values here")
    return parser.parse_args()


def main() -> None:
    """Compare, print, and write the tables asked for."""
    args = parse_args()
    form = TextForm(args.lang, args.tokenized)
    criteria = {"metric": args.metric, "better": args.better, "min_gap": args.min_gap}
    try:
        found = compare_files(*args.systems, args.gold, args.src, form, **criteria)
    except (ValueError, FileNotFoundError) as error:
        sys.exit(f"error: {error}")
    names = tuple(args.names or short_names(args.systems))
    shown = found[: max(args.max, 0)]
    print(format_examples(shown, names=names, metric=args.metric), end="")
    print(f"{len(shown)} of {len(found)} such sentences shown")
    for path, style in ((args.markdown, "markdown"), (args.tsv, "tsv")):
        if path:
            table = format_examples(shown, names=names, metric=args.metric, style=style)
            write_text(path, table)


if __name__ == "__main__":
    main()
