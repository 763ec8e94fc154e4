"""Comparisons in words: a sentence that says what was seen, how surely, and what would have been.

Written by rule, so that no result sounds better than another of its size.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ...evaluation.metrics import LOWER_IS_BETTER
from ...evaluation.seed_statistics import needed
from ...evaluation.sentence_counts import SENTENCE_METRICS
from ..plan.grid import VALID
from .layouts import SIGNIFICANT
from .seeds import Shown
from .tables import p_text, scale_of

_FEWEST = 3  # seeds below which nothing is concluded


def on_split(shown: Shown) -> str:
    """Say what scores are, and of which split."""
    split = "the validation set" if shown.split == VALID else f"split {shown.split!r}"
    return f"{shown.metric} on {split}"


def sentences(
    compared: Any, baseline: str, shown: Shown, names: Mapping[str, str], effect: float = math.nan
) -> Iterator[str]:
    """Say of every comparison what it tells.

    Args:
        compared: a row a comparison, see `comparisons.against`.
        baseline: system that all are compared with.
        shown: what was compared.
        names: system -> what it is called, where that is something else.
        effect: a difference of interest, as shown: how many seeds it takes is said; nan for none.
    """
    for one in compared.itertuples():
        title = names.get(one.system, one.system) + one.title.removeprefix(one.system)
        yield _sentence(one, title, names.get(baseline, baseline), shown, effect)


def _sentence(one: Any, title: str, baseline: str, shown: Shown, effect: float) -> str:
    """Say what a comparison tells."""
    scale = scale_of(shown.metric)
    unit = " points" if scale > 1 or shown.metric in SENTENCE_METRICS else ""
    difference = scale * one.difference
    seen = f"{difference:+.2f}{unit} of {shown.metric}"
    if one.n < _FEWEST or math.isnan(one.corrected_p):
        why = one.untested or f"{one.n} seeds"
        return f"{title} against {baseline}: {seen}; too little to conclude anything ({why})."
    low, high = (one.t_low, one.t_high) if math.isnan(one.low) else (one.low, one.high)
    about = f"{one.n} seeds, 95 % {scale * low:+.2f} to {scale * high:+.2f}"
    about += f", {p_text(one.corrected_p)}"
    if one.corrected_p < SIGNIFICANT:
        better = (difference > 0) == (shown.metric not in LOWER_IS_BETTER)
        return f"{title} is {'better' if better else 'worse'} than {baseline}: {seen} ({about})."
    text = f"No difference between {title} and {baseline} was seen: {seen} ({about})."
    if math.isnan(one.detectable):
        return text
    text += f" {scale * one.detectable:.2f}{unit} would have been seen with 80 % power"
    if effect > 0:
        text += f"; a difference of {effect:g} takes {seeds_for(one, effect / scale):,}"
    return f"{text}."


def seeds_for(one: Any, effect: float) -> int:
    """Return how many seeds show a difference with 80 % power, if they differ as these do.

    Args:
        one: a comparison of at least two seeds.
        effect: the difference, as computed; above 0.
    """
    return needed(one.se * math.sqrt(one.n), effect)
