"""Paired bootstrap resampling between systems: is the difference more than the choice of test set?

Koehn (2004): the test set is resampled with replacement, the same sentences for both systems, by
sacreBLEU. Of the differences d* of the resamples and the observed one d two p-values are made:

    ours, two-sided:  the share of resamples with |d* - mean d*| >= |d|
    sacreBLEU's own:  the share of resamples with |d*| - mean |d*| > |d|

The second looks at one tail alone once d is clear of 0: between systems that do not differ it falls
to 0.05 in about a tenth of all comparisons (benchmarks/significance_level.py). It is told for what
it is; arrows and words go by the first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest, Result, _bootstrap_resample

from .translation import Corpus, check_equal_counts

METRICS = ("bleu", "chrf")


@dataclass(frozen=True)
class Comparison:
    """Paired bootstrap of one system against the first one.

    Attributes:
        metric: ``bleu`` or ``chrf``.
        difference: points above (or below) the baseline.
        p_value: two-sided; 1 for equal scores.
        sacrebleu_p_value: sacreBLEU's own, one-sided in effect (and 1 / (samples + 1) for a system
            compared with its copy).
        mean, interval: bootstrap mean of the system and half width of its 95 % interval.
    """

    system: str
    baseline: str
    metric: str
    score: float
    difference: float
    p_value: float
    sacrebleu_p_value: float
    mean: float
    interval: float
    signature: str


def paired_bootstrap(
    systems: Sequence[Corpus],
    reference: Corpus,
    *,
    lang: str,
    samples: int = 1000,
    seed: int = 12345,
    names: Sequence[str] = METRICS,
) -> list[Comparison]:
    """Compare every system with the first one.

    Args:
        systems: at least two; the first is the baseline.
        reference: references.
        lang: target language.
        samples: resamples of the test set.
        seed: of the resampling; positive.
        names: of `METRICS`, those to compare on.

    Raises:
        ValueError: fewer than two systems or sentences, two systems of the same name, unequal
            counts, or a seed or sample count below 1.
    """
    _check_bootstrap(systems, reference, samples, seed)
    known: Mapping[str, Metric] = {"bleu": BLEU(trg_lang=lang), "chrf": CHRF()}
    metrics = {name: known[name] for name in names}
    named = [(system.name, system.text) for system in systems]
    with _sacrebleu_seed(seed):
        test = PairedTest(named, metrics, [reference.text], test_type="bs", n_samples=samples)
        signatures, results = test()
        drawn = {name: _resampled(metrics[name], systems, reference, samples) for name in names}
    columns = list(results)[1:]  # the first column holds the names
    return [
        comparison
        for name, column in zip(names, columns, strict=True)
        for comparison in _comparisons(
            name, systems, results[column], drawn[name], signature=str(signatures[column])
        )
    ]


def _resampled(
    metric: Metric, systems: Sequence[Corpus], reference: Corpus, samples: int
) -> np.ndarray:
    """Return the score of each system on each resample that sacreBLEU's paired test draws.

    Its seed decides on the resamples alone, so they are the same for all systems.
    """
    statistics = (metric._extract_corpus_statistics(s.text, [reference.text]) for s in systems)
    drawn = [_bootstrap_resample(rows, metric, samples)[1] for rows in statistics]
    return np.array([[found.score for found in scores] for scores in drawn])


def two_sided_p_value(difference: float, resampled: np.ndarray) -> float:
    """Return the share of resamples that stray from their mean by the observed difference or more.

    The mean stands for no difference (Riezler and Maxwell 2005). As in sacreBLEU the observed
    difference counts as a resample of its own, so that the share is never 0.

    Args:
        difference: observed.
        resampled: the same on each resample.
    """
    strayed = np.abs(resampled - resampled.mean()) >= abs(difference)
    return float((strayed.sum() + 1) / (len(resampled) + 1))


def _comparisons(
    metric: str,
    systems: Sequence[Corpus],
    results: Sequence[Result],
    drawn: np.ndarray,
    *,
    signature: str,
) -> Iterator[Comparison]:
    """Yield one metric's comparison of every further system with the first."""
    baseline = results[0]
    for system, result, scores in zip(systems[1:], results[1:], drawn[1:], strict=True):
        difference = float(result.score - baseline.score)
        yield Comparison(
            system=system.name,
            baseline=systems[0].name,
            metric=metric,
            score=float(result.score),
            difference=difference,
            p_value=two_sided_p_value(difference, scores - drawn[0]),
            sacrebleu_p_value=float(result.p_value),
            mean=float(result.mean),
            interval=float(result.ci),
            signature=signature,
        )


def _check_bootstrap(systems: Sequence[Corpus], reference: Corpus, samples: int, seed: int) -> None:
    """Refuse what a paired bootstrap cannot compare."""
    names = [system.name for system in systems]
    if len(systems) < 2:
        raise ValueError(f"a paired comparison needs at least two systems, got {names}")
    if len(set(names)) < len(names):
        raise ValueError(f"a system is named twice: {names}")
    if seed < 1 or samples < 1:  # sacreBLEU takes seed 0 for "no seed"
        raise ValueError(f"seed and samples must be at least 1, got seed {seed}, samples {samples}")
    if len(reference.text) < 2:  # every resample would be the same, and any difference certain
        raise ValueError(f"{reference.name}: a bootstrap needs at least two sentences")
    for system in systems:
        check_equal_counts((system.name, system.text), (reference.name, reference.text))


@contextmanager
def _sacrebleu_seed(seed: int) -> Iterator[None]:
    """Set sacreBLEU's seed, which it reads from the environment only."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SACREBLEU_SEED"]
        else:
            os.environ["SACREBLEU_SEED"] = before
