"""Score predicted answers as the official evaluation of SQuAD 2.0 does (files of 1.1, too).

    fairseq-plugins score-answers dev.json predictions.json --null-odds null_odds.json
    fairseq-plugins score-answers dev.json predictions.json --ids half.txt --json

Predictions are a JSON object of ids with texts, an empty text for no answer.
"""

import argparse

from ..evaluation.choices import MISSING
from . import command

PLACES = ("gold",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("gold", help="SQuAD JSON with answers")
    add("predictions", help="JSON object, id -> text")
    add("--null-odds", metavar="FILE", help="JSON object, id -> how much better no answer is")
    most = "questions with odds above it have no answer (default: 1.0, as officially)"
    add("--threshold", type=float, metavar="T", help=most)
    add("--ids", metavar="FILE", help="score these questions: one id a line, or JSON that has them")
    lacking = "questions without a prediction: refuse (default), leave out, or count as no answer"
    add("--missing", default="error", choices=MISSING, help=lacking)
    add("--json", action="store_true", help="print what the official script prints")


def run(args: argparse.Namespace) -> None:
    """Score and print."""
    import json

    from ..evaluation.squad import as_text
    from ..evaluation.squad_files import SquadScoring, score_files

    command.show_log()
    options = vars(args)
    as_json = options.pop("json")
    found = score_files(SquadScoring(**options))
    print(json.dumps(found, indent=2) if as_json else as_text(found))
