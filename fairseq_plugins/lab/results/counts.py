"""A run's result on each example of a split: kept in its row, or read from its files."""

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

_OWN = "T- lines of "  # prefix of a score's reference if it comes from its own log


def counts_of_run(run: Any, shown: Shown) -> ExampleCounts | None:
    """Return the counts of each example for a run's metric; None if unknown.

    Counts in the row come first, since another run may now have the folder. Files that contradict
    the row's score are ignored.
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
    """Return the counts of a metric in a run's row; None if absent."""
    one = run.counts.get(shown.split)
    return one if one and one.metric == shown.metric else None


def counts_in_files(run: Any, shown: Shown) -> ExampleCounts | None:
    """Return the counts from the files of a run's folder; see `counts_of_run`.

    None for a metric that is no sum over examples, such as a loss, and for validations of
    translation.
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
    """Return the counts of a run's translations; None without log or reference."""
    log, about = (run.folder / of_split(name, run.evaluated) for name in (GENERATED, SCORE))
    if not (is_file(log) and is_file(about)):
        return None
    reference, language = (read_json(about).get(key) for key in ("reference", "language"))
    if not (isinstance(reference, str) and isinstance(language, str)):
        raise InputError(f"{about}: keys 'reference' and 'language' have to be texts")
    reference = None if reference.startswith(_OWN) else reference
    if reference and not Path(reference).is_file():
        return None
    inputs = load([log], [reference] if reference else [], TextForm(language))
    texts = inputs.systems[0].text, [inputs.reference.text]
    return translation_counts(str(log), *texts, metric, language)
