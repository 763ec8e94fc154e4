"""Score translations: sacreBLEU and chrF with signatures, tokenised and compound-split BLEU.

    fairseq-plugins score --sys baseline.log syntax.log --ref test.de --lang de --paired

A system is a file of what fairseq-generate or fairseq-interactive printed, or of one sentence per
line. Without --ref, the T- lines of a generation log are the references.
"""

import argparse

from ..evaluation.choices import SUBWORDS, TOKENIZED

READ = ("sys", "ref")
PLACES = ("json", "ref")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    choice = {"nargs": "?", "const": "yes", "default": "auto", "choices": TOKENIZED}
    files = "translations of each system, those of the baseline first"
    add("--sys", nargs="+", required=True, metavar="FILE", help=files)
    add("--ref", metavar="FILE", help="reference translations (default: the T- lines of logs)")
    add("--lang", required=True, help="target language, e.g. de")
    moses = "whether the systems are Moses-tokenised (auto: detected from the text)"
    add("--tokenized", **choice, help=moses)
    moses = "whether the references of --ref are Moses-tokenised (auto: detected from the text)"
    add("--ref-tokenized", **choice, help=moses)
    marks = "kind of subword marks to remove (auto: detected from the text)"
    add("--subwords", default="auto", choices=SUBWORDS, help=marks)
    add("--paired", action="store_true", help="test against the first system by paired bootstrap")
    add("--samples", type=int, default=1000, help="number of bootstrap resamples")
    add("--seed", type=int, default=12345, help="random seed of the bootstrap, at least 1")
    add("--json", metavar="FILE", help="also write the report to this file")


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
