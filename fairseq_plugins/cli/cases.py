"""Show sentence pairs with the words that differ most according to a model's difference attention.

fairseq-plugins cases runs/rte/dabert --pair "12 people came." "42 people came."
fairseq-plugins cases runs/rte/dabert --split valid --max 20 --wrong-only --html cases.html
cat pairs.tsv | fairseq-plugins cases runs/rte/dabert --input - --against runs/rte/plain

The number shown for a word is the share (in percent) of the other sentence's difference attention
that it receives; {+so+} marks the words with the largest shares in each sentence, punctuation
excepted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ..inference.options import EXAMPLES, add_overrides, given_overrides
from . import command

if TYPE_CHECKING:
    from ..evaluation.highlights import Case
    from ..inference.prediction import Predictor

READ = ("checkpoint", "against", "input", "data")
PLACES = ("checkpoint",)
OF_A_SPLIT = 20
LEGEND = "{+so+}: most difference attention from the other sentence, in % (punctuation apart)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("checkpoint", help="run folder (its checkpoint_best.pt), or checkpoint files joined by ':'")
    add("--data", metavar="DIR", help="prepared folder (default: the one the model was trained on)")
    source = parser.add_mutually_exclusive_group(required=True)
    of = source.add_argument
    pair = "two raw sentences; may be repeated"
    of("--pair", nargs=2, action="append", metavar="SENTENCE", help=pair)
    raw = "raw pairs, one a line with a TAB between the sentences; - for standard input"
    of("--input", metavar="FILE", help=raw)
    of("--split", help="pairs of this split of the prepared folder")
    most = f"show at most N pairs (default: {OF_A_SPLIT} with --split, otherwise all)"
    add("--max", type=int, metavar="N", help=most)
    add("--wrong-only", action="store_true", help="with --split: only pairs the model gets wrong")
    layer = "layer to show, from 0 (default: the mean of the layers with dual attention)"
    add("--layer", type=int, help=layer)
    add("--highlight", type=int, default=3, metavar="N", help="words to mark in each sentence")
    add("--html", metavar="FILE", help="also write an HTML page that needs no other file")
    against = "another run or checkpoint, whose predictions are shown beside the first one's"
    add("--against", metavar="PATH", help=against)
    add_overrides(parser, EXAMPLES)
    add("--cpu", action="store_true", help="use no GPU")


def run(args: argparse.Namespace) -> None:
    """Load, print the cases as they come, write the page.

    Raises:
        FileNotFoundError, ValueError, OSError: what `prediction.load` and `difference_study`
            refuse; a page that cannot be written.
    """
    check(args)
    from ..evaluation.contrast import short_names
    from ..evaluation.highlights import as_page, as_text
    from ..files import write_text
    from ..inference import difference_study, prediction
    from ..inference.text_checkpoints import find_checkpoints

    command.show_log()
    sys.stdout.reconfigure(encoding="utf-8")  # pyrefly: ignore[missing-attribute]
    check_page(args.html)
    if args.input not in (None, "-") and not Path(args.input).is_file():
        raise FileNotFoundError(f"{args.input}: no such file")
    first = find_checkpoints(args.checkpoint)
    difference_study.check_difference(first[0])
    paths = [args.checkpoint, *([args.against] if args.against else [])]
    names = short_names(paths)
    given = given_overrides(args, EXAMPLES)
    predictors = [prediction.load(path, args.data, cpu=args.cpu, **given) for path in paths]
    shown, color = [], sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for case in cases(args, names, predictors):
        print(as_text(case, args.highlight, color=color), end="", flush=True)
        shown.append(case)
    nothing = f"no pairs to show{' that are wrong' if args.wrong_only else ''}"
    print(LEGEND if shown else nothing, file=sys.stderr)
    if args.html:
        write_text(args.html, as_page(shown, facts(args, first[0], predictors), args.highlight))
        print(args.html, file=sys.stderr)


def check(args: argparse.Namespace) -> None:
    """Refuse what does not go together; UsageError names it."""
    for name, least in (("max", 1), ("highlight", 0)):
        value = getattr(args, name)
        if value is not None and value < least:
            raise command.UsageError(f"--{name} {value}: must be at least {least}")
    if args.wrong_only and args.split is None:
        raise command.UsageError("--wrong-only goes with --split: raw pairs have no gold labels")


def check_page(path: str | None) -> None:
    """Refuse a page that cannot be written, before any work."""
    if path is None:
        return
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder, not a file to write")
    parent = Path(path).parent
    parent.mkdir(parents=True, exist_ok=True)
    if not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{parent}: no permission to write there")


def studied(predictor: Predictor, args: argparse.Namespace) -> Iterator[Case]:
    """Yield the pairs that are asked for."""
    from ..inference import difference_study, prediction_inputs
    from ..text_reading import lines_of, numbered_lines

    if args.split is not None:
        most = {"most": args.max or OF_A_SPLIT, "wrong_only": args.wrong_only}
        return difference_study.study_split(predictor, args.split, args.layer, **most)
    if args.pair is not None:
        examples = prediction_inputs.examples_of(args.pair, predictor.wanted)
    else:
        by_line = args.input == "-"  # a file is read to its end before anything is predicted
        name = "standard input" if by_line else args.input
        lines = lines_of(sys.stdin.buffer, name) if by_line else numbered_lines(Path(name))
        examples = prediction_inputs.read_examples(lines, name, "text", predictor.wanted)
        examples = examples if by_line else [*examples]
    return difference_study.study_examples(predictor, islice(examples, args.max), args.layer)


def cases(args: argparse.Namespace, names: tuple[str, ...], predictors: list) -> Iterator[Case]:
    """Yield the pairs with the answers of one system or two."""
    predictor, *others = predictors
    for case in studied(predictor, args):
        made = [case.first, *(other.predict([case.texts])[0] for other in others)]
        yield replace(case, predictions=list(zip(names, made)))


def facts(args: argparse.Namespace, path: Path, predictors: list) -> dict[str, str]:
    """Say what the page is of."""
    from ..inference.text_checkpoints import read_checkpoint

    manifest, folder = predictors[0].manifest, predictors[0].folder
    model = read_checkpoint(path).model
    layers = model["dual_layers"] if args.layer is None else args.layer
    return {
        "Checkpoint": ":".join(predictors[0].checkpoints),
        "Architecture": f"{model['_name']}, difference {model['difference']}, layers {layers}",
        "Trained on": f"{manifest.dataset} ({folder})",
        "Pairs": f"split {args.split}" if args.split else args.input or "given",
        **({"Against": ":".join(predictors[1].checkpoints)} if args.against else {}),
    }
