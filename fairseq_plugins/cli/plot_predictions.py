"""Draw predicted classes against true ones, and how far probabilities can be trusted.

    fairseq-plugins predict runs/cola --split valid --output valid.jsonl
    fairseq-plugins plot predictions valid.jsonl --output runs/cola/valid
    fairseq-plugins plot predictions BERT=plain.jsonl POS=pos.jsonl --output runs/figures/cola

From the JSON lines of `predict`, of examples with gold labels, come the scores of each class, a
confusion matrix of each system (STEM_confusion.png and .svg) and a reliability diagram with the
expected calibration error (STEM_reliability.png and .svg).
"""

import argparse

from ..errors import InputError
from . import command

READ = ("predictions",)
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    files = "JSON lines of `predict` of the same examples (default name: the file's)"
    add("predictions", nargs="+", metavar="[NAME=]FILE", help=files)
    add("--output", default="predictions", metavar="STEM", help="beginning of the files' names")


def run(args: argparse.Namespace) -> None:
    """Draw, write and print the scores."""
    import numpy as np

    from ..evaluation.contrast import ContrastOptions
    from ..evaluation.predictions import check_same, read_predictions
    from ..evaluation.shown_text import align
    from ..lab.figures.drawing import check_stem, save
    from ..lab.figures.judgements import plot_confusion, plot_reliability
    from ..targets.by_label import parted
    from ..targets.calibration import filled_bins
    from ..targets.classes import CLASSES, cells, confusion

    command.show_log()
    stem = check_stem(args.output)
    named = zip(*ContrastOptions(args.predictions).named)
    systems = [(name, read_predictions(path)) for name, path in named]
    check_same(systems)
    if not systems[0][1]:
        raise InputError(f"{args.predictions[0]}: no predictions")
    labels, matrices, bins = [*systems[0][1][0].probabilities], {}, {}
    for name, made in systems:
        pairs = [one.gold for one in made], [one.answer for one in made]
        places, once = cells(*pairs, labels), np.ones(len(made))
        matrices[name] = np.array(confusion(places, once, len(labels)))
        bins[name] = filled_bins(judged for one in made for judged in one.judged)
        print(name, *align(parted(CLASSES.by_label(*pairs, labels))[1]), "", sep="\n")
    figures = {"confusion": plot_confusion(matrices, labels), "reliability": plot_reliability(bins)}
    for kind, figure in figures.items():
        print(*save(figure, stem.with_name(f"{stem.name}_{kind}")), sep="\n")
