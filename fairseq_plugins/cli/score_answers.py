"""Score predicted answers as the official evaluation of SQuAD 2.0 does (also for SQuAD 1.1).

    fairseq-plugins score-answers dev.json predictions.json
    fairseq-plugins score-answers dev.json predictions.json --null-odds null_odds.json --threshold 0
    fairseq-plugins score-answers dev.json predictions.json --ids half.txt --json

Predictions are a JSON object that maps question ids to texts; an empty text means no answer. With
--null-odds there is no answer either where the odds exceed --threshold, which should be that of
`answer` (null_threshold in its metrics.json). The best scores, which are then told too, are those
of any threshold only if no text was emptied: answer --null-threshold 1e9 writes such a file.
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
    most = (
        "no answer is predicted where the null odds exceed T, which should be the null threshold "
        "that the answers were made with (default: 1.0, as officially)"
    )
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
    what = SquadScoring(**options)
    found = score_files(what)
    print(json.dumps(found, indent=2) if as_json else as_text(found, what.in_force))
