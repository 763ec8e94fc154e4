"""A run's answers to the examples of a split, and their counts for a metric.

Answers come from predictions (JSON lines of `predict`), or are translations. Comparisons need only
their counts (`ExampleCounts`), which are far smaller.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..language_codes import base_code
from ..targets.counts import Counts
from ..targets.table import TARGETS
from ..targets.target import Target
from ..text_reading import json_lines
from .sentence_counts import COMET, SENTENCE_KINDS, sentence_counts


@dataclass(frozen=True)
class Answers:
    """A run's predictions for the examples with gold."""

    source: str  # file of the predictions
    target: Target  # of the predictions
    ids: list[str]  # of the examples
    # gold, predicted: for each example a class, a number, a row of word labels or of entities
    # (label, first and last word); for questions a row of gold answers and the predicted answer
    gold: list[Any]
    predicted: list[Any]


@dataclass(frozen=True)
class ExampleCounts:
    """The counts of a run's answers for a metric."""

    source: str  # file of the answers
    metric: str  # of a target, or of `SENTENCE_METRICS`
    examples: str  # a digest of the examples and their gold; equal digests can be compared
    counts: Counts  # of each of n examples
    split: str = ""  # of the examples; empty if unknown

    @property
    def count(self) -> int:
        """Number of examples."""
        return len(self.counts.table)

    def score(self, weights: np.ndarray) -> float:
        """Return the metric over examples with weights (n,)."""
        return self.counts.metrics(weights, [self.metric])[self.metric]


def read_answers(path: str | Path) -> Answers:
    """Read predictions (JSON lines of `predict`); rows without gold are left out."""
    records = []
    for number, record in json_lines(path):
        try:
            target = next(one for one in TARGETS.values() if one.key in record)
            records.append((target, str(record["id"]), *target.sides(record)))
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
        except (TypeError, ValueError, LookupError, AttributeError, OverflowError, StopIteration):
            raise InputError(
                f"{path}, line {number}: no prediction of fairseq-plugins predict"
            ) from None
    known = [record for record in records if record[2] is not None]
    if not known:
        raise InputError(f"{path}: no example has a gold label")
    if len({target for target, *_ in known}) > 1:
        raise InputError(f"{path}: predictions of more than one kind")
    _, ids, gold, predicted = (list(column) for column in zip(*known))
    return Answers(str(path), known[0][0], ids, gold, predicted)


def example_counts(run: Answers, metric: str, positive: str = "") -> ExampleCounts:
    """Count the answers of a run for a metric of its target.

    ``positive`` is the class or error label of a metric that needs one.
    """
    counts = run.target.counts_for(metric, run.gold, run.predicted, positive)
    examples = _digest(run.ids, run.target.identity(metric, run.gold))
    return ExampleCounts(run.source, metric, examples, counts)


def translation_counts(
    source: str,
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    metric: str,
    lang: str,
) -> ExampleCounts:
    """Count the translations of a run for a metric of translation; see `ExampleCounts`."""
    counts = Counts(SENTENCE_KINDS[metric], sentence_counts(metric, hypotheses, references, lang))
    return ExampleCounts(source, metric, _digest([base_code(lang)], *references), counts)


def mean_counts(source: str, metric: str, scores: Sequence[float]) -> ExampleCounts:
    """Count translations for a metric that is the mean of the scores of sentences."""
    table = np.stack([np.asarray(scores, float), np.ones(len(scores))], axis=1)
    return ExampleCounts(source, metric, "", Counts(COMET, table))


def _digest(*about: Any) -> str:
    return sha256(repr(about).encode("utf-8", "surrogatepass")).hexdigest()[:16]
