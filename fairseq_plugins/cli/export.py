"""Write the encoder of a fine-tuned checkpoint as a Hugging Face directory.

    fairseq-plugins export checkpoints/cola exported/cola
    fairseq-plugins export checkpoint_best.pt exported/cola --data data-bin/cola

The directory is one of the encoder's family (BERT, RoBERTa, ...). It holds config.json,
model.safetensors, the vocabulary and the tokenizer's settings; load it with transformers' AutoModel
and AutoTokenizer, or give it to --pretrained here. The head of the task (its classifier) is no part
of such a directory and is left out, as is a pooler where the family has none. Models that read
features or attend in another way are refused: the directory would compute something else.
"""

import argparse
import sys

from . import command

PLACES = ("output",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoint", help="checkpoint file, or run folder (checkpoint_best.pt)")
    parser.add_argument("output", help="directory to make; appears when it is complete")
    parser.add_argument("--data", help="prepared folder (default: the one it was trained on)")


def run(args: argparse.Namespace) -> None:
    from ..inference.export import export_checkpoint

    command.show_log("INFO", stream=sys.stdout)
    export_checkpoint(args.checkpoint, args.output, args.data)
