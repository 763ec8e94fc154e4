"""Translation systems compared with the first: sacreBLEU's scores, a paired bootstrap."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .choices import SENTENCE_METRICS
from .example_answers import mean_counts, translation_counts
from .example_bootstrap import bootstrap
from .translation import Corpus, check_equal_counts


@dataclass(frozen=True)
class SystemComparison:
    """Paired bootstrap of a system against the first."""

    system: str
    baseline: str
    metric: str  # ``bleu``, ``chrf`` or ``comet``
    score: float
    difference: float  # points above (or below) the baseline
    p_value: float  # two-sided; 1 for equal scores
    # low, high: interval of 95 % of the resampled differences
    low: float
    high: float
    # samples, seed: of the bootstrap
    samples: int
    seed: int


def paired_bootstrap(
    systems: Sequence[Corpus],
    reference: Corpus,
    *,
    lang: str,
    samples: int = 1000,
    seed: int = 12345,
    names: Sequence[str] = SENTENCE_METRICS,
    comet: Sequence[Sequence[float]] = (),
) -> list[SystemComparison]:
    """Compare every system with the first; see `example_bootstrap`.

    Args:
        systems: at least two; the first is the baseline.
        names: metrics, of `SENTENCE_METRICS`.
        comet: COMET scores of each system's sentences, if they are to be compared too.
    """
    _check(systems, reference, samples, seed)
    baseline, *others = [one.name for one in systems]
    references, found = [one.text for one in reference.versions], []
    for metric in (*names, *(["comet"] if comet else [])):
        first, *counted = (
            mean_counts(one.name, metric, comet[place])
            if metric == "comet"
            else translation_counts(one.name, one.text, references, metric, lang)
            for place, one in enumerate(systems)
        )
        for name, counts in zip(others, counted):
            one = bootstrap([first], [counts], samples=samples, seed=seed)
            score = counts.score(np.ones(counts.count, np.int64))
            told = (score, one.difference, one.p_value, one.low, one.high)
            found.append(SystemComparison(name, baseline, metric, *told, samples, seed))
    return found


def _check(systems: Sequence[Corpus], reference: Corpus, samples: int, seed: int) -> None:
    names = [system.name for system in systems]
    if len(systems) < 2:
        raise InputError(f"a paired comparison needs at least two systems, got {names}")
    if len(set(names)) < len(names):
        raise InputError(f"a system is named twice: {names}")
    if seed < 0 or samples < 1:
        raise InputError(f"seed {seed}, samples {samples}: at least 0 and 1")
    if len(reference.text) < 2:  # every resample would be the same
        raise InputError(f"{reference.name}: a bootstrap needs at least two sentences")
    for system in systems:
        check_equal_counts((system.name, system.text), (reference.name, reference.text))
