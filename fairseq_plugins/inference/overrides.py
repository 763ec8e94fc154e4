"""Options that replace those of the training, the same in every script that loads a model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

PIPELINE = "spacy_model"
EXAMPLES = ("max_positions", "long_examples")  # of classification and labelling
WINDOWS = ("max_positions", "doc_stride", "max_query_length")  # of questions
FLAGS: dict[str, dict[str, Any]] = {
    PIPELINE: {
        "metavar": "NAME",
        "help": "spaCy pipeline for raw text, installed or a path (default: that of the data "
        "folder, if it is the bundled one or installed)",
    },
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


def add_overrides(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Add the pipeline and some of `FLAGS`: those of `EXAMPLES`, or of `WINDOWS` for questions."""
    for name in (PIPELINE, *names):
        parser.add_argument(f"--{name.replace('_', '-')}", **FLAGS[name])


def given_overrides(options: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the pipeline and those of the names that were given, as overrides for `load`."""
    values = {name: getattr(options, name) for name in (PIPELINE, *names)}
    return {name: value for name, value in values.items() if value is not None}
