"""Paired bootstrap resampling between systems: is the difference more than the choice of test set?

Koehn (2004): the test set is resampled with replacement, the same sentences for both systems, as
sacreBLEU draws them. Of the differences d* of the resamples and the observed one d two p-values are
made:

    ours, two-sided:  the share of resamples with |d* - mean d*| >= |d|
    sacreBLEU's own:  the share of resamples with |d*| - mean |d*| > |d|

The second looks at one tail alone once d is clear of 0: between systems that do not differ it falls
to 0.05 in about a tenth of all comparisons (benchmarks/significance_level.py). It is told for what
it is; arrows and words go by the first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import estimate_ci

from .choices import SENTENCE_METRICS
from .example_bootstrap import ROUNDING
from .sentence_counts import metric_of
from .translation import Corpus, check_equal_counts


@dataclass(frozen=True)
class SystemComparison:
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
    names: Sequence[str] = SENTENCE_METRICS,
) -> list[SystemComparison]:
    """Compare every system with the first one.

    Args:
        systems: at least two; the first is the baseline.
        reference: references.
        lang: target language.
        samples: resamples of the test set.
        seed: of the resampling; positive.
        names: of `SENTENCE_METRICS`, those to compare on.

    Raises:
        ValueError: fewer than two systems or sentences, two systems of the same name, unequal
            counts, or a seed or sample count below 1.
    """
    _check_bootstrap(systems, reference, samples, seed)
    count = len(reference.text)
    drawn = np.random.default_rng(seed).choice(count, size=(samples, count))
    found = []
    for name in names:
        metric = metric_of(name, lang)
        compared = list(_compared(metric, systems, reference, drawn))
        signature = metric.get_signature()  # known once the references are
        signature.update("seed", str(seed))
        signature.update("bs", samples)
        about = {"baseline": systems[0].name, "metric": name, "signature": str(signature)}
        found += [SystemComparison(**one, **about) for one in compared]
    return found


def _compared(
    metric: Metric, systems: Sequence[Corpus], reference: Corpus, drawn: np.ndarray
) -> Iterator[dict[str, Any]]:
    """Yield the values of one metric's comparison of every further system with the first.

    Args:
        metric: what is computed.
        systems, reference: see `paired_bootstrap`.
        drawn: numbers of the sentences of each resample, (samples, n).
    """
    scores, resampled = [], []
    for system in systems:
        rows = metric._extract_corpus_statistics(system.text, [reference.text])
        scores.append(float(metric._aggregate_and_compute(rows).score))
        table = np.array(rows, dtype="float32")
        sums = (table[chosen].sum(0) for chosen in drawn)
        resampled.append(np.array([metric._compute_score_from_stats(one).score for one in sums]))
    for system, score, found in zip(systems[1:], scores[1:], resampled[1:]):
        difference, differences = score - scores[0], found - resampled[0]
        strayed = np.abs(differences) - np.abs(differences).mean() > abs(difference)
        mean, interval = estimate_ci(found)
        yield {
            "system": system.name,
            "score": score,
            "difference": difference,
            "p_value": two_sided_p_value(difference, differences),
            "sacrebleu_p_value": float((strayed.sum() + 1) / (len(drawn) + 1)),
            "mean": float(mean),
            "interval": float(interval),
        }


def two_sided_p_value(difference: float, resampled: np.ndarray) -> float:
    """Return the share of resamples that stray from their mean by the observed difference or more.

    The mean stands for no difference (Riezler and Maxwell 2005). As in sacreBLEU the observed
    difference counts as a resample of its own, so that the share is never 0.

    Args:
        difference: observed.
        resampled: the same on each resample.
    """
    strayed = np.abs(resampled - resampled.mean()) >= abs(difference) - ROUNDING
    return float((strayed.sum() + 1) / (len(resampled) + 1))


def _check_bootstrap(systems: Sequence[Corpus], reference: Corpus, samples: int, seed: int) -> None:
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
