"""Write a fine-tuned checkpoint in a format of others: for transformers, or ONNX.

    fairseq-plugins export checkpoints/cola exported/cola
    fairseq-plugins export checkpoint_best.pt exported/cola --data data-bin/cola
    fairseq-plugins export checkpoints/cola exported/encoder --format huggingface-encoder
    fairseq-plugins export checkpoints/cola_pos exported/cola_onnx --format onnx

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

from ..inference.options import EXPORTS, HUGGINGFACE
from . import command

PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("checkpoint", help="checkpoint file, or run folder (checkpoint_best.pt)")
    add("output", help="directory to make; appears when it is complete")
    add("--data", help="prepared folder (default: the one it was trained on)")
    add(
        "--format",
        default=HUGGINGFACE,
        choices=EXPORTS,
        help=f"what to write (default: {HUGGINGFACE})",
    )


def run(args: argparse.Namespace) -> None:
    from ..inference.export import export_checkpoint

    command.show_log("INFO", stream=sys.stdout)
    export_checkpoint(args.checkpoint, args.output, args.data, args.format)
