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
import contextlib
import json
import os
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ..lab.run_files import USER_DIR
from . import command

if TYPE_CHECKING:
    from ..bundles.ctranslate2_model import Search
    from ..bundles.run_folder import Origin
    from ..evaluation.score_report import ScoreReport

BEAM = ["--beam", "4", "--lenpen", "0.6", "--max-tokens", "8000"]
REST = "generate"
# of fairseq-generate: what changes no translation
UNDECISIVE = ("--max-tokens", "--batch-size", "--cpu", "--num-workers")
SILENT = ("--quiet", "--results-path")  # of fairseq-generate: what they leave cannot be scored


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; what stands behind ``--`` is `generate`."""
    parser.usage = "%(prog)s MODEL [options] [-- OPTIONS OF fairseq-generate]"
    add = parser.add_argument
    add("run", type=Path, metavar="MODEL", help="run folder, checkpoint in one, or bundle")
    add("--data", metavar="DIR", help="prepared folder (default: the one used in training)")
    add("--source", metavar="FILE", help="file of raw text, one sentence per line; - for stdin")
    output = "file for translations, in the place of the run's folder"
    add("--output", metavar="FILE", help=output)
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
    elif args.annotator:
        raise command.UsageError("--annotator is for raw text: give --source FILE")
    else:
        run_checkpoint(args)


def take_file(args: argparse.Namespace) -> None:
    """Take a checkpoint's file as its run folder and its name there (``checkpoint``)."""
    from ..lab.run_files import BEST

    args.checkpoint = BEST
    if args.run.is_file():
        args.run, args.checkpoint = args.run.parent, args.run.name


def run_checkpoint(args: argparse.Namespace) -> None:
    """Translate a split by fairseq-generate, score it, and leave both in the run's folder.

    With --output the log goes there, and the scores are printed only.
    """
    from ..evaluation.score_report import format_report, score_files
    from ..evaluation.translation import TextForm
    from ..files import write_text
    from ..lab.run_files import EVALUATION, SCORE, of_split

    take_planned(args)
    data, language = read_folder(args)
    check_reference(args, data)
    check_language(language)
    log = translate(args, data)
    report = score_files([log], args.reference, TextForm(language))
    print(format_report(report), end="")
    if args.output:
        return
    write_text(args.run / of_split(SCORE, args.split), report.as_json())
    about = {"data": data, "checkpoint": checkpoint_of(args).name}
    text = json.dumps({**summary(report, args.split), **about}, indent=2) + "\n"
    write_text(args.run / of_split(EVALUATION, args.split), text)


def take_planned(args: argparse.Namespace) -> None:
    """Translate as the experiment of a run does, with what is given besides.

    Raises:
        FileNotFoundError: the experiment's reference is not there, and none is given.
        UsageError: what comes of it would replace what the experiment translated otherwise.
    """
    from ..lab.plan.allowed import command_line
    from ..lab.run_files import AVERAGE, BEST, SETTINGS
    from ..lab.safe_files import read_json

    planned = read_json(args.run / SETTINGS).get("translated") or {}
    usual = command_line(planned.get("generate") or {}) or BEAM
    given = [*usual, *args.generate] if args.generate != usual else usual
    args.generate, reference = given, planned.get("reference") or None
    if not planned or planned["split"] != args.split:
        return
    if reference and not (args.reference or Path(reference).is_file()):
        raise FileNotFoundError(
            f"{reference}, the reference of the experiment, is not there: name it with --reference"
        )
    args.reference = args.reference or reference
    if planned.get("average") and args.checkpoint == BEST and not args.output:
        args.checkpoint = AVERAGE
    differing = [name for name, value in searched(given) - searched(usual)]
    if args.checkpoint != (AVERAGE if planned.get("average") else BEST):
        differing.append(args.checkpoint)
    if not same_text(args.reference, reference):
        differing.append(f"--reference {args.reference}")
    if differing and not args.output:
        raise command.UsageError(
            f"{' '.join(differing)}: the experiment of this run translates otherwise: name a file "
            f"for the log with --output, since {args.run} has what the experiment's tables show"
        )


def searched(words: list[str]) -> set[tuple[str, str]]:
    """Return what decides translations among options of fairseq-generate, each with its value."""
    found, name = {}, ""
    for word in words:
        name, _, found_value = word.partition("=") if word.startswith("--") else (name, "", word)
        found[name] = found_value
    return {(name, value) for name, value in found.items() if name not in UNDECISIVE}


def same_text(one: str | None, other: str | None) -> bool:
    """Tell whether references are the same, or the other is not there to be compared."""
    if None in (one, other):
        return one == other
    paths = Path(str(one)), Path(str(other))
    if not all(path.is_file() for path in paths):
        return paths[0].is_file()
    return paths[0].read_bytes() == paths[1].read_bytes()


def run_source(args: argparse.Namespace) -> None:
    """Translate raw text by a checkpoint; print the translations, or their scores."""
    if args.reference and not args.output:
        raise command.UsageError("--reference and --source need --output FILE")
    from ..inference.bundle_translation import translate_text
    from ..inference.run_translation import open_checkpoint

    search = read_search(args.generate)
    check_reference(args)
    command.show_log()
    how = {"data": args.data, "spacy_model": args.annotator, "cpu": args.cpu}
    translate, language = open_checkpoint(checkpoint_of(args), search, **how)
    if args.reference:
        check_language(language)
    translate_text(translate, args.source, args.output or "")
    if args.reference:
        print_scores(args, language)


def run_bundle(args: argparse.Namespace, bundles: list[str]) -> None:
    """Translate by a bundle; print the translations, or their scores."""
    if bool(args.source) == bool(args.data):
        raise command.UsageError("a bundle translates --source FILE, or a split of --data DIR")
    if (args.reference or args.data) and not args.output:
        raise command.UsageError("--reference and --data need --output FILE")
    from ..bundles.translation import Translator, check_single
    from ..inference import bundle_translation

    search = read_search(args.generate)
    check_reference(args)
    command.show_log()
    translator = Translator.open(check_single(bundles), spacy_model=args.annotator)
    if args.reference or args.data:
        check_language(translator.manifest.target_lang)
    if args.data:
        split = (args.data, args.split, args.output)
        bundle_translation.translate_split(translator, *split, search)
    else:
        translate_lines = partial(translator.translate, **asdict(search))
        bundle_translation.translate_text(translate_lines, args.source, args.output or "")
    if args.reference or args.data:
        print_scores(args, translator.manifest.target_lang)


def print_scores(args: argparse.Namespace, language: str) -> None:
    """Score what was written, and print that."""
    from ..evaluation.score_report import format_report, score_files
    from ..evaluation.translation import TextForm

    print(format_report(score_files([args.output], args.reference, TextForm(language))), end="")


def check_reference(args: argparse.Namespace, data: str = "") -> None:
    """Refuse references that are no file, or not as many as the sources, before any translation."""
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
    """Refuse a language that BLEU cannot be computed in; see `metric_of`."""
    from ..evaluation.sentence_counts import metric_of

    metric_of("bleu", language)


def read_search(words: list[str]) -> Search:
    """Read how raw text, or a bundle, is translated, in the words of fairseq-generate."""
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


def read_folder(args: argparse.Namespace) -> tuple[str, str]:
    """Return the prepared folder and its target language.

    Raises:
        FileNotFoundError: no checkpoint, or no manifest.
        InputError: the folder holds no parallel text, or not this split; or is another than the
            model was trained on, without a file for what comes of it.
    """
    from ..data.folder_names import NO_SPLITS
    from ..data.manifests import read_manifest
    from ..data.translation_manifest import TranslationManifest
    from ..inference.text_checkpoints import folder_of, read_checkpoint
    from ..messages import named

    checkpoint = read_checkpoint(checkpoint_of(args))
    data = args.data or folder_of(checkpoint)
    manifest = read_manifest(Path(data), TranslationManifest)
    if args.split not in manifest.splits:
        choices, known = named(manifest.splits, none=NO_SPLITS), checkpoint.origin.path
        gone = f"; {known}, which the model was trained on, is not there" * (not args.data)
        gone *= not Path(known).is_dir()
        raise InputError(f"{data}: no split {args.split!r}; choices are {choices}{gone}")
    if not args.output and is_other(data, checkpoint.origin):
        raise InputError(
            f"{data} is another folder than {checkpoint.origin.path}, which the model was trained "
            f"on: name a file for its log with --output, since {args.run} keeps the scores of that"
        )
    return data, manifest.target_lang


def is_other(data: str, origin: Origin) -> bool:
    """Tell whether a prepared folder has other data than the one of a training.

    Of a checkpoint of an older release it is one that was made of other files, or otherwise; a
    folder that is not there any more may be this one.
    """
    from ..data.manifests import read_manifest

    if origin.splits:
        return bool(origin.other_data(Path(data)))
    made, known = read_manifest(Path(data)).decisive(), []
    for part in map(Path, origin.path.split(os.pathsep)):
        with contextlib.suppress(OSError, InputError):
            known.append(read_manifest(part).decisive())
    return bool(known) and made not in known


def checkpoint_of(args: argparse.Namespace) -> Path:
    """Return the checkpoint of a run; FileNotFoundError where there is none."""
    checkpoint = args.run / args.checkpoint
    if not checkpoint.is_file():
        raise FileNotFoundError(f"{checkpoint}: no such checkpoint")
    return checkpoint


def translate(args: argparse.Namespace, data: str) -> Path:
    """Run fairseq-generate; return its output, which is there only when it is complete."""
    from ..files import replacing
    from ..lab.run_files import EVALUATION, GENERATED, SCORE, of_split

    out = Path(args.output or args.run / of_split(GENERATED, args.split))
    check_printing(args.generate)
    words = [sys.executable, "-m", "fairseq_cli.generate", data, "--user-dir", str(USER_DIR)]
    words += ["--task", "syntax_translation", "--path", str(checkpoint_of(args))]
    words += ["--gen-subset", args.split, *(["--cpu"] if args.cpu else [])]
    words += args.generate
    with replacing(out) as stream:
        done = subprocess.run(words, stdout=stream, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            last = done.stderr.decode("utf-8", errors="replace").strip().splitlines()[-1:]
            raise InputError(f"fairseq-generate failed: {''.join(last)}")
        for name in () if args.output else (SCORE, EVALUATION):  # those of the log before
            (args.run / of_split(name, args.split)).unlink(missing_ok=True)
    return out


def check_printing(words: list[str]) -> None:
    """Refuse options of fairseq-generate that keep its translations out of its log."""
    for word in words:
        if word.partition("=")[0] in SILENT:
            raise command.UsageError(f"behind --: {word}: the translations are read off the log")


def summary(report: ScoreReport, split: str) -> dict:
    """Return what experiments read of the scores."""
    (scores,) = report.systems
    return {
        "of": split,
        "metrics": dict(scores.figures),
        "signatures": dict(scores.signatures),
        "reference": report.reference,
        "sentences": report.sentences,
    }
