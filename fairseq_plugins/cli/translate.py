"""Translate a split with the best checkpoint of a run, and score that.

    fairseq-plugins translate runs/mine --split test
    fairseq-plugins translate runs/mine --reference corpus/test.de -- --beam 4 --lenpen 0.6

Leaves generate.SPLIT.log (what fairseq-generate prints), score.SPLIT.json and evaluation.SPLIT.json
(split, BLEU, chrF) in the run's folder. What stands behind -- goes to fairseq-generate.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..lab.run_files import USER_DIR

if TYPE_CHECKING:
    from ..evaluation.score_report import ScoreReport

BEAM = ["--beam", "4", "--lenpen", "0.6", "--max-tokens", "8000"]
REST = "generate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; what stands behind ``--`` is `generate`."""
    parser.usage = "%(prog)s RUN [options] [-- OPTIONS OF fairseq-generate]"
    add = parser.add_argument
    add("run", type=Path, help="folder of the checkpoint")
    add("--data", metavar="DIR", help="prepared folder (default: the checkpoint's own)")
    add("--split", default="test", help="of the prepared folder (default: test)")
    add("--checkpoint", default="checkpoint_best.pt", help="in the run's folder")
    add("--reference", metavar="FILE", help="raw references (default: the folder's target side)")
    add("--cpu", action="store_true", help="use no GPU")


def run(args: argparse.Namespace) -> None:
    """Translate, score, write."""
    from ..evaluation.score_report import format_report, score_files
    from ..evaluation.translation import TextForm
    from ..files import write_text
    from ..lab.results.split_files import EVALUATION, SCORE, of_split

    data, language = read_folder(args)
    log = translate(args, data)
    report = score_files([log], args.reference, TextForm(language))
    print(format_report(report), end="")
    write_text(args.run / of_split(SCORE, args.split), report.as_json())
    text = json.dumps(summary(report, args.split), indent=2) + "\n"
    write_text(args.run / of_split(EVALUATION, args.split), text)


def read_folder(args: argparse.Namespace) -> tuple[str, str]:
    """Return the prepared folder and its target language.

    Raises:
        FileNotFoundError: no checkpoint, or no manifest.
        ValueError: the folder holds no parallel text, or not this split.
    """
    from ..inference.text_checkpoints import read_checkpoint
    from ..messages import named

    checkpoint = args.run / args.checkpoint
    if not checkpoint.is_file():
        raise FileNotFoundError(f"{checkpoint}: no such checkpoint")
    data = args.data or read_checkpoint(checkpoint).task.get("data") or ""
    manifest = Path(data) / "manifest.json"
    if not manifest.is_file():
        raise FileNotFoundError(f"{manifest}: no such file; name the prepared folder with --data")
    found = json.loads(manifest.read_text(encoding="utf-8"))
    if "target_lang" not in found:
        raise ValueError(f"{manifest}: no parallel text")
    if args.split not in found["splits"]:
        choices = named(found["splits"])
        raise ValueError(f"{manifest}: no split {args.split!r}; choices are {choices}")
    return data, found["target_lang"]


def translate(args: argparse.Namespace, data: str) -> Path:
    """Run fairseq-generate; return its output, which is there only when it is complete.

    Raises:
        ValueError: it failed.
    """
    from ..files import replacing, try_lock
    from ..lab.results.split_files import GENERATED, of_split

    out = args.run / of_split(GENERATED, args.split)
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
