"""Scores of tables and their cells.

A table has rows, columns, and at most one score per row and column: a metric of a system at its
chosen setting, over its seeds, or only a figure of a paper.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any

import pandas as pd

from .choice import scale_of
from .compare import SEEDS, Difference, Significance
from .frame import Shown, frame
from .layouts import DOWN, SIGNIFICANT, UP
from .tables import (
    NONE,
    TableCell,
    digits_of,
    mark_of,
    p_text,
    paper_text,
    score_cell,
    signed,
    with_best,
)

_CAPTION = (
    "Mean ± standard deviation over seeds, and, as far as known, what is gained over {}, p, and "
    "the paper's figure; each system at the setting with the best mean on the validation set, "
    f"among those with most seeds. {UP} better, {DOWN} worse with p < {SIGNIFICANT}: {{}}."
)


@dataclass(frozen=True)
class Score:
    """A score."""

    # row, column: its place
    row: Any
    column: Any
    shown: Shown  # metric and split
    # one per seed; none for a paper's figure alone
    runs: pd.DataFrame = field(default_factory=partial(frame, []))
    # runs of the baseline, if compared
    base: pd.DataFrame = field(default_factory=partial(frame, []))
    tested: Difference = Difference()  # the comparison with the baseline
    paper: float = math.nan  # the paper's figure
    more: str = ""  # further text below the score

    @property
    def values(self) -> list[float]:
        """Values of the seeds that have the metric."""
        return [value for value in self.shown.found(self.runs) if value is not None]

    @property
    def mark(self) -> str:
        """An arrow for a significant difference from the baseline."""
        return mark_of(self.tested.p_value, self.tested.difference, self.shown.metric)

    def cell(self) -> TableCell:
        said, tested, gain = p_text(self.tested.p_value), self.tested, ""
        if len(self.base):
            gain = self._signed(fmean(self.values) - fmean(self.shown.values(self.base)))
        if said and tested.over != SEEDS:
            said += f" over {tested.over}"
            several = max(len(self.runs), len(self.base)) > 1
            if several and self._signed(tested.difference) != gain:
                said += f" of the seeds of both ({self._signed(tested.difference)})"
        details = (gain, said or tested.untested, self.more, paper_text(self.paper))
        return score_cell(self.values, self.shown.metric, *details, mark=self.mark)

    def _signed(self, difference: float) -> str:
        metric = self.shown.metric
        return signed(scale_of(metric) * difference, digits_of(metric))


def compared_with(
    base: pd.DataFrame | None, runs: pd.DataFrame, shown: Shown, test: Significance
) -> dict[str, Any]:
    """Return the baseline and test of a `Score`; empty without another baseline."""
    if base is None or base.setting.iloc[0] == runs.setting.iloc[0]:
        return {}
    return {"base": base, "tested": test(base, runs, shown)}


def how_to_read(baseline: str, test: Significance, scores: Sequence[Score], source: str) -> str:
    caption = _CAPTION.format(baseline, test.name.rstrip("."))
    has_paper = any(not math.isnan(one.paper) for one in scores)
    return f"{caption} Paper: {source}." if has_paper else caption


def laid_out(
    rows: Mapping[Any, Sequence[TableCell]],
    columns: Sequence[Any],
    scores: Sequence[Score],
    *,
    bold: bool = False,
) -> list[list[TableCell]]:
    """Return the cells of a table; ``bold`` marks the best of each column."""
    cells = {(one.row, one.column): one.cell() for one in scores}
    found = [
        [*first, *(cells.get((row, one), TableCell(NONE)) for one in columns)]
        for row, first in rows.items()
    ]
    metrics = {one.column: one.shown.metric for one in scores}
    for place, column in enumerate(columns, start=len(found[0]) - len(columns)):
        if bold:
            with_best(found, place, metrics[column])
    return found
