"""Show pairs of sentences with the words that differ most, by a model with difference attention.

python scripts/case_study.py runs/rte/dabert --pair "12 people came." "42 people came."
python scripts/case_study.py runs/rte/dabert --split valid --max 20 --wrong-only --html cases.html
cat pairs.tsv | python scripts/case_study.py runs/rte/dabert --input - --against runs/rte/plain

A word's number is the share of difference attention (in percent) that the other sentence pays to
it; {+so+} are the strongest of each sentence, punctuation apart.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from fairseq_plugins import command
from fairseq_plugins.evaluation.contrast import short_names
from fairseq_plugins.evaluation.highlights import Answer, Case, Sentence, as_page, as_text
from fairseq_plugins.files import write_text
from fairseq_plugins.inference import difference_study, prediction, prediction_inputs
from fairseq_plugins.inference.overrides import EXAMPLES, add_overrides, given_overrides
from fairseq_plugins.inference.prediction_records import Prediction, ScorePrediction
from fairseq_plugins.inference.text_checkpoints import find_checkpoints, recorded_options
from fairseq_plugins.text_reading import lines_of, numbered_lines

OF_A_SPLIT = 20


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("checkpoint", help="run folder (its checkpoint_best.pt), or checkpoint files joined by ':'")
    add("--data", metavar="DIR", help="prepared folder (default: the one it was trained on)")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--pair", nargs=2, action="append", metavar="SENTENCE", help="raw pair; may be repeated"
    )
    source.add_argument(
        "--input",
        metavar="FILE",
        help="raw pairs, one a line, a TAB between the sentences; - for standard input",
    )
    source.add_argument("--split", help="pairs of this split of the prepared folder")
    add("--max", type=int, metavar="N", help=f"most pairs (default: {OF_A_SPLIT} of a split)")
    add("--wrong-only", action="store_true", help="of a split: only what the model gets wrong")
    add("--layer", type=int, help="layer from 0 (default: the mean of those with dual attention)")
    add("--highlight", type=int, default=3, metavar="N", help="words to mark in a sentence")
    add("--html", metavar="FILE", help="also write a page that needs no other file")
    add("--against", metavar="PATH", help="another run or checkpoint whose answers stand beside")
    add_overrides(parser, EXAMPLES)
    add("--cpu", action="store_true", help="use no GPU")
    args = parser.parse_args()
    for name, least in (("max", 1), ("highlight", 0)):
        value = getattr(args, name)
        if value is not None and value < least:
            parser.error(f"--{name} {value}: must be at least {least}")
    if args.wrong_only and args.split is None:
        parser.error("--wrong-only goes with --split: raw pairs have no gold labels")
    return args


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


def studied(
    predictor: prediction.Predictor, args: argparse.Namespace
) -> Iterator[difference_study.StudiedPair]:
    """Yield the pairs that are asked for."""
    if args.split is not None:
        return difference_study.study_split(
            predictor,
            args.split,
            args.layer,
            most=args.max or OF_A_SPLIT,
            wrong_only=args.wrong_only,
        )
    if args.pair is not None:
        examples = prediction_inputs.examples_of(args.pair, predictor.wanted)
    elif args.input == "-":
        lines = lines_of(sys.stdin.buffer, "standard input")
        examples = prediction_inputs.read_examples(
            lines, "standard input", "text", predictor.wanted
        )
    else:
        lines = numbered_lines(Path(args.input))
        examples = [*prediction_inputs.read_examples(lines, args.input, "text", predictor.wanted)]
    return difference_study.study_examples(predictor, islice(examples, args.max), args.layer)


def answer(system: str, made: Prediction, gold: object) -> Answer:
    """Say a prediction in words; ``gold`` is the first system's, as others read raw text."""
    if isinstance(made, ScorePrediction):
        return Answer(system, f"{made.score:.3f}")
    right = None if gold is None else made.label == gold
    return Answer(system, f"{made.label} {made.probability:.3f}", right)


def cases(args: argparse.Namespace, names: tuple[str, ...], predictors: list) -> Iterator[Case]:
    """Yield the pairs with the answers of one system or two."""
    predictor, *others = predictors
    for pair in studied(predictor, args):
        made = [pair.prediction, *(other.predict([pair.texts])[0] for other in others)]
        gold = pair.prediction.gold
        yield Case(
            pair.prediction.id,
            [answer(name, one, gold) for name, one in zip(names, made)],
            [Sentence(s.text, s.spans, s.strengths.tolist()) for s in pair.sentences],
            None if gold is None else str(gold),
        )


def study(args: argparse.Namespace) -> None:
    """Load, print the cases as they come, write the page.

    Raises:
        FileNotFoundError, ValueError, OSError: what `prediction.load` and `difference_study`
            refuse; a page that cannot be written.
    """
    check_page(args.html)
    if args.input not in (None, "-") and not Path(args.input).is_file():
        raise FileNotFoundError(f"{args.input}: no such file")
    first = find_checkpoints(args.checkpoint)
    difference_study.check_difference(first[0])
    paths = [args.checkpoint, *([args.against] if args.against else [])]
    names = short_names(paths)
    given = given_overrides(args, EXAMPLES)
    predictors = [prediction.load(path, args.data, cpu=args.cpu, **given) for path in paths]
    shown = []
    for case in cases(args, names, predictors):
        print(as_text(case, args.highlight, color=_colored()), end="", flush=True)
        shown.append(case)
    if shown:
        legend = (
            "{+so+}: most difference attention from the other sentence, in % (punctuation apart)"
        )
        print(legend, file=sys.stderr)
    else:
        print(f"no pairs to show{' that are wrong' if args.wrong_only else ''}", file=sys.stderr)
    if args.html:
        write_text(args.html, as_page(shown, facts(args, first[0], predictors), args.highlight))
        print(args.html, file=sys.stderr)


def facts(args: argparse.Namespace, path: Path, predictors: list) -> dict[str, str]:
    """Say what the page is of."""
    manifest, folder = predictors[0].manifest, predictors[0].folder
    model = recorded_options(path)["model"]
    layers = model["dual_layers"] if args.layer is None else args.layer
    return {
        "Checkpoint": ":".join(predictors[0].checkpoints),
        "Architecture": f"{model['_name']}, difference {model['difference']}, layers {layers}",
        "Trained on": f"{manifest.dataset} ({folder})",
        "Pairs": f"split {args.split}" if args.split else args.input or "given",
        **({"Against": ":".join(predictors[1].checkpoints)} if args.against else {}),
    }


def _colored() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def main() -> int:
    """Show; what goes wrong is one line on stderr."""
    args = parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr, force=True)
    sys.stdout.reconfigure(encoding="utf-8")
    return command.run(lambda: study(args), args.checkpoint)


if __name__ == "__main__":
    sys.exit(main())
