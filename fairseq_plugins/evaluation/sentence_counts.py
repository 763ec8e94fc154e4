"""What BLEU and chrF are computed of: counts of each sentence, as sacreBLEU has them."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np


def metric_of(name: str, lang: str = "") -> Any:
    """Return a metric of sacreBLEU.

    Args:
        name: of `choices.SENTENCE_METRICS`.
        lang: target language.
    """
    from sacrebleu.metrics import BLEU, CHRF  # slow to import: metrics of classes do without

    return BLEU(trg_lang=lang) if name == "bleu" else CHRF()


def sentence_counts(
    name: str, hypotheses: Sequence[str], references: Sequence[str], lang: str
) -> np.ndarray:
    """Return the counts of n sentences, (n, k)."""
    rows = metric_of(name, lang)._extract_corpus_statistics(hypotheses, [references])
    return np.array(rows, dtype=float)


def corpus_score(name: str, sums: np.ndarray) -> float:
    """Return a score, in points, of the sums of counts, (k,)."""
    return float(_any_language(name)._compute_score_from_stats(sums).score)


_any_language = cache(metric_of)  # of sums the language, which decides tokens, does not matter
