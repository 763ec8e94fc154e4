"""What a run did on each example of a split: read from its files, or kept in its row.

A row that is kept without its run may have a key ``counts``, which `kept_rows` reads.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...evaluation.example_answers import (
    ExampleCounts,
    example_counts,
    read_answers,
    translation_counts,
)
from ...evaluation.generate_log import load
from ...evaluation.metrics import NAMES
from ...evaluation.sentence_counts import SENTENCE_METRICS
from ...evaluation.translation import TextForm
from ..run_files import EVALUATED, PREDICTIONS
from ..safe_files import is_file, read_text
from .run_frame import BEST
from .seeds import Shown
from .split_files import GENERATED, SCORE, find

_OWN = "T- lines of "  # how a score's reference begins that is the one of its own log


def counts_of_run(run: Any, shown: Shown) -> ExampleCounts | None:
    """Return how each example counts for what is shown of a run; None if nothing tells.

    Nothing tells a metric that is no sum over examples, as a loss, nor validation of translations.

    Args:
        run: a row of a frame of runs.
        shown: metric and split.

    Raises:
        OSError, ValueError: files or a key that cannot be read; names them.
    """
    found, path = None, run.folder / (PREDICTIONS if shown.where == BEST else EVALUATED)
    if shown.metric in SENTENCE_METRICS:
        found = _of_translations(run, shown.metric) if shown.where != BEST else None
    elif is_file(path):
        answers = read_answers(path)
        if shown.metric in NAMES[answers.target]:
            found = example_counts(answers, shown.metric, run.positive)
    return found or kept_counts(run, shown)


def kept_counts(run: Any, shown: Shown) -> ExampleCounts | None:
    """Return the counts of what is shown that a run's row keeps; None if it keeps none."""
    one = run.counts
    return one if one and (one.metric, one.split) == (shown.metric, shown.split) else None


def _of_translations(run: Any, metric: str) -> ExampleCounts | None:
    """Return the counts of what a run translated; None without its log and reference."""
    log, about = (find(run.folder, name, run.evaluated) for name in (GENERATED, SCORE))
    if not (is_file(log) and is_file(about)):
        return None
    score = json.loads(read_text(about))
    reference, language = reference_of(score), score["language"]
    if reference and not Path(reference).is_file():
        return None
    inputs = load([log], reference, TextForm(language))
    texts = inputs.systems[0].text, inputs.reference.text
    return translation_counts(str(log), *texts, metric, language)


def is_own(reference: str) -> bool:
    """Tell whether a score's reference is that of its own log."""
    return reference.startswith(_OWN)


def reference_of(score: Mapping[str, Any]) -> str | None:
    """Return the file of the reference that a score names; None for that of its own log."""
    return None if is_own(score["reference"]) else score["reference"]
