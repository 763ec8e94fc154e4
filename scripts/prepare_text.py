"""Prepare a dataset for `--task text_classification` or `--task sequence_labeling`.

python scripts/prepare_text.py --dataset cola --raw-dir CoLA --destdir data-bin/cola
python scripts/prepare_text.py --dataset plain --train-file train.tsv --valid-file valid.tsv \
    --text-column sentence --label-column label --destdir data-bin/mine
"""

from __future__ import annotations

import argparse
import logging
import sys

from fairseq_plugins.prep.options import explain
from fairseq_plugins.prep.text_options import add_text_flags, options_from
from fairseq_plugins.prep.text_preparation import prepare


def main() -> int:
    """Parse the flags and prepare; what goes wrong is one line on stderr."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_text_flags(parser)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", force=True)
    flags = vars(parser.parse_args())
    try:
        prepare(options_from(flags))
    except (OSError, ValueError) as error:
        reason = explain(error, flags["destdir"]) if isinstance(error, OSError) else error
        print(f"error: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; run the same command again to go on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
