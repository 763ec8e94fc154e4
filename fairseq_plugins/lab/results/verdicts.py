"""Comparisons in words: the difference and its certainty.

Fixed rules make the sentences, so that equal results read alike.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ...evaluation.choices import SENTENCE_METRICS
from ...evaluation.metrics import LOWER_IS_BETTER
from ..plan.grid import VALID
from .compare import interval
from .frame import Shown
from .layouts import SIGNIFICANT
from .tables import called, digits_of, name_of, p_text, scale_of, signed


def on_split(shown: Shown) -> str:
    """Describe a metric and its split."""
    split = "the validation set" if shown.split == VALID else f"split {shown.split!r}"
    return f"{name_of(shown.metric)} on {split}"


def named_title(title: str, names: Mapping[str, str]) -> str:
    """Return the title of a setting with the shown name of its system."""
    system, space, rest = title.partition(" ")
    return names.get(system, system) + space + rest


def sentences(
    compared: Any, baseline: str, shown: Shown, names: Mapping[str, str] = {}
) -> Iterator[str]:
    """Yield a sentence per comparison of `against`, and one for all insignificant ones."""
    other, alike = names.get(baseline, baseline), []
    in_points = scale_of(shown.metric) > 1 or shown.metric in SENTENCE_METRICS
    unit = " points" * in_points
    for one in compared.itertuples():
        title = named_title(one.title, names)
        seen = _shown(one.difference, shown.metric) + unit
        if math.isnan(one.corrected_p):
            why = f"too little to conclude anything ({one.untested})"
            yield f"{title} against {other}: {seen} of {called(shown.metric)}; {why}."
        elif one.corrected_p < SIGNIFICANT:
            better = (one.difference > 0) == (shown.metric not in LOWER_IS_BETTER)
            how = f"{'better' if better else 'worse'} than {other}"
            low, high = (_shown(end, shown.metric) for end in interval(one))
            about = f"{one.n} seeds, 95 % {low} to {high}, {p_text(one.corrected_p)}"
            yield f"{title} is {how}: {seen} of {called(shown.metric)} ({about})."
        else:
            alike.append(f"{title} ({seen})")
    if alike:
        yield f"No significant difference from {other}, which is not equality: {', '.join(alike)}."


def _shown(value: float, metric: str) -> str:
    return signed(scale_of(metric) * value, digits_of(metric))
