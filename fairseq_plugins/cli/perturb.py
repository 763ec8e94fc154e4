"""Perturb the sentence pairs of a dataset, to test how robust matching models are.

    fairseq-plugins perturb --dataset paws_wiki --raw-dir paws --split test --output perturbed/paws
    fairseq-plugins perturb --dataset rte --raw-dir RTE --split valid --output perturbed/rte \\
        --transformations SwapAnt,NumWord --seed 2

Every transformation writes a folder in the dataset's own format, which `prepare text` reads. The
folder also has the pairs before the change (original/), a record of what was changed in each pair
(changes.jsonl), and of how the set was made (perturbation.json). SwapAnt and SwapSyn need a WordNet
database; BackTrans needs --back-translate, or --forward and --backward.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..augment.perturbation.options import PerturbOptions
from ..option_flags import add_flags

if TYPE_CHECKING:
    from ..augment.perturbation.perturb import PerturbReport

READ = ("raw_dir",)
PLACES, STOPPED = ("output",), "stopped; folders that are there are complete"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_flags(parser, PerturbOptions)


def run(args: argparse.Namespace) -> None:
    """Perturb, and print counts and times."""
    from ..augment.perturbation.perturb import perturb

    show(perturb(PerturbOptions(**vars(args)), load_translator), args.output)


def load_translator(forward: str, backward: str) -> Any:
    """Load checkpoints of this project; imports fairseq, needed by this transformation alone."""
    from ..inference.back_translation import there_and_back

    return there_and_back(forward, backward)


def show(report: PerturbReport, output: str) -> None:
    """Print one line per transformation, then times and files."""
    print(f"{'transformation':<14} {'changed':>8} {'pairs':>8} {'CPU s':>8} {'pairs/s':>8}")
    for done in report.outcomes:
        speed = done.pairs / max(done.seconds, 1e-9)
        print(
            f"{done.name:<14} {done.changed:>8} {done.pairs:>8} {done.seconds:>8.2f} {speed:>8.0f}"
            + ("" if done.changed else "  nothing applies: no set written")
        )
    if report.sentences:
        print(f"annotation: {report.sentences} sentences in {report.annotation:.2f} seconds")
    if report.translation >= 0.01:
        print(f"names and translation: {report.translation:.2f} seconds")
    for name, reason in report.left_out.items():
        print(f"left out: {name}: {reason}")
    if any(done.changed for done in report.outcomes):
        print(f"written to {output}")
