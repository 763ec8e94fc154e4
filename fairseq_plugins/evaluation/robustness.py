"""Robustness: how much worse a system is on examples that were changed than on the same before.

A system may be several runs (seeds); its score is their mean. Two systems are compared by a paired
bootstrap over the changed examples.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import metrics
from .example_bootstrap import Answers, bootstrap

METRICS = {"classes": "accuracy", "score": "pearson"}  # target -> headline


@dataclass(frozen=True)
class SetAnswers:
    """What one run answered to one perturbed set.

    Args:
        perturbed: to the changed examples.
        original: to the same examples before; None if they are not known.
    """

    perturbed: Answers
    original: Answers | None = None


@dataclass(frozen=True)
class RunAnswers:
    """What one run answered.

    Args:
        sets: name of a perturbed set -> answers.
        whole: to the whole split that was perturbed; None if it is not known.
    """

    sets: Mapping[str, SetAnswers]
    whole: Answers | None = None


@dataclass(frozen=True)
class SystemAnswers:
    """What a system answered.

    Args:
        name: of the system.
        arch: of its architecture.
        checkpoints: of its runs.
        runs: one or several, on the same sets.
    """

    name: str
    arch: str
    checkpoints: Sequence[str]
    runs: Sequence[RunAnswers]


@dataclass(frozen=True)
class Robustness:
    """How a system does on one set.

    Args:
        score: on the changed examples, mean over runs.
        deviation: over runs; nan of a single one.
        original: on the same examples before, mean over runs; nan if they are not known.
        difference: from the first system; nan of itself.
        p_value: of that difference; nan without a test.
    """

    score: float
    deviation: float
    original: float = math.nan
    difference: float = math.nan
    p_value: float = math.nan

    @property
    def change(self) -> float:
        """Score after minus score before: below 0 for a drop; nan if that is not known."""
        return self.score - self.original


def scores_of(answers: Sequence[Answers], metric: str) -> list[float]:
    """Return the metric of each run.

    Raises:
        ValueError: a metric that does not go with the answers.
    """
    found = []
    for run in answers:
        labels = () if run.target == "score" else sorted({*run.gold, *run.predicted})
        scores = metrics.score(run.target, run.gold, run.predicted, labels)
        if metric not in scores:
            raise ValueError(f"metric {metric!r} is not one of {', '.join(scores)}")
        found.append(scores[metric])
    return found


def on_whole(system: SystemAnswers, metric: str) -> Robustness | None:
    """Return a system's score on the whole split; None if it is not known."""
    whole = [run.whole for run in system.runs if run.whole is not None]
    if len(whole) != len(system.runs):
        return None
    scores = scores_of(whole, metric)
    return Robustness(statistics.fmean(scores), metrics.deviation(scores))


def on_set(
    system: SystemAnswers,
    name: str,
    metric: str,
    *,
    first: SystemAnswers | None = None,
    samples: int = 1000,
    seed: int = 12345,
) -> Robustness:
    """Return how a system does on a perturbed set.

    Args:
        system: what it answered.
        name: of the set.
        metric: one of `metrics.NAMES`.
        first: the system that it is compared with; None for no comparison.
        samples: resamples of the bootstrap; 0 for no test.
        seed: of the bootstrap.

    Raises:
        ValueError: systems that answered other examples.
    """
    answers = [run.sets[name] for run in system.runs]
    perturbed = [one.perturbed for one in answers]
    before = [one.original for one in answers if one.original is not None]
    original = statistics.fmean(scores_of(before, metric)) if before else math.nan
    scores = scores_of(perturbed, metric)
    score, spread = statistics.fmean(scores), metrics.deviation(scores)
    if first is None:
        return Robustness(score, spread, original)
    others = [run.sets[name].perturbed for run in first.runs]
    difference, p_value = score - statistics.fmean(scores_of(others, metric)), math.nan
    if samples:
        p_value = bootstrap(others, perturbed, metric, samples=samples, seed=seed).p_value
    return Robustness(score, spread, original, difference, p_value)
