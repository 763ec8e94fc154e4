"""Prepare parallel text for `--task syntax_translation` (and stock `--task translation`).

python scripts/prepare_translation.py -s en -t de --trainpref corpus/train \
    --validpref corpus/valid --testpref corpus/test --destdir data-bin/corpus
"""

from __future__ import annotations

import argparse
import logging
import sys

from fairseq_plugins.prep.options import TranslationOptions, add_flags, explain
from fairseq_plugins.prep.translation import prepare


def main() -> int:
    """Parse the flags and prepare; what goes wrong is one line on stderr."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_flags(parser)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", force=True)
    options = vars(parser.parse_args())
    try:
        prepare(TranslationOptions(**options))
    except OSError as error:
        print(f"error: {explain(error, options['destdir'])}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; run the same command again to go on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
