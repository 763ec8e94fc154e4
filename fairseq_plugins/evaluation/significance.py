"""Paired bootstrap resampling between systems: is the difference more than the choice of test set?

Koehn (2004), as sacreBLEU computes it: the test set is resampled with replacement, and the p-value
is the share of resamples whose difference strays from the mean one by more than the observed one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest, Result

from .text_files import check_equal_counts
from .translation import Corpus


@dataclass(frozen=True)
class Comparison:
    """Paired bootstrap of one system against the first one.

    Attributes:
        metric: ``bleu`` or ``chrf``.
        difference: points above (or below) the baseline.
        p_value: chance of a difference as large under the null hypothesis; 1 for equal scores
            (sacreBLEU itself gives 1 / (samples + 1) to a system compared with its copy).
        mean, interval: bootstrap mean of the system and half width of its 95 % interval.
    """

    system: str
    baseline: str
    metric: str
    score: float
    difference: float
    p_value: float
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
) -> list[Comparison]:
    """Compare every system with the first one, on BLEU and chrF.

    Args:
        systems: at least two; the first is the baseline.
        reference: references.
        lang: target language.
        samples: resamples of the test set.
        seed: of the resampling; positive.

    Raises:
        ValueError: fewer than two systems, two of the same name, unequal counts, or a seed or
            sample count below 1.
    """
    _check_bootstrap(systems, reference, samples, seed)
    metrics: Mapping[str, Metric] = {"bleu": BLEU(trg_lang=lang), "chrf": CHRF()}
    named = [(system.name, system.text) for system in systems]
    with _sacrebleu_seed(seed):
        test = PairedTest(named, metrics, [reference.text], test_type="bs", n_samples=samples)
        signatures, results = test()
    columns = list(results)[1:]  # the first column holds the names
    return [
        comparison
        for metric, column in zip(metrics, columns, strict=True)
        for comparison in _comparisons(
            metric, systems, results[column], signature=str(signatures[column])
        )
    ]


def _comparisons(
    metric: str, systems: Sequence[Corpus], results: Sequence[Result], *, signature: str
) -> Iterator[Comparison]:
    """Yield one metric's comparison of every further system with the first."""
    baseline = results[0]
    for system, result in zip(systems[1:], results[1:], strict=True):
        difference = float(result.score - baseline.score)
        yield Comparison(
            system=system.name,
            baseline=systems[0].name,
            metric=metric,
            score=float(result.score),
            difference=difference,
            p_value=float(result.p_value) if difference else 1.0,
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
