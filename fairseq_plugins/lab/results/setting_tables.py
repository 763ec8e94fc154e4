"""Every setting of every system, with all its seeds, and the chosen settings marked."""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import pandas as pd

from ...evaluation.choices import SENTENCE_METRICS
from ..rows import Setting
from .choice import alike, best_of, chosen_by_share, scale_of
from .frame import Shown
from .remarks import remarked
from .scores import Score, laid_out
from .tables import (
    ResultTable,
    TableCell,
    digits_of,
    headings,
    millions,
    number_cell,
    share_cell,
)

FOLDED = 30  # tables with more rows are folded
_CAPTION = (
    "Mean ± standard deviation over seeds of the best checkpoint, the best seed, and the mean "
    "after the last update; shares in %, BLEU and chrF in points. ✓: the system's best by {}, "
    "among its settings with most seeds. Bold: best of the column."
)


def shown_metrics(runs: pd.DataFrame) -> list[Shown]:
    """Return the metrics to show: the metric that chose, and those of the evaluation."""
    done = runs[runs.done.astype(bool)]
    if done.empty:
        return []
    first = done.iloc[0]
    found = [Shown(first.metric, first.validation)]
    for split in dict.fromkeys(filter(None, done.evaluated)):
        tried = [Shown(name, split) for name in (*SENTENCE_METRICS, first.metric)]
        there = [one for one in tried if {*one.found(done)} - {None}]
        found += [one for one in there if one.metric in SENTENCE_METRICS] or there
    return found


def every_setting(title: str, runs: pd.DataFrame, *, is_folded: bool = False) -> list[ResultTable]:
    """Return the table of all settings of a part; none before a run is finished."""
    if not (shown := shown_metrics(runs)):
        return []
    table = settings_table(title, runs[runs.done.astype(bool)], shown)
    return [remarked(replace(table, is_folded=is_folded or table.is_folded), runs)]


def settings_table(title: str, runs: pd.DataFrame, shown: Sequence[Shown]) -> ResultTable:
    """Return a table with a line per setting; the first of ``shown`` chooses."""
    chosen = {own.setting.iloc[0] for own in chosen_by_share(alike(runs), shown[0]).values()}
    groups = dict(iter(runs.groupby("setting", sort=False)))
    parted = any(setting.fraction != 1 for setting in groups)
    heads = headings(
        "system", "learning rate", "length", *["data"] * parted, "parameters", "chosen"
    )
    rows = {
        setting: [
            *_setting_cells(setting, group.trial.iloc[0], parted),
            millions(group.parameters.iloc[0]),
            TableCell("✓" * (setting in chosen)),
        ]
        for setting, group in groups.items()
    }
    scores = [_score(*pair, one) for pair in groups.items() for one in shown]
    return ResultTable(
        title,
        [*heads, *(TableCell(one.metric, one.split) for one in shown)],
        laid_out(rows, shown, scores, bold=True),
        _CAPTION.format(shown[0].title),
        is_folded=len(rows) >= FOLDED,
    )


def _score(setting: Setting, runs: pd.DataFrame, shown: Shown) -> Score:
    """Return a metric of a setting, with its best seed and its last update."""
    score = Score(setting, shown, shown, runs)
    told, values = {}, score.values
    if len(values) > 1:
        told["best"] = best_of(shown.metric)(filter(math.isfinite, values), default=math.nan)
    if values and shown.split == runs.validation.iloc[0]:
        told["last"] = fmean(row.last.get(shown.metric, math.nan) for row in runs.row)
    scale, digits = scale_of(shown.metric), digits_of(shown.metric)
    more = " · ".join(f"{name} {scale * value:.{digits}f}" for name, value in told.items())
    return replace(score, more=more)


def _setting_cells(setting: Setting, trial: str, parted: bool) -> list[TableCell]:
    """Return the cells that describe a setting; choices stand below the system's name."""
    choices, rate = [f"{name} {v}" for name, v in setting.choice], setting.learning_rate
    length = number_cell(setting.epochs, f"{{}} epoch{'s' * (setting.epochs != 1)}")
    if setting.updates:
        length = number_cell(setting.updates, "{:,} updates")
    return [
        TableCell(setting.system, ", ".join(filter(None, (*choices, trial)))),
        TableCell(f"{rate:g}".replace("e-0", "e-"), value=rate),
        length,
        *[share_cell(setting.fraction)] * parted,
    ]
