"""Score predicted answers as the official evaluation of SQuAD 2.0 does (files of 1.1, too).

    python scripts/score_squad.py dev.json predictions.json --null-odds null_odds.json
    python scripts/score_squad.py dev.json predictions.json --ids half.txt --json

Predictions are a JSON object of ids with texts, an empty text for no answer.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys

from fairseq_plugins import command
from fairseq_plugins.evaluation.squad_files import MISSING, SquadScoring, score_files
from fairseq_plugins.evaluation.squad_report import as_text


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("gold", help="SQuAD JSON with answers")
    add("predictions", help="JSON object, id -> text")
    add("--null-odds", metavar="FILE", help="JSON object, id -> how much better no answer is")
    add(
        "--threshold",
        type=float,
        metavar="T",
        help="questions with odds above it have no answer (default: 1.0, as officially)",
    )
    add("--ids", metavar="FILE", help="score these questions: one id a line, or JSON that has them")
    add(
        "--missing",
        default="error",
        choices=MISSING,
        help="questions without a prediction: refuse (default), leave out, or count as no answer",
    )
    add("--json", action="store_true", help="print what the official script prints")
    return parser.parse_args()


def main() -> int:
    """Score and print; what goes wrong is one line on stderr."""
    options = vars(parse_args())
    as_json = options.pop("json")
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr, force=True)

    def work() -> None:
        found = score_files(SquadScoring(**options))
        print(json.dumps(found, indent=2) if as_json else as_text(found))

    return command.run(work, options["gold"])


if __name__ == "__main__":
    sys.exit(main())
