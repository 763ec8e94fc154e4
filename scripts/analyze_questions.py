"""Count the wrong answers of question answering by question word, systems side by side.

python scripts/analyze_questions.py dev.json runs/squad2/plain/predictions/predictions.json
python scripts/analyze_questions.py dev.json BERT=plain.json BERTQA=bertqa.json --output errors \
    --plot errors

Predictions are a JSON object of ids with texts, an empty text for no answer, as predict_squad.py
writes them. What is significantly different from the first system's share is marked.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from fairseq_plugins import command
from fairseq_plugins.evaluation import question_types
from fairseq_plugins.evaluation.squad_files import check_known, read_ids, read_predictions
from fairseq_plugins.files import write_text
from fairseq_plugins.lab.figures.drawing import check_stem
from fairseq_plugins.lab.figures.question_plots import plot_errors
from fairseq_plugins.prep.qa_examples import read_asked

FORMATS = {
    "text": question_types.format_text,
    "markdown": question_types.format_markdown,
    "csv": question_types.format_csv,
    "json": question_types.format_json,
}
FILES = {"md": "markdown", "csv": "csv", "json": "json"}


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("gold", help="SQuAD JSON with answers, or SPLIT.examples.jsonl of a prepared folder")
    add("predictions", nargs="+", metavar="[NAME=]FILE", help="the first is compared with")
    add("--ids", metavar="FILE", help="these questions alone; see score_squad.py")
    add("--format", default="text", choices=FORMATS, help="of what is printed (default: text)")
    add("--output", metavar="STEM", help=f"also write STEM.{', STEM.'.join(FILES)}")
    add("--plot", metavar="STEM", help="draw bars: STEM.png, STEM.svg")
    add("--samples", type=int, default=1000, help="resamples of the bootstrap; 0 for no test")
    add("--seed", type=int, default=12345, help="of the bootstrap")
    return parser.parse_args()


def read_questions(path: str, ids: str | None) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Read what is asked, and the gold answers.

    Raises:
        FileNotFoundError, ValueError: no SQuAD file, a question without gold, unknown ids.
    """
    asked = read_asked(path)
    if ids is not None:
        wanted = read_ids(ids)
        check_known(wanted, set(asked), ids, path)
        asked = {name: question for name, question in asked.items() if name in wanted}
    texts = {name: question.text for name, question in asked.items()}
    return texts, {name: question.golds for name, question in asked.items()}


def read_systems(words: list[str]) -> dict[str, dict[str, str]]:
    """Read the predictions of every system.

    Raises:
        FileNotFoundError, ValueError: a file that is not there or holds no predictions; two systems
            of one name.
    """
    systems: dict[str, dict[str, str]] = {}
    for word in words:
        name, sign, path = word.partition("=")
        if not sign or Path(word).is_file():
            name, path = Path(word).stem, word
        if not name or name in systems:
            raise ValueError(f"{word!r}: system {name!r} has no name of its own: write NAME=FILE")
        systems[name] = read_predictions(path)
    return systems


def analyze(args: argparse.Namespace) -> str:
    """Count, write and draw; return what is to be printed."""
    if args.samples < 0:
        raise ValueError(f"--samples {args.samples}: must be at least 0")
    stem = check_stem(args.plot) if args.plot else None
    questions, gold = read_questions(args.gold, args.ids)
    systems = read_systems(args.predictions)
    found = question_types.count_errors(
        questions, gold, systems, samples=args.samples, seed=args.seed
    )
    for suffix, form in FILES.items() if args.output else ():
        write_text(f"{args.output}.{suffix}", FORMATS[form](found))
    if stem:
        plot_errors(found, stem)
    return FORMATS[args.format](found)


def main() -> int:
    """Analyze; what goes wrong is one line on stderr."""
    args = parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr, force=True)
    place = args.output or args.plot or args.gold
    return command.run(lambda: print(analyze(args), end=""), place)


if __name__ == "__main__":
    sys.exit(main())
