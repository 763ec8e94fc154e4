"""Paired bootstrap over examples: would another test set of this kind have told the same?

The examples are drawn with replacement, the same ones for both systems, and the metric is computed
anew. A system may be several runs (seeds): its score is their mean. The p-value, two-sided, is
twice the share of resamples in which the other system is at least as good, ties included, so that
it agrees with the interval beside it: where 0 lies within the interval, p is not small. (The test
of `significance`, about the mean of the resamples, is for metrics that do not leap: of Matthews
correlation it would be sure after one lucky example among eighty.)

With ``over_seeds`` the seeds are drawn as well, the same ones for both systems: the multi-bootstrap
(Sellam et al. 2022, "The MultiBERTs", section 4), which asks whether other seeds and another test
set would have told the same. Examples alone take the luck of a seed for a difference: of equal
systems whose seeds differ they tell 15 % apart, both together 1 to 3 % (RESULTS.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..messages import named
from ..text_reading import json_lines
from .entity_spans import spans_of
from .labeling import EDITS
from .metrics import NAMES, statistic
from .predictions import ENTITIES, KEYS, WORD_LABELS

_ANSWERS = {key: target for target, key in KEYS.items()}
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
class Bootstrap:
    """A comparison of two systems.

    Args:
        difference: of the system over the baseline, on all examples.
        p_value: 1 for equal scores, nan where a score is no number.
        low, high: where 95 % of the resampled differences lie.
        examples, samples: numbers of each.
    """

    difference: float
    p_value: float
    low: float
    high: float
    examples: int
    samples: int


def read_answers(path: str | Path) -> Answers:
    """Read predictions (JSON lines of `predict`); rows without gold are left out.

    Raises:
        FileNotFoundError, ValueError: no such file; a line that is no prediction; no gold at all.
    """
    records = []
    for number, record in json_lines(path):
        try:
            key = next(key for key in _ANSWERS if key in record)
            sides = [record.get("gold"), record[key]]
            if key == ENTITIES:
                sides = [side if side is None else _entities(side) for side in sides]
            records.append((_ANSWERS[key], str(record["id"]), *sides))
        except (TypeError, KeyError, AttributeError, StopIteration):
            raise ValueError(
                f"{path}, line {number}: no prediction of fairseq-plugins predict"
            ) from None
    known = [record for record in records if record[2] is not None]
    if not known:
        raise ValueError(f"{path}: no example has a gold label")
    if len({target for target, *_ in known}) > 1:
        raise ValueError(f"{path}: predictions of more than one kind")
    _, ids, gold, predicted = (list(column) for column in zip(*known))
    return Answers(str(path), known[0][0], ids, gold, predicted)


def bootstrap(
    baseline: Sequence[Answers],
    system: Sequence[Answers],
    metric: str,
    *,
    positive: str = "",
    samples: int = 1000,
    seed: int = 12345,
    over_seeds: bool = False,
) -> Bootstrap:
    """Compare two systems on one metric.

    Args:
        baseline, system: runs of each; all on the same examples.
        metric: one of `metrics.NAMES`.
        positive: class or error label that the metric is about, if it is about one.
        samples: resamples.
        seed: of the resampling.
        over_seeds: whether runs are drawn as well; the n-th runs of both systems are pairs.

    Raises:
        ValueError: runs on other examples, no run, fewer than one sample, runs that are no pairs,
            or a metric that does not go with the predictions.
    """
    if not (baseline and system) or samples < 1:
        raise ValueError("a bootstrap needs runs of both systems and at least one sample")
    if over_seeds and len(baseline) != len(system):
        raise ValueError(f"{len(baseline)} and {len(system)} runs are no pairs")
    baseline, system = _alike(baseline, system)
    count = len(_check([*baseline, *system], metric, positive).ids)
    about = {"labels": _labels([*baseline, *system]), "positive": positive, "names": [metric]}
    sides = [
        [statistic(run.target, run.gold, run.predicted, **about) for run in side]
        for side in (system, baseline)
    ]
    random = np.random.default_rng(seed)
    drawn = random.multinomial(count, np.full(count, 1 / count), size=samples)
    parts = [[np.full(len(side), 1 / len(side)) for side in sides]] * (samples + 1)
    if over_seeds:
        each = random.multinomial(len(system), parts[0][0], size=samples) / len(system)
        parts[1:] = [[row, row] for row in each]
    observed, *resampled = (
        float(np.subtract(*(_score(side, w, metric, own) for side, own in zip(sides, both))))
        for w, both in zip((np.ones(count, dtype=np.int64), *drawn), parts)
    )
    interval = np.percentile(resampled, [2.5, 97.5]).tolist()
    p_value = _p_value(observed, np.array(resampled)) if count > 1 else math.nan
    return Bootstrap(observed, p_value, *interval, count, samples)


def _score(side: Sequence[Any], weights: np.ndarray, metric: str, parts: np.ndarray) -> float:
    """Return the score of a system's runs, each with its part, on weighted examples."""
    there = np.flatnonzero(parts)
    return float(np.dot([side[i](weights)[metric] for i in there], parts[there]))


def _entities(row: Any) -> list[tuple[str, int, int]]:
    return sorted((str(one["label"]), int(one["first"]), int(one["last"])) for one in row)


def _alike(*sides: Sequence[Answers]) -> list[list[Answers]]:
    """Read labels of words as entities where another system found entities."""
    if all(run.target != ENTITIES for side in sides for run in side):
        return [list(side) for side in sides]
    return [[_as_entities(run) for run in side] for side in sides]


def _as_entities(run: Answers) -> Answers:
    if run.target != WORD_LABELS:
        return run
    gold, predicted = (
        [sorted(spans_of(row, len(row))) for row in column] for column in (run.gold, run.predicted)
    )
    return replace(run, target=ENTITIES, gold=gold, predicted=predicted)


def _p_value(observed: float, resampled: np.ndarray) -> float:
    """Return twice the share of resamples that speak against the observed difference."""
    if not math.isfinite(observed):
        return math.nan
    contrary = int((~(np.sign(observed) * resampled > 0)).sum())  # nan is no evidence
    return min(1.0, 2 * (contrary + 1) / (len(resampled) + 1))


def _check(runs: Sequence[Answers], metric: str, positive: str) -> Answers:
    """Refuse runs that cannot be compared on a metric; return the first."""
    first, *others = runs
    for run in others:
        if (run.ids, run.gold) != (first.ids, first.gold):
            raise ValueError(f"{run.source} and {first.source} are predictions of other examples")
    if metric not in NAMES[first.target]:
        choices = ", ".join(NAMES[first.target])
        raise ValueError(f"metric {metric!r} is not one of {choices}")
    about_one = first.target != "spans" and metric.startswith(("f1", "token_", "detection_"))
    if about_one and positive not in _occurring(first):
        choices = named(sorted(_occurring(first)))
        raise ValueError(
            f"metric {metric!r} needs the positive label, {positive!r} is none of {choices}"
        )
    return first


def _occurring(run: Answers) -> set[str]:
    return set(run.gold if run.target == "classes" else chain.from_iterable(run.gold))


def _labels(runs: Sequence[Answers]) -> list[str]:
    """Return the classes that occur in gold and predictions; of words, labels of edits, with whose
    metrics those of all entities are.
    """
    if runs[0].target != "classes":
        return [f"B-{kind}" for kind in sorted(EDITS)]
    columns = [column for one in runs for column in (one.gold, one.predicted)]
    return sorted(set(chain.from_iterable(columns)))
