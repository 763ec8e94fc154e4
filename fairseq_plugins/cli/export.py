"""Write a trained model in a form that others run.

    fairseq-plugins export runs/cola bundles/cola
    fairseq-plugins export runs/cola bundles/cola_int8 --int8 --with-pipeline
    fairseq-plugins export runs/cola exported/cola --format huggingface

bundle       a folder that is run without fairseq, by `predict`, `answer`, `ask` and in Python by
             `from fairseq_plugins import load`: every model of texts and questions. It holds
             weights, options, vocabulary and a card; no training data and no code.
huggingface  the encoder as a directory of its family (BERT, RoBERTa, ...) for transformers'
             AutoModel and AutoTokenizer, or --pretrained here. The head of the task is no part of
             it, nor is a pooler where the family has none. Models that read features or attend in
             another way are refused: the directory would compute something else.
"""

import argparse
import sys

from ..inference.options import FORMATS
from . import command

PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("checkpoint", help="checkpoint file, or run folder (checkpoint_best.pt)")
    add("output", help="folder to make; appears when it is complete")
    add("--data", help="prepared folder (default: the one it was trained on)")
    add("--format", default=FORMATS[0], choices=FORMATS, help="see above (default: %(default)s)")
    add("--int8", action="store_true", help="bundle: weights of linear maps in 8 bits")
    copied = "bundle: with the pipeline that annotates raw text"
    add("--with-pipeline", action="store_true", help=copied)
    other = "that pipeline (default: the prepared folder's, if it is bundled or installed)"
    add("--spacy-model", "--annotator", metavar="MODEL", help=other)


def run(args: argparse.Namespace) -> None:
    """Export.

    Raises:
        FileNotFoundError, ValueError: see `inference.export.export`.
    """
    from ..inference.export import export

    command.show_log("INFO", stream=sys.stdout)
    given = {name: getattr(args, name) for name in ("int8", "with_pipeline", "spacy_model")}
    if args.format != FORMATS[0] and any(given.values()):
        flags = "--int8, --with-pipeline and --spacy-model"
        raise command.UsageError(f"{flags} go with --format {FORMATS[0]}, not {args.format}")
    export(args.checkpoint, args.output, args.data, form=args.format, **given)
