"""Prepare SQuAD files (1.1 or 2.0) for `--task extractive_qa`.

python scripts/prepare_squad.py --raw-dir squad --destdir data-bin/squad2
python scripts/prepare_squad.py --train-file train.json --valid-file dev.json \
    --annotations none --max-positions 512 --destdir data-bin/mine
"""

from __future__ import annotations

import argparse
import logging
import sys

from fairseq_plugins.prep.options import add_flags, explain
from fairseq_plugins.prep.squad_options import FLAGS, SquadOptions
from fairseq_plugins.prep.squad_preparation import prepare


def main() -> int:
    """Parse the flags and prepare; what goes wrong is one line on stderr."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_flags(parser, SquadOptions, FLAGS)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", force=True)
    flags = vars(parser.parse_args())
    try:
        prepare(SquadOptions(**flags))
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
