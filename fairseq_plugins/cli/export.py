#!/usr/bin/env python
"""Write the BERT of a fine-tuned checkpoint as a Hugging Face directory.

python scripts/export_huggingface.py checkpoints/cola exported/cola
python scripts/export_huggingface.py checkpoint_best.pt exported/cola --data data-bin/cola

The directory holds config.json, model.safetensors, vocab.txt and the tokenizer's settings; load it
with transformers' AutoModel and AutoTokenizer, or give it to --pretrained here. The head of the
task (its classifier) is no part of a BERT directory and is left out. Models that read features or
attend in another way than BERT are refused: the directory would compute something else.
"""

import argparse
import logging
import sys

from fairseq_plugins import command
from fairseq_plugins.inference.export import export_checkpoint


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", help="checkpoint file, or run folder (checkpoint_best.pt)")
    parser.add_argument("output", help="directory to make; appears when it is complete")
    parser.add_argument("--data", help="prepared folder (default: the one it was trained on)")
    return parser.parse_args()


def main() -> int:
    """Export; what goes wrong is one line on stderr."""
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    logging.getLogger("fairseq").setLevel(logging.WARNING)
    return command.run(
        lambda: export_checkpoint(args.checkpoint, args.output, args.data), args.output
    )


if __name__ == "__main__":
    sys.exit(main())
