"""Robustness: the loss of a system on changed examples, compared with the same original examples.

The score of several runs (seeds) is their mean. Two systems are compared by a paired bootstrap over
the changed examples.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from .example_answers import Answers, example_counts
from .example_bootstrap import bootstrap
from .metrics import deviation

WHOLE = "original"  # name of unchanged examples


def before(name: str) -> str:
    """Return the name of a perturbed set's original examples."""
    return f"{name}.{WHOLE}"


@dataclass(frozen=True)
class SystemAnswers:
    """A system's answers."""

    name: str  # of the system
    arch: str  # of its architecture
    checkpoints: Sequence[str]  # of its runs
    # for each run: name of a set -> answers to the changed examples, `before` of the name ->
    # answers to the originals, `WHOLE` -> answers to the whole split; the last two only if known
    runs: Sequence[Mapping[str, Answers]]


def scores_of(answers: Sequence[Answers], metric: str) -> list[float]:
    """Return the metric of each run."""
    found = []
    for run in answers:
        labels = run.target.labels_in(run.gold, run.predicted)
        scores = run.target.score(run.gold, run.predicted, labels)
        if metric not in scores:
            raise InputError(f"metric {metric!r} is not one of {', '.join(scores)}")
        found.append(scores[metric])
    return found


def on_set(
    system: SystemAnswers,
    name: str,
    metric: str,
    *,
    first: SystemAnswers | None = None,
    samples: int = 1000,
    seed: int = 12345,
) -> dict[str, Any]:
    """Return a system's results on a perturbed set.

    Args:
        system: its answers.
        name: of the set, or `WHOLE`.
        metric: of its target.
        first: the system to compare with, or None.
        samples: resamples of the bootstrap; 0 for no test.

    Returns:
        ``scores`` of the runs on the changed examples, their mean ``score`` and ``deviation``;
        ``before``, the mean on the originals, and the ``change``, negative for a drop;
        ``difference`` from the first system's score, and its ``p``. Unknown values are nan.
    """
    perturbed, others = ([run[name] for run in one.runs] for one in (system, first or system))
    originals = [run[before(name)] for run in system.runs if before(name) in run]
    scores, known = (scores_of(runs, metric) for runs in (perturbed, originals))
    score, original = statistics.fmean(scores), statistics.fmean(known) if known else math.nan
    difference = p_value = math.nan
    if first is not None:
        difference = score - statistics.fmean(scores_of(others, metric))
        if samples:
            sides = [[example_counts(run, metric) for run in side] for side in (others, perturbed)]
            p_value = bootstrap(*sides, samples=samples, seed=seed).p_value
    return {
        "scores": scores,
        "score": score,
        "deviation": deviation(scores),
        "before": original,
        "change": score - original,
        "difference": difference,
        "p": p_value,
    }
