"""Options about how long examples may be, the same in every script; they replace the training's."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

EXAMPLES = ("max_positions", "long_examples")  # of classification and labelling
WINDOWS = ("max_positions", "doc_stride", "max_query_length")  # of questions
FLAGS: dict[str, dict[str, Any]] = {
    "max_positions": {
        "type": int,
        "metavar": "N",
        "help": "most wordpieces of a row, specials included, as far as the model has positions "
        "(default: as in training)",
    },
    "long_examples": {
        "choices": ("error", "truncate", "split"),
        "help": "examples longer than that: truncate is for sentences and pairs, split for labels "
        "of words (default: as in training)",
    },
    "doc_stride": {
        "type": int,
        "metavar": "N",
        "help": "wordpieces from the begin of one window of a long context to the next (default: "
        "as in training)",
    },
    "max_query_length": {
        "type": int,
        "metavar": "N",
        "help": "wordpieces of a question that are read (default: as in training)",
    },
}


def add_lengths(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Add some of `FLAGS`: those of `EXAMPLES`, or of `WINDOWS` for questions."""
    for name in names:
        parser.add_argument(f"--{name.replace('_', '-')}", **FLAGS[name])


def given_lengths(options: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return those that were given, as overrides for `load`."""
    values = {name: getattr(options, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
