"""Draw the attention of models over a sentence, side by side, as PNG and SVG.

    fairseq-plugins plot attention runs/quickstart/baseline runs/quickstart/syntax \\
        --sentence "She lights the lamp." --reference "Sie zündet die Lampe an." --output figure
    fairseq-plugins plot attention WLA=runs/wla SLA=runs/sla --output figure \\
        --sentence "A film full of fresh air."
    fairseq-plugins plot attention runs/plain runs/dabert --layer 0 --words --output figure \\
        --sentence "He needs new hardware." "He needs new software."

For a translation model: the decoder's attention over the source sentence while it translates; above
it the sentence with dependency arcs and with the features that the models read, and their
translations, in which the words are marked that --reference lacks.

For a BERT: the attention of each token over the sentence, with dependency arcs above it; rectangles
mark the cells that grow most from the first model to the others. In a layer with dual attention
(DABERT), affinity and difference attention are shown as the layer's gate weighs them, or one of
them alone (--attention).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..inference.options import ATTENTIONS, EXAMPLES, add_overrides, given_overrides
from . import command

if TYPE_CHECKING:
    from ..lab.figures.matrices import AttentionPanel
    from ..lab.figures.sentences import ReadSentence

ENCODER_ONLY = ("words", "highlight", "attention", *EXAMPLES)
HIGHLIGHT = 6
READ = ("checkpoints", "data")
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    files = (
        "checkpoint files, or run folders (their checkpoint_best.pt), with the title of a panel "
        "(default: the folder; for BERTs the architecture)"
    )
    add("checkpoints", nargs="+", metavar="[NAME=]MODEL", help=files)
    raw = "raw sentence; two for a model of sentence pairs"
    add("--sentence", nargs="+", required=True, metavar="TEXT", help=raw)
    reference = "for a translation: the right one; words that it lacks are marked"
    add("--reference", metavar="TEXT", help=reference)
    add("--data", metavar="DIR", help="prepared folder (default: the one used in training)")
    add("--output", default="attention", help="name of the figure files without suffix")
    add("--beam", type=int, default=4, help="beam size of a translation model")
    layer = "layer, counted from 0 (default: the decoder's last; for a BERT the mean over layers)"
    add("--layer", type=int, help=layer)
    add("--head", type=int, help="attention head, counted from 0 (default: the mean over heads)")
    kinds = (
        "for a BERT: kind of attention, one for all checkpoints or one for each (default: fused in "
        "layers with dual attention, else affinity)"
    )
    add("--attention", nargs="+", choices=ATTENTIONS, help=kinds)
    add("--words", action="store_true", help="for a BERT: join wordpieces into words")
    most = f"for a BERT: mark the N cells that grow most (default: {HIGHLIGHT}; 0 for none)"
    add("--highlight", type=int, metavar="N", help=most)
    add_overrides(parser, EXAMPLES)
    add("--cpu", action="store_true", help="for a BERT: use no GPU")


def run(args: argparse.Namespace) -> None:
    """Draw the attention of the checkpoints, and print the files."""
    count, kinds = len(args.checkpoints), args.attention or ()
    if len(kinds) not in (0, 1, count):
        raise command.UsageError(f"{len(kinds)} attentions for {count} models")
    command.check_least(args, highlight=0)
    from ..evaluation.contrast import named_path
    from ..inference.text_checkpoints import TASKS, find_checkpoints, read_checkpoint
    from ..lab.figures.drawing import check_stem, save
    from ..lab.figures.matrices import ITSELF, TRANSLATION, plot_attention
    from ..lab.figures.sentences import add_sentence

    command.show_log()
    names, given = zip(*map(named_path, args.checkpoints))
    stem, paths = check_stem(args.output), find_checkpoints(given)
    tasks = [read_checkpoint(path).task.get("_name") for path in paths]
    for path, task in zip(paths, tasks):
        if (task in TASKS) != (tasks[0] in TASKS):
            both = f"{paths[0]} is of task {tasks[0]!r} and {path} of {task!r}"
            raise InputError(f"{both}: they make no figure together")
    is_encoder = tasks[0] in TASKS
    read, panels = (encoder_panels if is_encoder else translation_panels)(args, paths, names)
    usual = "mean over layers" if is_encoder else "last layer"
    about = f"{usual if args.layer is None else f'layer {args.layer}'}, "
    about += "mean over heads" if args.head is None else f"head {args.head}"
    notes = [about, *(read.meanings() if read else ())]
    figure = plot_attention(panels, ITSELF if is_encoder else TRANSLATION, notes=notes)
    if read:
        add_sentence(figure, read)
    print(*save(figure, stem), sep="\n")


def translation_panels(
    args: argparse.Namespace, paths: list[Path], names: Sequence[str]
) -> tuple[ReadSentence, list[AttentionPanel]]:
    """Translate with every checkpoint; read the sentence with the last that reads features."""
    from ..inference import translation_attention as attention
    from ..lab.figures.matrices import AttentionPanel
    from ..lab.figures.sentences import ReadSentence

    for option in ENCODER_ONLY:
        if getattr(args, option):
            raise InputError(f"--{option.replace('_', '-')} is for a BERT, not for a translation")
    if len(args.sentence) != 1:
        raise InputError(f"a translation is of one sentence, not of {len(args.sentence)}")
    panels, translations, reader, reads = [], [], None, ""
    for given, path in zip(names, paths):
        name = given or path.parent.name
        model = attention.load(path, args.data, args.spacy_model)
        shown = {"beam": args.beam, "layer": args.layer, "head": args.head}
        found = attention.attend(model, args.sentence[0], **shown)
        print(f"{name}: {found.translation}")
        translations.append((name, found.translation))
        panels.append(AttentionPanel(name, found.weights, found.target, found.source))
        if reader is None or model.task.source_layers:
            reader, reads = model, name
    read = attention.read(reader, args.sentence[0], args.spacy_model)
    reference = (args.reference or "").strip()
    told: dict[str, Any] = {"translations": translations, "reference": reference}
    return ReadSentence(*read, reader=reads, **told), panels


def encoder_panels(
    args: argparse.Namespace, paths: list[Path], names: Sequence[str]
) -> tuple[None, list[AttentionPanel]]:
    """Read the sentence with every checkpoint; compare the others with the first."""
    from ..inference import encoder_attention, prediction
    from ..inference.options import LABELLING
    from ..inference.text_checkpoints import read_checkpoint
    from ..lab.figures.matrices import AttentionPanel

    if args.reference is not None:
        raise InputError("--reference is for a translation, not for a BERT")
    kinds = args.attention or [None]
    kinds = kinds * len(paths) if len(kinds) == 1 else kinds
    models = [str(read_checkpoint(path).model.get("_name")) for path in paths]
    usual = (", ".join(filter(None, pair)) for pair in zip(models, kinds))
    names = [given or own for given, own in zip(names, usual)]
    given, found = given_overrides(args, EXAMPLES), []
    for path, kind in zip(paths, kinds):
        predictor = prediction.load([path], args.data, wanted=LABELLING, cpu=args.cpu, **given)
        shown = {"layer": args.layer, "head": args.head, "kind": kind}
        one = encoder_attention.attend(predictor, args.sentence, **shown)
        found.append(one.by_word() if args.words else one)
    if any(one.heads is None for one in found):
        print("no arcs where the prepared folder names no pipeline that parses", file=sys.stderr)
    panels = []
    marks = encoder_attention.marks(found, HIGHLIGHT if args.highlight is None else args.highlight)
    for name, one, cells in zip(names, found, marks):
        shown: dict[str, Any] = {"arcs": one.arcs(), "relations": one.arc_relations()}
        shown |= {"framed": [(*cell, 1, 1) for cell in cells], "border": one.border_token()}
        panels.append(AttentionPanel(name, one.weights, one.tokens, one.tokens, **shown))
    return None, panels
