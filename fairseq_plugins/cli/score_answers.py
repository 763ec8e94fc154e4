"""Score predicted answers as the official evaluation of SQuAD 2.0 does (also for SQuAD 1.1).

    fairseq-plugins score-answers dev.json predictions.json --null-odds null_odds.json
    fairseq-plugins score-answers dev.json predictions.json --ids half.txt --json

Predictions are a JSON object that maps question ids to texts; an empty text means no answer.
"""

import argparse

from ..evaluation.choices import MISSING
from . import command

PLACES = ("gold",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("gold", help="SQuAD file (JSON) with gold answers")
    add("predictions", help="JSON object, question id -> predicted text")
    odds = "JSON object, question id -> how strongly the model prefers no answer"
    add("--null-odds", metavar="FILE", help=odds)
    most = "no answer is predicted where the null odds exceed T (default: 1.0, as officially)"
    add("--threshold", type=float, metavar="T", help=most)
    these = "score only these questions: a file of one id per line, or JSON that has the ids"
    add("--ids", metavar="FILE", help=these)
    lacking = "questions without a prediction: stop (default), leave out, or count as no answer"
    add("--missing", default="error", choices=MISSING, help=lacking)
    add("--json", action="store_true", help="print JSON, as the official script does")


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
