"""Tables of one dataset: by share of the training data, or by source features.

A row has the best setting on the validation set, with its gain over the baseline on the same share
of the data, and the significance.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

import pandas as pd

from ...errors import InputError
from ..plan.prepare import TRANSLATION
from .choice import NO_FEATURES, baseline_of, chosen_at, scale_of, shown_of
from .compare import Significance
from .frame import Shown
from .layouts import SHARE, PartLayout
from .scores import Score, compared_with, how_to_read, laid_out
from .tables import (
    NONE,
    ResultTable,
    TableCell,
    headings,
    millions,
    name_of,
    number_cell,
    share_cell,
)

_LEADS = {  # rows of a layout -> heads of their first columns
    SHARE: headings("share", "examples"),
    "features": headings("features", "system", "parameters"),
}


def part_table(
    found: pd.DataFrame, layout: PartLayout, test: Significance, *, paper: bool = True
) -> list[ResultTable]:
    """Return the table of a dataset's runs."""
    scores, rows = list(_scores(found, layout, test, paper)), {}
    for one in scores:
        rows.setdefault(one.row, []).append(one.runs)
    shown, first = scores[0].shown, baseline_of(found)
    title = f"{label_of(found)}: {shown.metric} by {layout.title}"
    columns = sorted(dict.fromkeys(one.column for one in scores), key=lambda name: name != first)
    heads = [TableCell(name or shown.title, shown.title if name else "") for name in columns]
    caption = f"{name_of(shown.metric)} on split {shown.split!r}. "
    caption += how_to_read(first, test, scores, layout.source)
    leads = {row: _leads(layout, row, pd.concat(own)) for row, own in rows.items()}
    cells = laid_out(leads, columns, scores)
    return [ResultTable(title, [*_LEADS[layout.rows], *heads], cells, caption)]


def _scores(
    found: pd.DataFrame, layout: PartLayout, test: Significance, paper: bool
) -> Iterator[Score]:
    shown, label, first = shown_of(found), label_of(found), baseline_of(found)
    runs = found if layout.rows == SHARE else _whole(found)
    bases = chosen_at(runs, zip(runs.fraction, runs.system))
    printed = paper and label.startswith(layout.data) and shown.metric == layout.metric
    for (row, column), one in _best_at(runs, layout).items():
        own = compared_with(bases.get((one.fraction.iloc[0], first)), one, shown, test)
        if layout.rows != SHARE:
            chosen = Shown(one.metric.iloc[0], one.validation.iloc[0])
            own["more"] = f"{chosen.metric} {fmean(chosen.values(one)):.3f}"
        if printed:
            own["paper"] = layout.paper.get(row, {}).get(column, math.nan)
        yield Score(row, column, shown, one, **own)


def share_curves(found: pd.DataFrame) -> tuple[dict[str, dict[float, list[float]]], Shown]:
    """Return system -> share of the data -> scores of its seeds, and the metric.

    A system has at each share its best setting on validation.
    """
    shown, curves = shown_of(found), {}
    for (share, name), runs in _best_at(found, PartLayout(title="", rows=SHARE)).items():
        scores = [scale_of(shown.metric) * value for value in shown.values(runs)]
        curves.setdefault(name, {})[share] = scores
    return curves, shown


def label_of(found: pd.DataFrame) -> str:
    """Return the name of a dataset; for parallel text the name of its folder."""
    root, dataset = found.root.iloc[0], found.dataset.iloc[0]
    return root.resolve().name if dataset == TRANSLATION else dataset


def _whole(found: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of translation on all of the training data."""
    if found.dataset.iloc[0] != TRANSLATION:
        raise InputError(f"a table of features is of translation, not of {label_of(found)}")
    whole = found[found.fraction == 1]
    if whole.empty:
        shares = ", ".join(f"{100 * share:g} %" for share in sorted(set(found.fraction)))
        raise InputError(
            f"{found.root.iloc[0]}: a table of features is of runs on 100 % of the training data; "
            f"these are on {shares}"
        )
    return whole


def _best_at(runs: pd.DataFrame, layout: PartLayout) -> dict[tuple[Any, str], pd.DataFrame]:
    """Return row and column -> runs with the best setting on validation, row by row."""
    best = chosen_at(runs, [_place(run, layout) for run in runs.itertuples()])
    return {place: best[place] for place in sorted(best)}


def _place(run: Any, layout: PartLayout) -> tuple[Any, str]:
    if layout.rows == SHARE:
        return run.fraction, run.system
    listed = str(run.options.get("features", NO_FEATURES)).split(",")
    names = tuple(name for name in listed if name != NO_FEATURES)
    return (len(names), names or (NO_FEATURES,), run.system), ""


def _leads(layout: PartLayout, row: Any, runs: pd.DataFrame) -> Sequence[TableCell]:
    """Return the first cells of a row: its name, and the size of its training set or models."""
    if layout.rows == SHARE:
        sizes = [size for size in runs.examples if size]
        count = number_cell(round(fmean(sizes)), "{:,}") if sizes else TableCell(NONE)
        return share_cell(row), count
    return TableCell(", ".join(row[1])), TableCell(row[2]), millions(runs.parameters.iloc[0])
