"""Draw how much each layer of BERTs with local attention looks locally, as PNG, SVG and CSV.

python scripts/plot_gates.py runs/wla runs/sla --names WLA SLA --split valid --out runs/gates
python scripts/plot_gates.py runs/sla --text "A film full of fresh air." --out runs/gates

The mean gate of each layer over all tokens, one line a system. Runs of one system are its seeds:
their mean and range are drawn. Runs on several datasets are drawn side by side.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from fairseq_plugins import command
from fairseq_plugins.files import write_text
from fairseq_plugins.inference.gates import gated_runs, mean_gates
from fairseq_plugins.inference.overrides import EXAMPLES, add_overrides, given_overrides
from fairseq_plugins.inference.prediction import BATCH_SIZE, Predictor, load
from fairseq_plugins.inference.prediction_inputs import FORMATS, read_examples
from fairseq_plugins.inference.text_checkpoints import find_checkpoints
from fairseq_plugins.lab.figures.drawing import check_stem
from fairseq_plugins.lab.figures.gates import GateShare, to_csv
from fairseq_plugins.lab.figures.plots import plot_gates
from fairseq_plugins.text_reading import numbered_lines


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "checkpoints",
        nargs="+",
        metavar="PATH",
        help="run folders (their checkpoint_best.pt) or checkpoint files",
    )
    add(
        "--names",
        nargs="+",
        help="system of each; equal names are seeds (default: the architectures)",
    )
    add("--data", metavar="DIR", help="prepared folder (default: each checkpoint's own)")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--split", help="split of the prepared folder (default: valid)")
    source.add_argument("--text", nargs="+", help="or raw texts, a TAB between those of a pair")
    source.add_argument("--input", "--file", metavar="FILE", help="or a file of raw text")
    add("--input-format", default="text", choices=FORMATS, help="see predict.py")
    add("--out", default="gates", help="file name without suffix")
    add("--batch-size", type=int, default=BATCH_SIZE, metavar="N", help="most examples of a batch")
    add_overrides(parser, EXAMPLES)
    add("--cpu", action="store_true", help="use no GPU")
    args = parser.parse_args()
    if args.names and len(args.names) != len(args.checkpoints):
        parser.error(f"{len(args.names)} names for {len(args.checkpoints)} checkpoints")
    if args.batch_size < 1:
        parser.error(f"--batch-size {args.batch_size}: must be at least 1")
    return args


def datasets(predictor: Predictor, args: argparse.Namespace) -> Iterator[Any]:
    """Yield what to average over."""
    if not (args.text or args.input):
        yield predictor.load_split(args.split or "valid")
        return
    if args.text:
        lines, name, form = enumerate(args.text, start=1), "--text", "text"
    else:
        lines, name = numbered_lines(Path(args.input)), args.input
        form = args.input_format
    for _, _, dataset in predictor.encode(read_examples(lines, name, form, predictor.wanted)):
        yield dataset


def measure(args: argparse.Namespace) -> list[GateShare]:
    """Average the gates of every run.

    Raises:
        FileNotFoundError, ValueError: see `gated_runs`, `prediction.load` and `mean_gates`.
    """
    given = given_overrides(args, EXAMPLES)
    runs = gated_runs(find_checkpoints(args.checkpoints), args.names, args.data)
    found = []
    for run in tqdm(runs, "gates", unit=" runs", disable=None):
        predictor = load([run.path], args.data, cpu=args.cpu, **given)
        means = mean_gates(predictor, datasets(predictor, args), batch_size=args.batch_size)
        for layer, share in means.layers.items():
            found.append(GateShare(run.dataset, run.system, layer, share, means.tokens))
    return found


def draw(args: argparse.Namespace) -> None:
    """Measure, draw, write the table, print it."""
    stem = check_stem(args.out, "csv")
    shares = measure(args)
    table = to_csv(shares)
    paths = plot_gates(shares, stem)
    numbers = stem.with_name(f"{stem.name}.csv")
    write_text(numbers, table)
    print(table, end="")
    print(*paths, numbers, sep="\n")


def main() -> int:
    """Draw; what goes wrong is one line on stderr."""
    args = parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s", force=True)  # on stderr
    return command.run(lambda: draw(args), args.out)


if __name__ == "__main__":
    sys.exit(main())
