"""Translate a prepared split or raw text with a run or a bundle, and score the translations.

    fairseq-plugins translate runs/mine --split test
    fairseq-plugins translate runs/mine --source test.en --output mine.de --reference test.de
    fairseq-plugins translate runs/mine/average.pt --source test.en
    fairseq-plugins translate runs/mine --reference corpus/test.de -- --beam 4 --lenpen 0.6
    fairseq-plugins translate runs/mine --data data-bin/new --output new.log
    fairseq-plugins translate bundle --source test.en --output mine.de --reference test.de
    fairseq-plugins translate bundle --data data-bin/mine --split test --output generate.log

When a run translates a split, its folder gets generate.SPLIT.log (what fairseq-generate prints),
score.SPLIT.json and evaluation.SPLIT.json (split, BLEU, chrF). Options after -- go to
fairseq-generate, beside --beam 4 --lenpen 0.6 --max-tokens 8000, or what a run's experiment
translates with. With --output the log goes there instead, and the scores are printed only. It must
be given for a split of another prepared folder, and where a run of an experiment translates
otherwise than the experiment: the scores in a run's folder are those that tables show. Raw text
(--source) is translated by a run, with fairseq, or by a bundle (fairseq-plugins export), without
fairseq. A bundle also translates a split of a prepared folder (--data), and writes such a log to
--output. For raw text and bundles, only --beam, --lenpen and --max-tokens may stand after --.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from . import command

if TYPE_CHECKING:
    from ..bundles.ctranslate2_model import Search
    from ..evaluation.score_report import ScoreReport
    from ..text.beginnings import Beginnings

REST = "generate"
SILENT = ("--quiet", "--results-path")  # of fairseq-generate; with these nothing can be scored


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; `generate` holds words after ``--``."""
    parser.usage = "%(prog)s MODEL [options] [-- OPTIONS OF fairseq-generate]"
    add = parser.add_argument
    add("run", type=Path, metavar="MODEL", help="run folder, checkpoint in one, or bundle")
    add("--data", metavar="DIR", help="prepared folder (default: the one used in training)")
    add("--source", metavar="FILE", help="file of raw text, one sentence per line; - for stdin")
    output = "file for translations, in the place of the run's folder"
    add("--output", metavar="FILE", help=output)
    begun = (
        "beginning of the translations of --source: a file with one for each line, or one for all"
    )
    add("--prefix", metavar="TEXT|FILE", help=begun)
    annotator = "what annotates raw text, such as a spaCy pipeline (default: as in training)"
    add("--annotator", metavar="NAME", help=annotator)
    add("--split", default="test", help="split of the prepared folder (default: test)")
    references = "file of raw references (default: the target side of the prepared folder)"
    add("--reference", metavar="FILE", help=references)
    add("--cpu", action="store_true", help="use no GPU")


def run(args: argparse.Namespace) -> None:
    """Translate, score, write."""
    from ..bundles.index import is_bundle

    take_file(args)
    parts = str(args.run).split(os.pathsep)
    if all(map(is_bundle, parts)):
        run_bundle(args, parts)
    elif len(parts) > 1 and not args.run.exists():
        raise command.UsageError(
            "translate takes one run; for an ensemble name several to fairseq-generate --path"
        )
    elif missing := [part for part in parts if not Path(part).exists()]:
        raise FileNotFoundError(f"{missing[0]}: no such run folder or bundle")
    elif args.source:
        run_source(args)
    elif args.annotator or args.prefix:
        name = "--annotator" if args.annotator else "--prefix"
        raise command.UsageError(f"{name} is for raw text: give --source FILE")
    else:
        run_checkpoint(args)


def take_file(args: argparse.Namespace) -> None:
    """Replace a checkpoint's file by its run folder and file name (``checkpoint``)."""
    from ..lab.run_files import BEST

    args.checkpoint = BEST
    if args.run.is_file():
        args.run, args.checkpoint = args.run.parent, args.run.name


def run_checkpoint(args: argparse.Namespace) -> None:
    """Translate a split by fairseq-generate and score the result, in the run's folder.

    With --output the log goes there, and the scores are only printed.
    """
    from ..files import replacing, write_text
    from ..inference.run_translation import folder_of_run, generate
    from ..lab.plan.translated import Translated, as_planned
    from ..lab.run_files import EVALUATION, GENERATED, SCORE, of_split

    where, given = bool(args.output), Translated(args.generate, args.checkpoint, args.reference)
    planned, differing = as_planned(args.run, args.split, given, elsewhere=where)
    if differing and not where:
        raise command.UsageError(
            f"{' '.join(differing)}: the experiment of this run translates otherwise: name a file "
            f"for the log with --output, since {args.run} has what the experiment's tables show"
        )
    args.checkpoint, args.reference = planned.checkpoint, planned.reference
    checkpoint = checkpoint_of(args)
    data, manifest = folder_of_run(checkpoint, args.split, args.data, elsewhere=where)
    check_reference(args, data)
    check_language(manifest.target_lang)
    check_printing(planned.words)
    names = (GENERATED, SCORE, EVALUATION)
    log, score, evaluation = (args.run / of_split(name, args.split) for name in names)
    log = Path(args.output or log)
    with replacing(log) as stream:
        words = [*(["--cpu"] if args.cpu else []), *planned.words]
        generate(checkpoint, data, args.split, words, stream)
        for path in () if args.output else (score, evaluation):  # results of an earlier log
            path.unlink(missing_ok=True)
    report = print_scores(log, args.reference, manifest.target_lang)
    if not args.output:
        write_text(score, report.as_json())
        about = {"data": data, "checkpoint": checkpoint.name}
        text = json.dumps({**summary(report, args.split), **about}, indent=2) + "\n"
        write_text(evaluation, text)


def run_source(args: argparse.Namespace) -> None:
    """Translate raw text by a checkpoint; print the translations, or their scores."""
    if args.reference and not args.output:
        raise command.UsageError("--reference and --source need --output FILE")
    from ..inference.bundle_translation import translate_text
    from ..inference.run_translation import open_checkpoint

    search = read_search(args.generate)
    check_reference(args)
    command.show_log()
    begun = beginnings(args)
    how = {"data": args.data, "spacy_model": args.annotator, "cpu": args.cpu}
    translate, language = open_checkpoint(checkpoint_of(args), search, **how)
    if args.reference:
        check_language(language)
    translate_text(translate, args.source, args.output or "", begun)
    if args.reference:
        print_scores(args.output, args.reference, language)


def run_bundle(args: argparse.Namespace, bundles: list[str]) -> None:
    """Translate by a bundle; print the translations, or their scores."""
    if bool(args.source) == bool(args.data):
        raise command.UsageError("a bundle translates --source FILE, or a split of --data DIR")
    if (args.reference or args.data) and not args.output:
        raise command.UsageError("--reference and --data need --output FILE")
    from ..deferred_imports import without_torch

    with without_torch():
        from ..bundles.translation import Translator, check_single
        from ..inference.bundle_translation import translate_split, translate_text

        search = read_search(args.generate)
        check_reference(args)
        command.show_log()
        begun = beginnings(args)
        translator = Translator.open(check_single(bundles), spacy_model=args.annotator)
        if args.reference or args.data:
            check_language(translator.manifest.target_lang)
        if args.source:
            translate_lines = partial(translator.translate, **asdict(search))
            translate_text(translate_lines, args.source, args.output or "", begun)
    if args.data:
        translate_split(translator, args.data, args.split, args.output, search)
    if args.reference or args.data:
        print_scores(args.output, args.reference, translator.manifest.target_lang)


def print_scores(log: str | Path, reference: str | None, language: str) -> ScoreReport:
    """Score translations, print and return the scores."""
    from ..evaluation.score_report import format_report, score_files
    from ..evaluation.translation import TextForm

    report = score_files([log], [reference] if reference else [], TextForm(language))
    print(format_report(report), end="")
    return report


def beginnings(args: argparse.Namespace) -> Beginnings:
    """Return what --prefix gives; refuse a file with other lines than --source."""
    from ..text.beginnings import read_beginnings
    from ..text_reading import numbered_lines

    found = read_beginnings(args.prefix)
    if not isinstance(found, str) and args.source and Path(args.source).is_file():
        count = sum(1 for _ in numbered_lines(args.source))
        if count != len(found):
            what = f"{args.source} has {count}, {args.prefix} {len(found)}"
            raise InputError(f"unequal line counts: {what}")
    return found


def check_reference(args: argparse.Namespace, data: str = "") -> None:
    """Refuse references that are no file or do not match the sources, before any translation."""
    from ..data.manifests import read_manifest
    from ..text_reading import numbered_lines

    def lines(path: str) -> int:
        return sum(1 for _ in numbered_lines(path))

    if args.reference and not Path(args.reference).is_file():
        raise FileNotFoundError(f"{args.reference}: no such file")
    source, asked = "", 0
    if args.reference and args.source and Path(args.source).is_file():
        source, asked = args.source, lines(args.source)
    elif args.reference and data:
        asked = read_manifest(Path(data)).count(args.split)
        source = f"split {args.split!r} of {data}"
    if asked and (count := lines(args.reference)) != asked:
        raise InputError(f"unequal line counts: {source} has {asked}, {args.reference} {count}")


def check_language(language: str) -> None:
    """Refuse a language without BLEU; see `metric_of`."""
    from ..evaluation.sentence_counts import metric_of

    metric_of("bleu", language)


def read_search(words: list[str]) -> Search:
    """Read fairseq-generate's options of translation, for raw text or a bundle."""
    from ..bundles.ctranslate2_model import Search

    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    for flag, kind in (("--beam", int), ("--lenpen", float), ("--max-tokens", int)):
        parser.add_argument(flag, type=kind, default=argparse.SUPPRESS)
    try:
        found, others = parser.parse_known_args(words)
    except argparse.ArgumentError as error:
        raise command.UsageError(f"behind --: {error}") from None
    if others:
        raise command.UsageError(
            f"raw text and bundles know no {others[0]}; behind -- stand --beam, --lenpen and "
            "--max-tokens"
        )
    return Search(**vars(found))


def checkpoint_of(args: argparse.Namespace) -> Path:
    """Return the checkpoint of a run."""
    checkpoint = args.run / args.checkpoint
    if not checkpoint.is_file():
        raise FileNotFoundError(f"{checkpoint}: no such checkpoint")
    return checkpoint


def check_printing(words: list[str]) -> None:
    """Refuse options of fairseq-generate that keep translations out of its log."""
    for word in words:
        if word.partition("=")[0] in SILENT:
            raise command.UsageError(f"behind --: {word}: the translations are read off the log")


def summary(report: ScoreReport, split: str) -> dict:
    """Return the scores that experiments read."""
    (scores,) = report.systems
    return {
        "of": split,
        "metrics": dict(scores.figures),
        "signatures": dict(scores.signatures),
        "reference": report.reference,
        "sentences": report.sentences,
    }
