"""Paraphrase questions of a SQuAD file by translating them into another language and back.

    fairseq-plugins augment questions train.json --output train_35.json --rate 0.35 \\
        --forward runs/en-de --backward runs/de-en
    fairseq-plugins augment questions train.json --output train_35.json --rate 0.35 \\
        --command 'my-paraphraser'

A paraphrase is added as a new question of the same paragraph, with the same answers; its id is that
of the question followed by -q. Files beside OUTPUT list every paraphrase with what became of it
(.paraphrases.jsonl) and the counts (.report.json). A stopped run is continued by the same command.

Commands read one question a line and write one line for each. So any fairseq model can translate:

    --chunk 4096 --forward-command "fairseq-interactive DATA --path MODEL.pt --beam 5 \\
        --buffer-size 1024 --batch-size 64 OPTIONS OF ITS SUBWORDS | grep ^D- | cut -f3"
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from ..augment.squad_augmentation_options import AugmentOptions, TranslationStep
from ..option_flags import add_flags

if TYPE_CHECKING:
    from ..augment.squad_augmentation import AugmentReport

PLACES, STOPPED = ("output",), "stopped; the same command goes on with it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", help="SQuAD file, 1.1 or 2.0")
    both = "SQuAD file to write: all questions, and the paraphrases"
    parser.add_argument("--output", required=True, metavar="FILE", help=both)
    add_flags(parser, AugmentOptions)


def run(args: argparse.Namespace) -> None:
    """Augment, and print counts."""
    from ..augment.squad_augmentation import augment

    options = AugmentOptions(**vars(args))
    show(augment(options, load_translator), options)


def load_translator(step: TranslationStep, options: AugmentOptions) -> Any:
    """Load a checkpoint of this project; imports fairseq, which shell commands do not need."""
    from ..inference import back_translation

    own = {key: getattr(options, key) for key in ("beam", "sampling", "seed", "cpu")}
    return back_translation.load_translator(step.checkpoint, step.data, **own)


def show(report: AugmentReport, options: AugmentOptions) -> None:
    """Print the counts of a report."""
    from ..augment.squad_augmentation_rules import REASONS

    print(
        f"{report.questions} questions, {report.chosen} chosen, {report.kept} paraphrases kept, "
        f"{report.chosen - report.kept} dropped"
    )
    for reason, count in report.dropped.items():
        if count:
            print(f"  {count} {reason}: {REASONS[reason]}")
    print("written: " + ", ".join(map(str, options.results)))
    if report.chosen and not report.kept:
        print(
            f"warning: none of the {report.chosen} paraphrases was kept: {options.output} has the "
            f"same questions as {options.input}",
            file=sys.stderr,
        )
