"""The commands of this project: how one is started, how it is written, what it takes."""

from __future__ import annotations

import argparse
import runpy
import shlex
import sys
from functools import cache
from unittest.mock import patch

from .run_files import SCRIPTS

_FILES = {
    "prepare translation": "prepare_translation",
    "prepare text": "prepare_text",
    "prepare questions": "prepare_squad",
    "perturb": "perturb",
    "average": "average_checkpoints",
    "train-distributed": "train_distributed",
    "translate": "translate",
    "predict": "predict",
    "answer": "predict_squad",
    "robustness": "robustness",
    "score": "score",
    "score-answers": "score_squad",
    "compare": "compare_predictions",
    "cases": "case_study",
    "analyze-questions": "analyze_questions",
    "plot attention": "plot_attention",
    "plot coattention": "plot_coattention",
    "plot fractions": "plot_fractions",
    "plot gates": "plot_gates",
    "table": "report_table",
    "seeds": "report_seeds",
}


def command(name: str, *words: str) -> list[str]:
    """Return the words that start a command in a process of its own.

    Args:
        name: verb and noun, such as ``plot gates``.
        words: its arguments.
    """
    return [sys.executable, str(SCRIPTS / f"{_FILES[name]}.py"), *words]


def written(name: str, *words: str) -> str:
    """Return a command as a person types it."""
    return shlex.join(["python", f"scripts/{_FILES[name]}.py", *words])


@cache
def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command's arguments."""
    found: list[argparse.ArgumentParser] = []

    def stop(parser: argparse.ArgumentParser, *_: object) -> None:
        found.append(parser)
        raise SystemExit

    with patch.object(argparse.ArgumentParser, "parse_args", stop):
        try:
            runpy.run_path(command(name)[1], run_name="__main__")
        except SystemExit:
            return found[0]
