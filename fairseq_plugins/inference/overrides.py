"""Options of whatever loads a model of text; some replace those of its training."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..option_flags import add_flags, option

BATCH_SIZE = 32
PIPELINE = "spacy_model"
EXAMPLES = ("max_positions", "long_examples")  # of classification and labelling
WINDOWS = ("max_positions", "doc_stride", "max_query_length")  # of questions


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Options that replace those of the training where they are given."""

    spacy_model: str | None = option(
        "spaCy pipeline for raw text, installed or a path (default: that of the data folder, if it "
        "is the bundled one or installed)",
        None,
    )
    max_positions: int | None = option(
        "most wordpieces of a row, specials included, as far as the model has positions (default: "
        "as in training)",
        None,
        least=1,
    )


@dataclass(frozen=True, kw_only=True)
class ExampleOverrides(Overrides):
    """Those of classification and labelling."""

    long_examples: str | None = option(
        "examples longer than that: truncate is for sentences and pairs, split for labels of words "
        "(default: as in training)",
        None,
        choices=("error", "truncate", "split"),
    )


@dataclass(frozen=True, kw_only=True)
class WindowOverrides(Overrides):
    """Those of questions."""

    doc_stride: int | None = option(
        "wordpieces from the begin of one window of a long context to the next (default: as in "
        "training)",
        None,
        least=1,
    )
    max_query_length: int | None = option(
        "wordpieces of a question that are read (default: as in training)", None, least=1
    )


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How every command computes."""

    data: str | None = option("prepared folder (default: the one it was trained on)", None)
    batch_size: int = option("most examples of a batch; of questions, rows", BATCH_SIZE, least=1)
    cpu: bool = option("use no GPU", False)


@dataclass(frozen=True, kw_only=True)
class ExampleOptions(ModelOptions, ExampleOverrides):
    """Options of commands that predict examples."""

    max_tokens: int | None = option("most wordpieces of a batch", None, least=1)

    @property
    def limits(self) -> dict[str, int | None]:
        """What a batch may hold, as `Predictor` takes it."""
        return {"batch_size": self.batch_size, "max_tokens": self.max_tokens}


@dataclass(frozen=True, kw_only=True)
class _AllOverrides(ExampleOverrides, WindowOverrides):
    """All of them, from which commands take some."""


def add_overrides(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Add flags of the pipeline and of some overrides: `EXAMPLES`, or `WINDOWS` for questions."""
    others = {spec.name for spec in fields(_AllOverrides)} - {PIPELINE, *names}
    add_flags(parser, _AllOverrides, leave_out=others, strict=True)


def given_overrides(options: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the pipeline and those of the names that were given, as overrides for `load`."""
    values = {name: getattr(options, name) for name in (PIPELINE, *names)}
    return {name: value for name, value in values.items() if value is not None}
