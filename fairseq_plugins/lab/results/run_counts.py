"""What a run did on each example of a split: read from its files, or kept in its row.

A row that is kept without its run may have a key ``counts``.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...evaluation.choices import SENTENCE_METRICS
from ...evaluation.example_answers import (
    ExampleCounts,
    example_counts,
    read_answers,
    translation_counts,
)
from ...evaluation.generate_log import load
from ...evaluation.metrics import NAMES
from ...evaluation.translation import TextForm
from ..rows import PlacedRow, check_counts
from ..run_files import EVALUATED, PREDICTIONS
from ..safe_files import is_file, read_text
from .frame import Shown
from .split_files import GENERATED, SCORE, of_split

_OWN = "T- lines of "  # how a score's reference begins that is the one of its own log


def counts_of_run(run: Any, shown: Shown) -> ExampleCounts | None:
    """Return how each example counts for what is shown of a run; None if nothing tells.

    What a kept row has itself comes first: where its run lay, another may lie by now. Files that
    do not tell the score of such a row tell nothing of it.

    Args:
        run: a row of a frame of runs, as a series.
        shown: metric and split.

    Raises:
        OSError, ValueError: files or a key that cannot be read; names them.
    """
    if own := kept_counts(run, shown):
        return own
    found = counts_in_files(run, shown)
    return found if found and _tells_score(found, run, shown) else None


def counts_in_files(run: Any, shown: Shown) -> ExampleCounts | None:
    """Return the same of the files of its folder alone; see `counts_of_run`.

    Nothing tells a metric that is no sum over examples, as a loss, nor validation of translations.
    """
    path = run.folder / (PREDICTIONS if shown.split == run.validation else EVALUATED)
    if shown.metric in SENTENCE_METRICS:
        return _of_translations(run, shown.metric) if shown.split != run.validation else None
    if not is_file(path):
        return None
    answers = read_answers(path)
    is_told = shown.metric in NAMES[answers.target]
    return example_counts(answers, shown.metric, run.positive) if is_told else None


def _tells_score(found: ExampleCounts, run: Any, shown: Shown) -> bool:
    """Tell whether counts give the score of a run."""
    try:
        placed = PlacedRow(run.place, run.row, run.folder)
        check_counts(replace(found, split=shown.split), placed)
    except ValueError:
        return False
    return True


def kept_counts(run: Any, shown: Shown) -> ExampleCounts | None:
    """Return the counts of what is shown that a run's row keeps; None if it keeps none."""
    one = run.counts.get(shown.split)
    return one if one and one.metric == shown.metric else None


def _of_translations(run: Any, metric: str) -> ExampleCounts | None:
    """Return the counts of what a run translated; None without its log and reference."""
    log, about = (run.folder / of_split(name, run.evaluated) for name in (GENERATED, SCORE))
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
