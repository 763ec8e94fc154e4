"""Ask questions about a text, and see where in the text the answers are.

    fairseq-plugins ask runs/squad --context article.txt
    fairseq-plugins ask runs/squad --context article.txt --question "Who built the mill?"
    cat questions.txt | fairseq-plugins ask runs/squad --context article.txt

Without --question, questions are read from the terminal or from standard input, one a line.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import InputError
from ..inference.options import ENSEMBLES, WINDOWS, add_overrides, given_overrides
from . import command

if TYPE_CHECKING:
    from ..inference.question_answering import Reader

PROMPT = "question> "
READ = ("checkpoint", "data")
PLACES = ("checkpoint",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    path = "run folder (its checkpoint_best.pt), checkpoint files or bundles joined by ':'"
    add("checkpoint", metavar="MODEL", help=path)
    add("--context", required=True, metavar="FILE", help="file with the text to ask about")
    several = {"action": "extend", "nargs": "+"}
    asked = "questions (default: read from the terminal or standard input)"
    add("--question", **several, metavar="Q", help=asked)
    add("--data", metavar="DIR", help="prepared folder (default: the one the model was trained on)")
    least = (
        "give no answer if the score of no answer exceeds the best span's by more than T (default: "
        "as in training)"
    )
    add("--null-threshold", type=float, metavar="T", help=least)
    how = "how several models are combined; see answer --help"
    add("--ensemble", default=ENSEMBLES[0], choices=ENSEMBLES, help=how)
    add_overrides(parser, WINDOWS)
    add("--cpu", action="store_true", help="use no GPU")
    add("--int8", action="store_true", help="compute linear layers in 8 bits, on the CPU")


def run(args: argparse.Namespace) -> None:
    """Load the model, then answer each question."""
    check(args)
    from ..inference.question_answering import load

    command.show_log()
    sys.stdout.reconfigure(encoding="utf-8")  # pyrefly: ignore[missing-attribute]
    context = read_context(args.context)
    given = given_overrides(args, ("null_threshold", *WINDOWS))
    given |= {"cpu": args.cpu, "int8": args.int8}
    reader = load(args.checkpoint, args.data, ensemble=args.ensemble, **given)
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for question in questions(args):
        try:
            print(answered(reader, question.strip(), context, color), flush=True)
        except InputError as error:
            if args.question:
                raise
            command.complain(error)  # the next question follows


def check(args: argparse.Namespace) -> None:
    """Refuse meaningless values by UsageError, and missing files."""
    command.check_text_file("--context", args.context)
    if args.null_threshold is not None and math.isnan(args.null_threshold):
        raise command.UsageError("--null-threshold nan: must be a number")
    for number, question in enumerate(args.question or (), start=1):
        if not question.strip():
            raise command.UsageError(f"--question: number {number} is empty")


def read_context(path: str) -> str:
    """Return the text of the context."""
    from ..text_reading import read_lines

    text = "\n".join(read_lines(path))
    if not text.strip():
        raise InputError(f"{path} is empty: there is nothing to ask about")
    return text


def questions(args: argparse.Namespace) -> Iterator[str]:
    """Yield questions as they arrive, without empty ones."""
    from ..text_reading import lines_of

    if args.question:
        yield from args.question
    elif sys.stdin.isatty():
        print("ask a question; Ctrl-D ends", file=sys.stderr)
        while True:
            try:
                question = input(PROMPT)
            except EOFError:
                print(file=sys.stderr)
                return
            if question.strip():
                yield question
    else:
        for number, line in lines_of(sys.stdin.buffer, "standard input"):
            if line.strip():
                yield line
            else:
                print(f"standard input:{number}: no question", file=sys.stderr)


def answered(reader: Reader, question: str, context: str, color: bool) -> str:
    """Return a question with the model's answer."""
    from ..evaluation.answer_text import as_text
    from ..evaluation.shown_text import visible

    found = reader.answer(question, context).found
    shown = as_text(found, context, threshold=reader.threshold, color=color)
    return f"Q: {visible(question)}\nA: {shown}"
