"""Count wrong answers to questions by question word (what, who, ...), systems side by side.

    fairseq-plugins analyze-questions dev.json runs/squad2/plain/predictions/predictions.json
    fairseq-plugins analyze-questions dev.json BERT=plain.json BERTQA=bertqa.json \\
        --output errors --plot errors

Predictions are a JSON object, question id -> answer text (empty for no answer), as `answer` writes
it. Shares of wrong answers that differ significantly from the first system's are marked.
"""

import argparse
from pathlib import Path

from . import command

FILES = {"md": "markdown", "csv": "csv", "json": "json"}
FORMATS = ("text", *FILES.values())
READ = ("gold",)
PLACES = ("output", "plot", "gold")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("gold", help="gold answers: SQuAD JSON, or SPLIT.examples.jsonl of a prepared folder")
    files = "a file of predictions for each system; all are compared with the first"
    add("predictions", nargs="+", metavar="[NAME=]FILE", help=files)
    only = "count only these questions: one id a line, or JSON that has them"
    add("--ids", metavar="FILE", help=only)
    add("--format", default="text", choices=FORMATS, help="format to print (default: text)")
    add("--output", metavar="STEM", help=f"also write the counts to STEM.{', STEM.'.join(FILES)}")
    add("--plot", metavar="STEM", help="draw a bar chart: STEM.png and STEM.svg")
    samples = "bootstrap resamples of the significance test; 0 for no test"
    add("--samples", type=int, default=1000, help=samples)
    add("--seed", type=int, default=12345, help="random seed of the bootstrap")


def run(args: argparse.Namespace) -> None:
    """Count, write, draw and print."""
    from ..evaluation import question_types
    from ..evaluation.squad_files import check_known, read_ids, read_predictions
    from ..files import write_text
    from ..lab.figures.drawing import check_stem, save
    from ..lab.figures.errors import plot_errors
    from ..prep.qa_examples import read_asked

    command.show_log()
    if args.samples < 0:
        raise ValueError(f"--samples {args.samples}: must be at least 0")
    stem = check_stem(args.plot) if args.plot else None
    asked = read_asked(args.gold)
    if args.ids is not None:
        wanted = read_ids(args.ids)
        check_known(wanted, asked, args.ids, args.gold)
        asked = {name: question for name, question in asked.items() if name in wanted}
    texts = {name: question.text for name, question in asked.items()}
    gold = {name: question.golds for name, question in asked.items()}
    systems = {name: read_predictions(path) for name, path in named_files(args.predictions).items()}
    found = question_types.count_errors(texts, gold, systems, samples=args.samples, seed=args.seed)
    formats = {form: getattr(question_types, f"format_{form}") for form in FORMATS}
    for suffix, form in FILES.items() if args.output else ():
        write_text(f"{args.output}.{suffix}", formats[form](found))
    if stem:
        save(plot_errors(found), stem)
    print(formats[args.format](found), end="")


def named_files(words: list[str]) -> dict[str, str]:
    """Return system -> file; a file without a name is called by its own.

    Raises:
        ValueError: two systems of one name, or one without.
    """
    systems: dict[str, str] = {}
    for word in words:
        name, sign, path = word.partition("=")
        if not sign or Path(word).is_file():
            name, path = Path(word).stem, word
        if not name or name in systems:
            raise ValueError(f"{word!r}: system {name!r} has no name of its own: write NAME=FILE")
        systems[name] = path
    return systems
