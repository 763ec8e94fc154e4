"""Translate a prepared split or raw text with a run or a bundle, and score the translations.

    fairseq-plugins translate runs/mine --split test
    fairseq-plugins translate runs/mine --source test.en --output mine.de --reference test.de
    fairseq-plugins translate runs/mine --reference corpus/test.de -- --beam 4 --lenpen 0.6
    fairseq-plugins translate runs/mine --data data-bin/new --output new.log
    fairseq-plugins translate bundle --source test.en --output mine.de --reference test.de
    fairseq-plugins translate bundle --data data-bin/mine --split test --output generate.log

When a run translates a split, its folder gets generate.SPLIT.log (what fairseq-generate prints),
score.SPLIT.json and evaluation.SPLIT.json (split, BLEU, chrF); options after -- go to
fairseq-generate. Of a split of another prepared folder the log goes to --output instead, and the
scores are printed: those in the run's folder are of its own data. Raw text (--source) is translated
by a run, with fairseq, or by a bundle (fairseq-plugins export), without fairseq. A bundle also
translates a split of a prepared folder (--data), and writes such a log to --output. For raw text
and bundles, only --beam, --lenpen and --max-tokens may stand after --.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..lab.run_files import USER_DIR
from . import command

if TYPE_CHECKING:
    from ..bundles.ctranslate2_model import Search
    from ..evaluation.score_report import ScoreReport

BEAM = ["--beam", "4", "--lenpen", "0.6", "--max-tokens", "8000"]
REST = "generate"
SILENT = ("--quiet", "--results-path")  # of fairseq-generate: what they leave cannot be scored


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; what stands behind ``--`` is `generate`."""
    parser.usage = "%(prog)s RUN [options] [-- OPTIONS OF fairseq-generate]"
    add = parser.add_argument
    add("run", type=Path, help="run folder, or bundle")
    add("--data", metavar="DIR", help="prepared folder (default: the one used in training)")
    add("--source", metavar="FILE", help="file of raw text, one sentence per line; - for stdin")
    output = "file for translations of raw text, by a bundle, or of a split of --data"
    add("--output", metavar="FILE", help=output)
    annotator = "what annotates raw text, such as a spaCy pipeline (default: as in training)"
    add("--annotator", metavar="NAME", help=annotator)
    add("--split", default="test", help="split of the prepared folder (default: test)")
    add("--checkpoint", default="checkpoint_best.pt", help="checkpoint file in the run's folder")
    references = "file of raw references (default: the target side of the prepared folder)"
    add("--reference", metavar="FILE", help=references)
    add("--cpu", action="store_true", help="use no GPU")


def run(args: argparse.Namespace) -> None:
    """Translate, score, write."""
    from ..bundles.index import is_bundle

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
    elif args.output and not args.data:
        raise command.UsageError("--output is for --source FILE, or a split of --data DIR")
    else:
        run_checkpoint(args)


def run_checkpoint(args: argparse.Namespace) -> None:
    """Translate a split by fairseq-generate, score it, and leave both in the run's folder.

    With --output the log goes there, and the scores are printed only.
    """
    from ..evaluation.score_report import format_report, score_files
    from ..evaluation.translation import TextForm
    from ..files import write_text
    from ..lab.results.split_files import EVALUATION, SCORE, of_split

    check_reference(args)
    data, language = read_folder(args)
    log = translate(args, data)
    report = score_files([log], args.reference, TextForm(language))
    print(format_report(report), end="")
    if args.output:
        return
    write_text(args.run / of_split(SCORE, args.split), report.as_json())
    about = {"data": data, "checkpoint": args.checkpoint}
    text = json.dumps({**summary(report, args.split), **about}, indent=2) + "\n"
    write_text(args.run / of_split(EVALUATION, args.split), text)


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
    from ..evaluation.score_report import format_report
    from ..inference.bundle_translation import scored

    print(format_report(scored(args.output, args.reference, language)), end="")


def check_reference(args: argparse.Namespace) -> None:
    """Refuse references that are no file, or not as many as the sources, before any translation.

    Raises:
        FileNotFoundError, ValueError: says so.
    """
    from ..text_reading import read_lines

    if args.reference and not Path(args.reference).is_file():
        raise FileNotFoundError(f"{args.reference}: no such file")
    if args.reference and args.source and Path(args.source).is_file():
        counts = [len(read_lines(path)) for path in (args.source, args.reference)]
        if counts[0] != counts[1]:
            raise ValueError(
                f"unequal line counts: {args.source} has {counts[0]}, {args.reference} {counts[1]}"
            )


def read_search(words: list[str]) -> Search:
    """Read how raw text, or a bundle, is translated, in the words of fairseq-generate.

    Raises:
        UsageError: an option that is not known there.
    """
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
        ValueError: the folder holds no parallel text, or not this split; or is another than the
            model was trained on, without a file for what comes of it.
    """
    from ..data.folder_names import NO_SPLITS
    from ..inference.text_checkpoints import folder_of, read_checkpoint
    from ..messages import named

    checkpoint = read_checkpoint(checkpoint_of(args))
    data = args.data or folder_of(checkpoint)
    manifest = Path(data) / "manifest.json"
    if not manifest.is_file():
        raise FileNotFoundError(f"{manifest}: no such file; name the prepared folder with --data")
    found = json.loads(manifest.read_text(encoding="utf-8"))
    if "target_lang" not in found:
        raise ValueError(f"{manifest}: no parallel text")
    if args.split not in found["splits"]:
        choices = named(found["splits"], none=NO_SPLITS)
        raise ValueError(f"{manifest}: no split {args.split!r}; choices are {choices}")
    if not args.output and is_other(data, str(checkpoint.task.get("data") or "")):
        raise ValueError(
            f"{data} is another folder than {checkpoint.task['data']}, which the model was trained "
            f"on: name a file for its log with --output, since {args.run} keeps the scores of that"
        )
    return data, found["target_lang"]


def is_other(data: str, recorded: str) -> bool:
    """Tell whether a prepared folder was made of other files than the one recorded, or otherwise.

    A recorded folder that is not there any more may be this one.
    """
    from ..data.manifest import Manifest

    made, known = Manifest.load(Path(data)).portable(), []
    for part in map(Path, recorded.split(os.pathsep)):
        with contextlib.suppress(OSError, ValueError):
            known.append(Manifest.load(part).portable())
    return bool(known) and made not in known


def checkpoint_of(args: argparse.Namespace) -> Path:
    """Return the checkpoint of a run; FileNotFoundError where there is none."""
    checkpoint = args.run / args.checkpoint
    if not checkpoint.is_file():
        raise FileNotFoundError(f"{checkpoint}: no such checkpoint")
    return checkpoint


def translate(args: argparse.Namespace, data: str) -> Path:
    """Run fairseq-generate; return its output, which is there only when it is complete.

    Raises:
        ValueError: it failed.
        UsageError: see `check_printing`.
    """
    from ..files import replacing, try_lock
    from ..lab.results.split_files import GENERATED, of_split

    out = Path(args.output or args.run / of_split(GENERATED, args.split))
    check_printing(args.generate)
    words = [sys.executable, "-m", "fairseq_cli.generate", data, "--user-dir", str(USER_DIR)]
    words += ["--task", "syntax_translation", "--path", str(args.run / args.checkpoint)]
    words += ["--gen-subset", args.split, *(["--cpu"] if args.cpu else [])]
    words += args.generate or BEAM
    remove_leftovers(args.run)
    with replacing(out) as stream:
        try_lock(stream, out)
        done = subprocess.run(words, stdout=stream, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            last = done.stderr.decode("utf-8", errors="replace").strip().splitlines()[-1:]
            raise ValueError(f"fairseq-generate failed: {''.join(last)}")
    return out


def check_printing(words: list[str]) -> None:
    """Refuse options of fairseq-generate that keep its translations out of its log.

    Raises:
        UsageError: names one.
    """
    for word in words:
        if word.partition("=")[0] in SILENT:
            raise command.UsageError(f"behind --: {word}: the translations are read off the log")


def remove_leftovers(folder: Path) -> None:
    """Remove the partial outputs of processes that were killed: nobody holds their locks."""
    for path in folder.glob(".generate*.log.tmp*"):
        with contextlib.suppress(OSError), path.open("rb+") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


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
