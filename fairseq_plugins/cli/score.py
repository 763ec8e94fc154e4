"""Score translations by BLEU, chrF, TER and COMET, or answers as SQuAD's official evaluation does.

    fairseq-plugins score --sys baseline.log syntax.log --ref test.de --lang de --paired
    fairseq-plugins score --sys mine.de --test-set wmt14/full en-de
    fairseq-plugins score --sys mine.de --ref test.de --src test.en --lang de \\
        --comet models/wmt22-comet-da --comet-encoder models/xlm-roberta-large
    fairseq-plugins score --sys predictions.json --ref dev.json
    fairseq-plugins score --sys predictions.json --ref dev.json --null-odds null_odds.json

Translations (sacreBLEU's BLEU, chrF and TER with signatures, tokenised and compound-split BLEU): a
system is a file of what fairseq-generate or fairseq-interactive printed, or of one sentence per
line, or SGML (.sgm). Several files of --ref are several references of the same sentences. Without
--ref and --test-set, the T- lines of a generation log are the references. COMET needs a folder of
the metric and, for its tokeniser, a directory of its encoder; nothing is downloaded.

Answers, if --ref is a SQuAD file (.json, 1.1 or 2.0): predictions are a JSON object that maps
question ids to texts; an empty text means no answer. With --null-odds there is no answer either
where the odds exceed --threshold, which should be that of `answer` (null_threshold in its
metrics.json). The best scores, which are then told too, are those of any threshold only if no text
was emptied: answer --null-threshold 1e9 writes such a file.
"""

import argparse
from typing import Any

from ..evaluation.choices import MISSING, SUBWORDS, TOKENIZED
from ..option_flags import flag_of
from . import command

READ = ("sys", "ref", "src", "comet", "comet_encoder")
PLACES = ("json", "ref")
OF_COMET = ("src", "comet", "comet_encoder", "cpu")
OF_ANSWERS = ("null_odds", "threshold", "ids", "missing")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    choice = {"nargs": "?", "const": "yes", "default": "auto", "choices": TOKENIZED}
    files = "translations of each system, those of the baseline first; or one file of answers"
    add("--sys", nargs="+", required=True, metavar="FILE", help=files)
    gold = "reference translations (default: the T- lines of logs), or SQuAD file of gold answers"
    add("--ref", nargs="+", metavar="FILE", help=gold)
    add("--json", metavar="FILE", help="also write the scores to this file")
    add = parser.add_argument_group("translations").add_argument
    add("--lang", help="target language, e.g. de")
    known = "test set of sacreBLEU that is on disk, and its languages, e.g. wmt14/full en-de"
    add("--test-set", nargs=2, metavar=("NAME", "PAIR"), help=known)
    moses = "whether the systems are Moses-tokenised (auto: detected from the text)"
    add("--tokenized", **choice, help=moses)
    moses = "whether the references of --ref are Moses-tokenised (auto: detected from the text)"
    add("--ref-tokenized", **choice, help=moses)
    marks = "kind of subword marks to remove (auto: detected from the text)"
    add("--subwords", default="auto", choices=SUBWORDS, help=marks)
    add("--src", metavar="FILE", help="source sentences, which COMET reads (known of --test-set)")
    metric = "also score by COMET: folder of a metric (hparams.yaml, checkpoints/model.ckpt)"
    add("--comet", metavar="DIR", help=metric)
    encoder = "directory of the encoder that the metric names: config.json and tokeniser"
    add("--comet-encoder", metavar="DIR", help=encoder)
    add("--cpu", action="store_true", help="compute COMET without a GPU")
    add("--paired", action="store_true", help="test against the first system by paired bootstrap")
    add("--samples", type=int, default=1000, help="number of bootstrap resamples")
    add("--seed", type=int, default=12345, help="random seed of the bootstrap, at least 1")
    add = parser.add_argument_group("answers").add_argument
    odds = "JSON object, question id -> how strongly the model prefers no answer"
    add("--null-odds", metavar="FILE", help=odds)
    most = (
        "no answer is predicted where the null odds exceed T, which should be the null threshold "
        "that the answers were made with (default: 1.0, as officially)"
    )
    add("--threshold", type=float, metavar="T", help=most)
    these = "score only these questions: a file of one id per line, or JSON that has the ids"
    add("--ids", metavar="FILE", help=these)
    lacking = "questions without a prediction: stop (default), leave out, or count as no answer"
    add("--missing", choices=MISSING, help=lacking)


def run(args: argparse.Namespace) -> None:
    """Score, print, and write JSON if an option says so."""
    from ..files import write_text

    command.show_log()
    is_of_answers = bool(args.ref) and args.ref[0].endswith(".json")
    text, found = (of_answers if is_of_answers else of_translations)(args)
    print(text, end="")
    if args.json:
        write_text(args.json, found)


def of_answers(args: argparse.Namespace) -> tuple[str, str]:
    """Score answers; return the printed text, and JSON."""
    import json

    from ..evaluation.squad_files import SquadScoring, score_files
    from ..targets.squad import as_text

    if args.lang or args.paired or args.test_set or len(args.sys) > 1 or len(args.ref) > 1:
        raise command.UsageError(
            "answers are scored one file at a time, without --lang, --paired, --test-set"
        )
    for name in ("tokenized", "ref_tokenized", "subwords", *OF_COMET):
        if getattr(args, name) not in ("auto", None, False):
            raise command.UsageError(f"{flag_of(name)} is for translations: --ref is a SQuAD file")
    given = {name: getattr(args, name) for name in OF_ANSWERS if getattr(args, name) is not None}
    what = SquadScoring(args.ref[0], args.sys[0], **given)
    found = score_files(what)
    return as_text(found, what.in_force), json.dumps(found, indent=2) + "\n"


def of_translations(args: argparse.Namespace) -> tuple[str, str]:
    """Score translations; return the printed text, and JSON."""
    from ..evaluation.sacrebleu_sets import test_set_files
    from ..evaluation.score_report import format_report, score_files
    from ..evaluation.translation import TextForm

    for name in OF_ANSWERS:
        if getattr(args, name) is not None:
            raise command.UsageError(f"{flag_of(name)} is for answers: --ref names a SQuAD file")
    if args.ref and args.test_set:
        raise command.UsageError("--test-set gives the references: leave --ref out")
    source, references = args.src, args.ref or []
    if args.test_set:
        given, references = test_set_files(*args.test_set)
        source = source or given
    language = args.lang or (args.test_set[1].partition("-")[2] if args.test_set else "")
    if not language:
        raise command.UsageError("--lang is needed to score translations")
    form = TextForm(language, args.tokenized, args.ref_tokenized, args.subwords)
    how = {"paired": args.paired, "samples": args.samples, "seed": args.seed}
    how |= _comet(args, source)
    report = score_files(args.sys, references, form, **how)
    return format_report(report), report.as_json()


def _comet(args: argparse.Namespace, source: str | None) -> dict[str, Any]:
    """Return the arguments of `score_files` for COMET, if it is asked for."""
    if not args.comet:
        for name in OF_COMET:
            if getattr(args, name):
                raise command.UsageError(f"{flag_of(name)} is for --comet")
        return {}
    if not args.comet_encoder:
        raise command.UsageError(
            "--comet needs --comet-encoder, a directory of the encoder that hparams.yaml names"
        )
    if not source:
        raise command.UsageError("--comet needs --src, the source sentences")
    from ..inference.comet_scores import CometScorer

    scorer = CometScorer(args.comet, args.comet_encoder, cpu=args.cpu)
    return {"source": source, "comet": scorer}
