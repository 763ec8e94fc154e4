"""Try systems on perturbed examples: how far do they fall? (Table 3 of the DABERT paper)

python scripts/robustness.py runs/paws/plain runs/paws/dabert --sets perturbed/paws \\
    --output runs/robustness/paws
python scripts/robustness.py BERT=runs/a/seed1,runs/a/seed2 DABERT=runs/b/seed1,runs/b/seed2 \\
    --sets perturbed/rte/SwapAnt trans_NumWord_99.json dev.json:rte --output runs/robustness/rte

Sets are folders of scripts/perturb.py (one, or a folder of them), TextFlint's files (trans_…json
with ori_…json beside it) and AdvGLUE's dev.json (dev.json:TASK for a task other than the model's).
Writes OUTPUT.md, OUTPUT.csv, OUTPUT.json, and predictions as OUTPUT/SYSTEM/RUN/SET.jsonl, which
scripts/compare_predictions.py reads. Nothing is predicted before everything has been checked.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from fairseq_plugins import command
from fairseq_plugins.augment.perturbed_sets import PerturbedExamples
from fairseq_plugins.evaluation.text_files import write_text
from fairseq_plugins.inference.overrides import EXAMPLES, add_overrides
from fairseq_plugins.inference.robustness import RobustnessOptions, parse_systems, try_systems
from fairseq_plugins.lab.results.robustness_table import (
    Column,
    format_csv,
    format_json,
    format_markdown,
    make_table,
)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="run folder or checkpoint; NAME=PATH,PATH for several runs, whose mean is shown. "
        "The others are compared with the first",
    )
    add("--sets", nargs="+", required=True, metavar="SET", help="perturbed sets; see above")
    add("--output", required=True, metavar="STEM", help="STEM.md, .csv, .json, and folder STEM")
    add("--names", nargs="+", help="what to call the systems (default: what tells them apart)")
    add("--data", metavar="DIR", help="prepared folder (default: the one of each training)")
    add("--batch-size", type=int, default=32, metavar="N", help="most examples of a batch")
    add("--max-tokens", type=int, metavar="N", help="most wordpieces of a batch")
    add_overrides(parser, EXAMPLES)
    add("--samples", type=int, default=1000, help="resamples of the bootstrap, 0 for no test")
    add("--seed", type=int, default=12345, help="of the bootstrap")
    add("--cpu", action="store_true", help="use no GPU")
    return parser.parse_args()


def report(args: argparse.Namespace) -> str:
    """Predict, write everything, return the table.

    Raises:
        FileNotFoundError, ValueError: see `try_systems`; numbers below their least.
    """
    for name, least in (("batch_size", 1), ("max_tokens", 1), ("samples", 0)):
        value = getattr(args, name)
        if value is not None and value < least:
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag} is {value}, it must be at least {least}")
    options = RobustnessOptions(
        parse_systems(args.systems, args.names),
        args.sets,
        Path(args.output),
        args.data,
        args.batch_size,
        args.max_tokens,
        args.max_positions,
        args.long_examples,
        args.cpu,
        args.spacy_model,
    )
    trial = try_systems(options)
    columns = [_column(one) for one in trial.sets]
    draws = {"samples": args.samples, "seed": args.seed}
    table = make_table(trial.manifest.target, columns, trial.systems, **draws)
    text = format_markdown(table)
    for suffix, body in (("json", format_json(table)), ("csv", format_csv(table)), ("md", text)):
        write_text(f"{args.output}.{suffix}", body)
    return text


def _column(one: PerturbedExamples) -> Column:
    labels = {example.label for example in one.perturbed}
    only = labels.pop() if len(labels) == 1 else ""
    both = zip(one.originals or (), one.perturbed)
    untouched = sum(before.texts == after.texts for before, after in both)
    where = (one.dataset, one.split, str(one.source))
    return Column(one.name, len(one.perturbed), *where, only, untouched)


def main() -> int:
    """Report; what goes wrong is one line on stderr."""
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr, force=True)
    logging.getLogger("fairseq").setLevel(logging.WARNING)
    return command.run(lambda: print(report(args), end=""), args.output)


if __name__ == "__main__":
    sys.exit(main())
