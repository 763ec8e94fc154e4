"""Translation with several source features, and with features of several widths, as tables.

Sundararaman et al. (2019), "Experimental Results": all three features do better than any two, and
a width of 20 better than the others from 8 to 64, be they summed or set side by side. The paper
prints no figures of either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from .comparisons import Significance
from .one_dataset import (
    NO_FEATURES,
    About,
    Compared,
    Pair,
    baseline_of,
    shown_of,
)
from .runs import Outcomes
from .seeds import Summary, best_of, chosen_at, chosen_settings
from .tables import NONE, Cell, Heading, millions

_SUM = "sum"  # how features are combined unless an option says otherwise
_WIDTH = 20  # of summed features, likewise
_BARE = ("", 0)  # way and width of no features


def feature_table(found: Outcomes, test: Significance, paper: bool = True) -> Compared:
    """Lay systems out by the features they read, few first.

    Args:
        found: runs of translation.
        test: of the difference to the system without features.
        paper: no matter: the paper prints no figures of it.

    Raises:
        ValueError: no run used all of the training data.
    """
    systems, about = chosen_at(_whole(found), found.metric), About(found, shown_of(found), test)
    pairs = about.pairs(systems, systems.get(baseline_of(found))).values()
    leads = [Heading("features", is_number=False), Heading("system", is_number=False)]
    rows = []
    for pair in sorted(pairs, key=lambda pair: (len(_features(pair)), _features(pair))):
        names, run = ", ".join(_features(pair)) or NO_FEATURES, pair.summary.runs.iloc[0]
        cells = [Cell(names, value=len(rows)), Cell(run.system), millions(run.parameters)]
        rows.append((cells, [pair]))
    return about.table("source features", [*leads, Heading("parameters")], {"": ""}, rows)


def _features(pair: Pair) -> list[str]:
    """Return the names of the features that a system reads."""
    text = str(pair.summary.runs.options.iloc[0].get("features", NO_FEATURES))
    return [name for name in text.split(",") if name != NO_FEATURES]


def width_table(found: Outcomes, test: Significance, paper: bool = True) -> Compared:
    """Lay runs out by the width of their features, one pair of columns a way of combining them.

    Args:
        found: runs of translation; every width stands, whatever is best on validation.
        test: of the difference to the system without features.
        paper: no matter: the paper prints no figures of it.

    Raises:
        ValueError: no run used all of the training data.
    """
    by_place, about = _by_place(found), About(found, shown_of(found), test)
    pairs = about.pairs(by_place, by_place.get(_BARE))
    ways = sorted({way for way, _ in pairs if way}, key=lambda way: (way != _SUM, way))
    rows = [
        (
            [Cell(str(width or NONE), value=width)],
            [pairs.get((way if width else "", width)) for way in ways],
        )
        for width in sorted({width for _, width in pairs})
    ]
    by, groups = "width of the source features", {way: way for way in ways}
    table = about.table(by, [Heading("width")], groups, rows)
    notes = tuple(_best(by_place, way, found.metric) for way in ways)
    return replace(table, notes=notes, pairs=tuple(pairs.values()))


def _by_place(found: Outcomes) -> dict[tuple[str, int], Summary]:
    """Return way and width of the features -> runs with the setting that is best on validation."""
    runs = _whole(found)
    places = [_place(options) for options in runs.options]
    best = {}
    for place in dict.fromkeys(places):
        here = chosen_settings(runs[[one == place for one in places]], found.metric)
        best[place] = best_of(found.metric)(here.values(), key=lambda one: one.mean)
    return best


def _whole(found: Outcomes) -> pd.DataFrame:
    """Return the runs on all of the training data.

    Raises:
        ValueError: there are none; names the shares that there are.
    """
    whole = found.runs[found.runs.fraction == 1]
    if whole.empty:
        shares = sorted(set(found.runs.fraction))
        raise ValueError(
            f"{found.root}: a table of features is of runs on 100 % of the training data; these "
            f"are on {', '.join(f'{100 * share:g} %' for share in shares)}"
        )
    return whole


def _place(options: Mapping[str, Any]) -> tuple[str, int]:
    """Return how a run combines its features and how wide they are together; no way for none."""
    if options.get("features") == NO_FEATURES:
        return _BARE
    way = str(options.get("feature-combine", _SUM))
    widths = options.get("feature-embed-dims")
    if widths:
        return way, sum(int(width) for width in str(widths).split(","))
    return way, int(options.get("feature-embed-dim", _WIDTH))


def _best(by_place: dict[tuple[str, int], Summary], way: str, metric: str) -> str:
    """Say which width is best on the validation set."""
    widths = {width: one.mean for (name, width), one in by_place.items() if name == way}
    best = best_of(metric)(widths, key=widths.__getitem__)
    return f"{way}: best {metric} on validation with width {best}"
