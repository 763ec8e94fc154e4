"""What a run answered to the examples of a split, and how that counts for a metric.

Answers are read from predictions (JSON lines of `predict`), or are translations. Their counts
(`ExampleCounts`) are all that a comparison needs, and far smaller.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..language_codes import base_code
from ..messages import named
from ..text_reading import json_lines
from .entity_spans import spans_of
from .labeling import EDITS
from .metrics import NAMES, Counts, counts_of
from .predictions import ENTITIES, KEYS, WORD_LABELS
from .sentence_counts import sentence_counts

_ANSWERS = {key: target for target, key in KEYS.items()}
_HUGE = 2**63  # from here on no number
_ANSWERS |= {"answer": "spans", ENTITIES: ENTITIES}


@dataclass(frozen=True)
class Answers:
    """What one run predicted for the examples that have gold.

    Args:
        source: where it was read from.
        target: ``classes``, ``score``, ``word_labels``, ``entities`` or ``spans``.
        ids: of the examples.
        gold, predicted: a class, a number, a row of word labels or of entities (label, first and
            last word) for each; of questions a row of gold answers and the predicted one.
    """

    source: str
    target: str
    ids: list[str]
    gold: list[Any]
    predicted: list[Any]


@dataclass(frozen=True)
class ExampleCounts:
    """How the answers of one run count for a metric.

    Args:
        source: where they are from.
        metric: of `metrics.NAMES` or `SENTENCE_METRICS`.
        examples: a digest of the examples and their gold; runs with the same can be compared.
        counts: of each of n examples.
        split: whose examples they are; empty where nothing tells.
    """

    source: str
    metric: str
    examples: str
    counts: Counts
    split: str = ""

    @property
    def count(self) -> int:
        """Number of examples."""
        return len(self.counts.table)

    def score(self, weights: np.ndarray) -> float:
        """Return the metric of examples of which each counts so often, (n,)."""
        return self.counts.metrics(weights, [self.metric])[self.metric]


def read_answers(path: str | Path) -> Answers:
    """Read predictions (JSON lines of `predict`); rows without gold are left out.

    Raises:
        FileNotFoundError, InputError: no such file; a line that is no prediction; no gold at all.
    """
    records = []
    for number, record in json_lines(path):
        try:
            key = next(key for key in _ANSWERS if key in record)
            sides = [record.get("gold"), record[key]]
            if key == ENTITIES:
                sides = [side if side is None else _entities(side) for side in sides]
            if not all(
                _fits(_ANSWERS[key], side, gold) for side, gold in zip(sides, (True, False))
            ):
                raise TypeError
            records.append((_ANSWERS[key], str(record["id"]), *sides))
        except (TypeError, ValueError, KeyError, AttributeError, StopIteration):
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
    """Count the answers of a run for a metric.

    Args:
        run: what it answered.
        metric: one of `metrics.NAMES` that goes with its target.
        positive: class or error label that the metric is about, if it is about one.

    Raises:
        InputError: a metric that does not go with the answers, or a positive label that it lacks.
    """
    _check(run, metric, positive)
    labels: Sequence[str] = [f"B-{kind}" for kind in sorted(EDITS)]  # whose metrics all types have
    gold: Any = run.gold
    if run.target == "classes":
        labels = sorted({*run.gold, *run.predicted})
    found = counts_of(run.target, run.gold, run.predicted, labels, positive)
    if run.target in (ENTITIES, WORD_LABELS) and metric.startswith("entity_"):
        found = {"entity": next(iter(found.values()))} if run.target == ENTITIES else found
        are_labels = run.target == WORD_LABELS
        gold = [sorted(spans_of(r, len(r)) if are_labels else map(tuple, r)) for r in gold]
    counts = next(one for prefix, one in found.items() if metric.startswith(prefix))
    return ExampleCounts(run.source, metric, _digest(run.ids, gold), counts)


def translation_counts(
    source: str, hypotheses: Sequence[str], references: Sequence[str], metric: str, lang: str
) -> ExampleCounts:
    """Count the translations of a run for a metric of translation; see `ExampleCounts`."""
    counts = Counts(metric, sentence_counts(metric, hypotheses, references, lang))
    return ExampleCounts(source, metric, _digest([base_code(lang)], references), counts)


def _fits(target: str, value: Any, is_gold: bool) -> bool:
    """Tell whether a value is what predictions of a target have; gold may be missing."""
    if target == ENTITIES or (is_gold and value is None):
        return True
    if target == "score":
        return isinstance(value, float) or (isinstance(value, int) and abs(value) < _HUGE)
    if target == WORD_LABELS or (target == "spans" and is_gold):
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    return isinstance(value, str)


def _digest(*about: Any) -> str:
    return sha256(repr(about).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _entities(row: Any) -> list[tuple[str, int, int]]:
    return sorted((str(one["label"]), int(one["first"]), int(one["last"])) for one in row)


def _check(run: Answers, metric: str, positive: str) -> None:
    """Refuse a metric that does not go with the answers."""
    if metric not in NAMES[run.target]:
        choices = ", ".join(NAMES[run.target])
        raise InputError(f"metric {metric!r} is not one of {choices}")
    if run.target != "spans" and metric.startswith(("f1", "token_", "detection_")):
        gold = run.gold if run.target == "classes" else chain.from_iterable(run.gold)
        if positive not in (there := sorted({*gold})):
            told = f"{positive!r} is none of {named(there)}"
            raise InputError(f"metric {metric!r} needs the positive label, {told}")
