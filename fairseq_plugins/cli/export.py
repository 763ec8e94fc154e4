"""Export a trained model: a bundle that runs without fairseq, a Hugging Face directory, or ONNX.

    fairseq-plugins export runs/cola --output bundles/cola
    fairseq-plugins export runs/cola --output bundles/cola_int8 --int8 --with-pipeline
    fairseq-plugins export runs/cola --output exported/cola --format huggingface
    fairseq-plugins export runs/cola_pos --output exported/cola_onnx --format onnx

bundle: a folder that runs without fairseq, in `predict`, `answer`, `ask`, `robustness`,
`translate`, `serve` and `demo`, and in Python by `from fairseq_plugins import load`. Every model of
texts and questions can be exported so, and translation models as far as CTranslate2 supports their
parts. It holds weights, options, vocabulary and a model card; no training data and no code.

huggingface: a directory of the encoder's family (BERT, RoBERTa, ...) with the task's head and its
labels, for transformers' AutoModelForSequenceClassification (classes, scores and sets of labels, of
sentences and pairs), AutoModelForTokenClassification (a word's label is that of its first subword)
or AutoModelForQuestionAnswering (models with --span-head joint). --pretrained reads it too, without
the head.

huggingface-encoder: the encoder alone, for AutoModel.

onnx: model.onnx with the head, for ONNX Runtime and others; batches of any size, padded on the
right. Inputs are input_ids, attention_mask, token_type_ids (BERT, ELECTRA and ALBERT), and, of
models with --features, src_factors, whose ids features.json explains. Outputs are logits, or for
question answering start_logits and end_logits. Needs the packages of the extra "onnx".

Each of these three also has config.json, the vocabulary and the tokenizer's settings. Models whose
attention is computed differently, or that read something for which a format has no place, are
refused, because the exported model would compute something else.
"""

import argparse
import sys

from ..inference.options import BUNDLE, EXPORTS
from . import command

READ = ("checkpoint", "data")
PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    file = "checkpoint file, or run folder (its checkpoint_best.pt)"
    add("checkpoint", metavar="MODEL", help=file)
    folder = "folder to create; it appears only when it is complete"
    add("--output", required=True, metavar="DIR", help=folder)
    add("--data", help="prepared folder (default: the one the model was trained on)")
    add("--format", default=BUNDLE, choices=EXPORTS, help="format to write (default: %(default)s)")
    add("--int8", action="store_true", help="bundle: store the weights of linear layers in 8 bits")
    copied = "bundle: include the pipeline that annotates raw text"
    add("--with-pipeline", action="store_true", help=copied)
    other = (
        "bundle: pipeline to include (default: the data folder's, if it is bundled or installed)"
    )
    add("--spacy-model", "--annotator", metavar="MODEL", help=other)


def run(args: argparse.Namespace) -> None:
    """Export."""
    from ..inference.export import export_checkpoint

    command.show_log("INFO", stream=sys.stdout)
    given = {name: getattr(args, name) for name in ("int8", "with_pipeline", "spacy_model")}
    if args.format != BUNDLE and any(given.values()):
        flags = "--int8, --with-pipeline and --spacy-model"
        raise command.UsageError(f"{flags} go with --format {BUNDLE}, not {args.format}")
    given = given if args.format == BUNDLE else {}
    export_checkpoint(args.checkpoint, args.output, args.data, args.format, **given)
