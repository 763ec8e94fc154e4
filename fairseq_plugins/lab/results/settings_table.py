"""The table of every setting of every system, and which of them were chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from .comparisons import SENTENCE_METRICS
from .run_frame import EVALUATION, Setting, found_scores
from .seeds import Shown, by_setting, chosen_finished, finished
from .tables import (
    NONE,
    Cell,
    Heading,
    Table,
    millions,
    number_cell,
    score_cell,
    share_cell,
    with_best,
)

FOLDED = 30  # rows from which a table is folded


def shown_metrics(runs: pd.DataFrame) -> list[Shown]:
    """Return what there is to show of runs: the metric that chose, and those of the evaluation."""
    done = finished(runs)
    if done.empty:
        return []
    first, tried = done.iloc[0], done[done.evaluated != ""]
    found = [Shown(first.metric, first.validation)]
    names = [name for name in SENTENCE_METRICS if any(_tried(tried, name))]
    names = names or ([first.metric] if any(_tried(tried, first.metric)[:1]) else [])
    return found + [Shown(name, tried.iloc[0].evaluated, EVALUATION) for name in names]


def _tried(runs: pd.DataFrame, metric: str) -> list[bool]:
    return [value is not None for value in found_scores(runs, EVALUATION, metric)]


CAPTION = (
    "Mean ± standard deviation over seeds; shares in %, BLEU and chrF in points. ✓: the system's "
    "best by {metric} ({split}), among its settings with most seeds."
)


def settings_table(title: str, runs: pd.DataFrame, *, is_folded: bool = False) -> list[Table]:
    """Return one line a setting, the chosen ones marked; no table before a run is finished.

    Args:
        title: of the table.
        runs: of one part.
        is_folded: whether it is folded though it is short.
    """
    groups, shown = by_setting(finished(runs)), shown_metrics(runs)
    if not groups:
        return []
    shares = set(runs.fraction)
    by_share = (chosen_finished(runs[runs.fraction == share]) for share in shares)
    best = {one.setting for chosen in by_share for one in chosen.values()}
    names, parted = _shared_choices(groups), any(setting.fraction != 1 for setting in groups)
    headings = [Heading("system", is_number=False), *map(Heading, names)]
    headings += [Heading("learning rate"), Heading("length")]
    headings += [Heading("data")] if parted else []
    headings += [Heading(one.metric, one.split) for one in shown]
    headings += [Heading("parameters"), Heading("chosen", is_number=False)]
    rows = [
        [
            *_setting_cells(setting, names, parted),
            *(score_cell(_there(group, one), one.metric) for one in shown),
            millions(group.parameters.iloc[0]),
            Cell("✓" if setting in best else ""),
        ]
        for setting, group in groups.items()
    ]
    for place, one in enumerate(shown, start=len(headings) - len(shown) - 2):
        with_best(rows, place, one.metric)
    bold = " Bold: best of the column." if len(rows) > 1 else ""
    caption = CAPTION.format(metric=shown[0].metric, split=shown[0].split) + bold
    is_folded = is_folded or len(rows) >= FOLDED
    return [Table(title, headings, rows, caption, is_folded=is_folded)]


def _there(runs: pd.DataFrame, shown: Shown) -> list[float]:
    """Return a metric of those runs that have it."""
    found = found_scores(runs, shown.where, shown.metric)
    return [value for value in found if value is not None]


def _shared_choices(settings: Iterable[Setting]) -> list[str]:
    """Return the choices that all settings make, if they make the same and no others."""
    names = [[name for name, _ in setting.choice] for setting in settings]
    return names[0] if all(own == names[0] for own in names) else []


def _setting_cells(setting: Setting, names: Sequence[str], parted: bool) -> list[Cell]:
    """Return what a setting is; choices without a column stand below the system's name."""
    choice, share = dict(setting.choice), setting.fraction
    own = "" if names else ", ".join(f"{name} {value}" for name, value in setting.choice)
    cells = [Cell(setting.system, own), *(_value(choice[name]) for name in names)]
    cells += [_value(setting.learning_rate), _length(setting)]
    return cells + ([share_cell(share)] if parted else [])


def _value(value: Any) -> Cell:
    """Show a value of an option."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Cell(NONE if value is None else str(value))
    text = f"{value:g}".replace("e-0", "e-")
    return Cell(NONE if math.isnan(value) else text, value=float(value))


def _length(setting: Setting) -> Cell:
    if setting.updates:
        return number_cell(setting.updates, "{:,} updates")
    return number_cell(setting.epochs, f"{{}} epoch{'s' * (setting.epochs != 1)}")
