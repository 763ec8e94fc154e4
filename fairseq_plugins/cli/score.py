"""Score translations: sacreBLEU and chrF with signatures, tokenised and compound-split BLEU.

    fairseq-plugins score --sys baseline.log syntax.log --ref test.de --lang de --paired

A system is what fairseq-generate or fairseq-interactive printed, or one sentence a line.
Without --ref the T- lines of a generation log are the references.
"""

import argparse

from ..evaluation.choices import SUBWORDS, TOKENIZED

PLACES = ("json", "ref")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    choice = {"nargs": "?", "const": "yes", "default": "auto", "choices": TOKENIZED}
    add("--sys", nargs="+", required=True, metavar="FILE", help="systems, the baseline first")
    add("--ref", metavar="FILE", help="references (default: T- lines)")
    add("--lang", required=True, help="target language, e.g. de")
    add("--tokenized", **choice, help="systems are Moses tokens (default: by their look)")
    add("--ref-tokenized", **choice, help="the same for --ref")
    add("--subwords", default="auto", choices=SUBWORDS, help="subword marks to remove")
    add("--paired", action="store_true", help="paired bootstrap against the first system")
    add("--samples", type=int, default=1000, help="bootstrap resamples")
    add("--seed", type=int, default=12345, help="bootstrap seed, at least 1")
    add("--json", metavar="FILE", help="write the report here as well")


def run(args: argparse.Namespace) -> None:
    """Score, print, and write JSON if asked to."""
    from ..evaluation.score_report import format_report, score_files
    from ..evaluation.translation import TextForm
    from ..files import write_text

    form = TextForm(args.lang, args.tokenized, args.ref_tokenized, args.subwords)
    report = score_files(
        args.sys, args.ref, form, paired=args.paired, samples=args.samples, seed=args.seed
    )
    print(format_report(report), end="")
    if args.json:
        write_text(args.json, report.as_json())
