"""Write a trained model in a form that others run.

    fairseq-plugins export runs/cola bundles/cola
    fairseq-plugins export runs/cola bundles/cola_int8 --int8 --with-pipeline
    fairseq-plugins export runs/cola exported/cola --format huggingface
    fairseq-plugins export runs/cola_pos exported/cola_onnx --format onnx

bundle: a folder that runs without fairseq, in `predict`, `answer`, `ask`, `robustness`,
`translate`, `serve` and `demo`, and in Python by `from fairseq_plugins import load`. It takes every
model of texts and questions, and those that translate as far as CTranslate2 has their parts, and
holds weights, options, vocabulary and a card; no training data and no code.

huggingface: a directory of the encoder's family (BERT, RoBERTa, ...) with the task's head and its
labels, for transformers' AutoModelForSequenceClassification (classes and scores, of sentences and
pairs), AutoModelForTokenClassification (labels of words, in the row of a word's first subword) or
AutoModelForQuestionAnswering (--span-head joint). --pretrained takes it too, and leaves the head.

huggingface-encoder: the encoder alone, for AutoModel.

onnx: model.onnx with the head, for ONNX Runtime and others; batches of any size, padded on the
right. Inputs are input_ids, attention_mask, token_type_ids (BERT, ELECTRA and ALBERT), and with
--features src_factors, whose ids features.json explains. Outputs are logits, or of answers
start_logits and end_logits. Needs the packages of the extra "onnx".

config.json, the vocabulary and the tokenizer's settings stand beside each. Models that attend in
another way, or of which a format has no place for what they read, are refused: it would compute
something else.
"""

import argparse
import sys

from ..inference.options import BUNDLE, EXPORTS
from . import command

PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("checkpoint", help="checkpoint file, or run folder (checkpoint_best.pt)")
    add("output", help="folder to make; appears when it is complete")
    add("--data", help="prepared folder (default: the one it was trained on)")
    add("--format", default=BUNDLE, choices=EXPORTS, help="what to write (default: %(default)s)")
    add("--int8", action="store_true", help="bundle: weights of linear maps in 8 bits")
    copied = "bundle: with the pipeline that annotates raw text"
    add("--with-pipeline", action="store_true", help=copied)
    other = "bundle: that pipeline (default: the prepared folder's, if it is bundled or installed)"
    add("--spacy-model", "--annotator", metavar="MODEL", help=other)


def run(args: argparse.Namespace) -> None:
    """Export.

    Raises:
        FileNotFoundError, ValueError: see `inference.export.export_checkpoint`.
    """
    from ..inference.export import export_checkpoint

    command.show_log("INFO", stream=sys.stdout)
    given = {name: getattr(args, name) for name in ("int8", "with_pipeline", "spacy_model")}
    if args.format != BUNDLE and any(given.values()):
        flags = "--int8, --with-pipeline and --spacy-model"
        raise command.UsageError(f"{flags} go with --format {BUNDLE}, not {args.format}")
    given = given if args.format == BUNDLE else {}
    export_checkpoint(args.checkpoint, args.output, args.data, args.format, **given)
