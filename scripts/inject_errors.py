"""Put grammatical errors into the sentences of an English treebank, for error detection.

python scripts/inject_errors.py --conllu en_ewt-ud-train.conllu --output errors/train.tsv --seed 1
python scripts/prepare_text.py --dataset token_errors --raw-dir errors --destdir data-bin/errors

The output has a word a line, a tab and c (correct) or i (incorrect), as the files of FCE have.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairseq_plugins import command
from fairseq_plugins.augment.error_injection import Injection, inject_file
from fairseq_plugins.option_flags import add_flags


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--conllu", type=Path, required=True, help="treebank, with UPOS and FEATS")
    parser.add_argument("--output", type=Path, required=True, help="token file to write")
    add_flags(parser, Injection)
    return parser.parse_args()


def inject(flags: argparse.Namespace) -> None:
    """Inject, and print the counts."""
    injection = Injection(flags.seed, flags.rate, flags.erroneous, flags.kinds)
    counts = inject_file(flags.conllu, flags.output, injection)
    print(
        f"{counts['sentences']} sentences, {counts['erroneous']} with errors, "
        f"{counts['untouched']} to which no kind applies\n"
        f"{counts['words']} words, {counts['wrong']} incorrect"
    )
    for kind in injection.names:
        print(f"{kind}\t{counts[kind]}")


def main() -> int:
    """Inject; what goes wrong is one line on stderr."""
    flags = parse_args()
    return command.run(lambda: inject(flags), flags.output)


if __name__ == "__main__":
    sys.exit(main())
