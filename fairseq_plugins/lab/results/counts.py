"""What a run did on each example of a split: kept in its row, or read from its files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...evaluation.choices import SENTENCE_METRICS
from ...evaluation.example_answers import (
    ExampleCounts,
    example_counts,
    read_answers,
    translation_counts,
)
from ...evaluation.generate_log import load
from ...evaluation.translation import TextForm
from ..rows import PlacedRow, check_counts
from ..run_files import EVALUATED, GENERATED, PREDICTIONS, SCORE, of_split
from ..safe_files import is_file, read_json
from .frame import Shown

_OWN = "T- lines of "  # how a score's reference begins that is the one of its own log


def counts_of_run(run: Any, shown: Shown) -> ExampleCounts | None:
    """Return how each example counts for what is shown of a run; None if nothing tells.

    What a kept row has itself comes first: where its run lay, another may lie by now. Files that
    do not tell the score of such a row tell nothing of it.

    Args:
        run: a line of a frame of runs.
        shown: metric and split.
    """
    if own := kept_counts(run, shown):
        return own
    if found := counts_in_files(run, shown):
        placed = PlacedRow(run.place, run.row, run.folder)
        try:
            check_counts(replace(found, split=shown.split), placed)
        except InputError:
            return None
    return found


def kept_counts(run: Any, shown: Shown) -> ExampleCounts | None:
    """Return the counts of what is shown that a run's row keeps; None if it keeps none."""
    one = run.counts.get(shown.split)
    return one if one and one.metric == shown.metric else None


def counts_in_files(run: Any, shown: Shown) -> ExampleCounts | None:
    """Return the same of the files of its folder alone; see `counts_of_run`.

    Nothing tells a metric that is no sum over examples, as a loss, nor validation of translations.
    """
    is_validation = shown.split == run.validation
    if shown.metric in SENTENCE_METRICS:
        return None if is_validation else _of_translations(run, shown.metric)
    path = run.folder / (PREDICTIONS if is_validation else EVALUATED)
    if not is_file(path):
        return None
    answers = read_answers(path)
    is_told = shown.metric in answers.target.metrics
    return example_counts(answers, shown.metric, run.positive) if is_told else None


def _of_translations(run: Any, metric: str) -> ExampleCounts | None:
    """Return the counts of what a run translated; None without its log and reference."""
    log, about = (run.folder / of_split(name, run.evaluated) for name in (GENERATED, SCORE))
    if not (is_file(log) and is_file(about)):
        return None
    reference, language = (read_json(about).get(key) for key in ("reference", "language"))
    if not (isinstance(reference, str) and isinstance(language, str)):
        raise InputError(f"{about}: keys 'reference' and 'language' have to be texts")
    reference = None if reference.startswith(_OWN) else reference
    if reference and not Path(reference).is_file():
        return None
    inputs = load([log], reference, TextForm(language))
    texts = inputs.systems[0].text, inputs.reference.text
    return translation_counts(str(log), *texts, metric, language)
