"""Perturb the pairs of a dataset, to see whether a model that matches sentences is robust.

python scripts/perturb.py --dataset paws_wiki --raw-dir paws --split test --output perturbed/paws
python scripts/perturb.py --dataset rte --raw-dir RTE --split valid --output perturbed/rte \\
    --transformations SwapAnt,NumWord --seed 2

Every transformation writes a folder in the dataset's own format, which prepare_text.py reads, with
the pairs before (original/) and what was done to each (changes.jsonl, perturbation.json). SwapAnt
and SwapSyn need a WordNet database; BackTrans needs --back-translate, or --forward and --backward.
"""

from __future__ import annotations

import argparse
import sys

from fairseq_plugins import command
from fairseq_plugins.augment.perturbation.options import PerturbOptions
from fairseq_plugins.augment.perturbation.perturb import Report, perturb
from fairseq_plugins.option_flags import add_flags


def load_translator(forward: str, backward: str):
    """Load checkpoints of this project; fairseq is imported here, for nothing else needs it."""
    from fairseq_plugins.inference.back_translation import there_and_back

    return there_and_back(forward, backward)


def show(report: Report, output: str) -> None:
    """Print what came of it: one line a transformation, then what took how long."""
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


def main() -> int:
    """Parse the flags, perturb, print; what goes wrong is one line on stderr."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_flags(parser, PerturbOptions)
    flags = vars(parser.parse_args())
    return command.run(
        lambda: show(perturb(PerturbOptions(**flags), load_translator), flags["output"]),
        flags["output"],
        stopped="stopped; folders that are there are complete",
    )


if __name__ == "__main__":
    sys.exit(main())
