"""Paired bootstrap of translations, of which the same sentences are drawn for all systems.

Koehn (2004), as in sacreBLEU. Beside the two-sided p-value (`two_sided_p_value`), by which arrows
and words go, stands sacreBLEU's own, the share of resamples with |d*| - mean |d*| > |d|. It looks
at one tail alone once d is clear of 0: between systems that do not differ it falls to 0.05 in about
a tenth of all comparisons (benchmarks/significance_level.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sacrebleu.significance import estimate_ci

from ..errors import InputError
from .choices import SENTENCE_METRICS
from .example_bootstrap import resampled_sentences, two_sided_p_value
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
        InputError: fewer than two systems or sentences, two systems of the same name, unequal
            counts, or a seed or sample count below 1.
    """
    _check(systems, reference, samples, seed)
    return [
        one for name in names for one in _compared(name, systems, reference, lang, samples, seed)
    ]


def _compared(
    name: str, systems: Sequence[Corpus], reference: Corpus, lang: str, samples: int, seed: int
) -> Iterator[SystemComparison]:
    """Yield one metric's comparison of every further system with the first."""
    metric, runs = metric_of(name, lang), []
    for system in systems:
        rows = np.array(metric._extract_corpus_statistics(system.text, [reference.text]), float)
        runs.append(lambda one, rows=rows: metric._compute_score_from_stats(one @ rows).score)
    signature = metric.get_signature()  # known once the references are
    signature.update("seed", str(seed))
    signature.update("bs", samples)
    scores, resampled = resampled_sentences(runs, len(reference.text), samples, seed)
    for number, system in enumerate(systems[1:], start=1):
        difference = float(scores[number] - scores[0])
        differences = resampled[:, number] - resampled[:, 0]
        mean, interval = estimate_ci(resampled[:, number])
        strayed = np.abs(differences) - np.abs(differences).mean() > abs(difference)
        yield SystemComparison(
            system.name,
            systems[0].name,
            name,
            float(scores[number]),
            difference,
            two_sided_p_value(difference, differences),
            float((strayed.sum() + 1) / (samples + 1)),
            float(mean),
            float(interval),
            str(signature),
        )


def _check(systems: Sequence[Corpus], reference: Corpus, samples: int, seed: int) -> None:
    names = [system.name for system in systems]
    if len(systems) < 2:
        raise InputError(f"a paired comparison needs at least two systems, got {names}")
    if len(set(names)) < len(names):
        raise InputError(f"a system is named twice: {names}")
    if seed < 1 or samples < 1:  # sacreBLEU takes seed 0 for "no seed"
        raise InputError(f"seed and samples must be at least 1, got seed {seed}, samples {samples}")
    if len(reference.text) < 2:  # every resample would be the same, and any difference certain
        raise InputError(f"{reference.name}: a bootstrap needs at least two sentences")
    for system in systems:
        check_equal_counts((system.name, system.text), (reference.name, reference.text))
