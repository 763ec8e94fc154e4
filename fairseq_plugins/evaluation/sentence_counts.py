"""Counts of each sentence behind BLEU and chrF, as in sacreBLEU, and behind COMET."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from ..errors import InputError
from ..language_codes import base_code, is_known
from ..targets.counts import CountKind


def metric_of(name: str, lang: str = "", **bleu: Any) -> Any:
    """Return a metric of sacreBLEU.

    Args:
        name: of `choices.SENTENCE_METRICS`, or ``ter``.
        lang: code of the target language, which decides the tokenisation of BLEU.
        bleu: options of BLEU.
    """
    from sacrebleu.metrics import BLEU, CHRF, TER  # slow to import, not needed for classes

    if name != "bleu":
        return TER() if name == "ter" else CHRF()
    language = base_code(lang)
    try:
        return BLEU(trg_lang=language, **bleu)
    except (RuntimeError, AssertionError):  # sacreBLEU's tokenisers without MeCab
        raise InputError(
            f"BLEU in language {lang!r} needs MeCab and its dictionary: pip install "
            f"'sacrebleu[{language}]'"
        ) from None


def remark_on(lang: str) -> str:
    """Return a remark on an unknown language code; empty for a known code."""
    if is_known(lang):
        return ""
    return (
        f"language {lang!r} is not known: BLEU is tokenised as for English (13a); zh, ja and ko "
        "are Chinese, Japanese and Korean"
    )


def sentence_counts(
    name: str, hypotheses: Sequence[str], references: Sequence[Sequence[str]], lang: str
) -> np.ndarray:
    """Return the counts of n sentences, (n, k); ``references`` has one text or more for all."""
    rows = metric_of(name, lang)._extract_corpus_statistics(hypotheses, references)
    return np.array(rows, dtype=float)


_any_language = cache(metric_of)  # the language only decides tokens, not scores of sums


def _of_sums(name: str, *sums: float) -> dict[str, float]:
    return {name: float(_any_language(name)._compute_score_from_stats([*sums]).score)}


def _mean(total: float, count: float) -> dict[str, float]:
    return {"comet": 100 * total / count}


COMET = CountKind("comet", 2, _mean, fractions=True, signed=True)  # score of a sentence, and 1
SENTENCE_KINDS = {
    "bleu": CountKind(
        "bleu", 10, partial(_of_sums, "bleu"), parts=tuple((n + 2, n + 6) for n in range(4))
    ),
    "chrf": CountKind(
        "chrf",
        18,
        partial(_of_sums, "chrf"),
        parts=tuple((n + 2, n + side) for n in range(0, 18, 3) for side in (0, 1)),
    ),
}
