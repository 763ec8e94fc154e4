"""Draw the share of local attention in each layer of BERTs that have it, as PNG, SVG and CSV.

    fairseq-plugins plot gates WLA=runs/wla SLA=runs/sla/seed1,runs/sla/seed2 --output runs/gates
    fairseq-plugins plot gates runs/sla --text "A film full of fresh air." --output runs/gates

The figure shows the mean gate of each layer over all tokens, one line per system. Runs of the same
system are its seeds: their mean and range are drawn. Different datasets are drawn side by side.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..inference.options import EXAMPLES, add_overrides, given_overrides
from . import command

if TYPE_CHECKING:
    from ..inference.prediction import Predictor
    from ..lab.figures.curves import Curves

READ = ("checkpoints", "data")
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    files = (
        "run folders (their checkpoint_best.pt) or checkpoint files; runs of one name are the "
        "seeds of a system (default name: the architecture)"
    )
    add("checkpoints", nargs="+", metavar="[NAME=]MODEL[,MODEL]", help=files)
    add("--data", metavar="DIR", help="prepared folder (default: the one used in each training)")
    source = parser.add_mutually_exclusive_group()
    of_folder = "split of the prepared folder (default: %(default)s)"
    source.add_argument("--split", default="valid", help=of_folder)
    source.add_argument("--text", nargs="+", help="or raw texts, a TAB between sentences of a pair")
    add("--output", default="gates", help="name of the files without suffix")
    add_overrides(parser, EXAMPLES)
    add("--cpu", action="store_true", help="use no GPU")


def run(args: argparse.Namespace) -> None:
    """Measure the gates, draw, write and print the table."""
    from ..files import write_text
    from ..lab.figures.curves import gates_table, plot_gates
    from ..lab.figures.drawing import check_stem, save

    stem = check_stem(args.output, "csv")
    panels, tokens = measure(args)
    table = gates_table(panels, tokens).to_csv(index=False, float_format="%.6f")
    paths = save(plot_gates(panels), stem)
    numbers = stem.with_name(f"{stem.name}.csv")
    write_text(numbers, table)
    print(table.rstrip(), *paths, numbers, sep="\n")


def measure(args: argparse.Namespace) -> tuple[Mapping[str, Curves], dict[tuple[str, str], int]]:
    """Average the gates of every run, for `gates_table`."""
    from tqdm import tqdm

    from ..evaluation.contrast import named_path
    from ..inference.gated_runs import gated_runs
    from ..inference.gates import mean_gates
    from ..inference.prediction import load
    from ..inference.text_checkpoints import find_checkpoints

    command.show_log()
    given = given_overrides(args, EXAMPLES)
    parts = [(name, path) for name, text in map(named_path, args.checkpoints)
             for path in text.split(",")]  # fmt: skip
    names, paths = zip(*parts)
    runs = gated_runs(find_checkpoints(paths), names, args.data)
    panels: dict[str, dict[str, dict[float, list[float]]]] = {}
    tokens: dict[tuple[str, str], int] = {}
    for one in tqdm(runs, "gates", unit=" runs", disable=None):
        predictor = load([one.path], args.data, cpu=args.cpu, **given)
        means = mean_gates(predictor, datasets(predictor, args))
        tokens.setdefault((one.dataset, one.system), means.tokens)
        layers = panels.setdefault(one.dataset, {}).setdefault(one.system, {})
        for layer, share in means.layers.items():
            layers.setdefault(layer, []).append(share)
    return panels, tokens


def datasets(predictor: Predictor, args: argparse.Namespace) -> Iterator[Any]:
    """Yield the datasets to average over."""
    from ..inference.prediction_inputs import read_examples

    if not args.text:
        yield predictor.load_split(args.split)
        return
    lines = enumerate(args.text, start=1)
    examples = read_examples(lines, "--text", "text", predictor.wanted)
    yield from (dataset for *_, dataset in predictor.encode(examples))
