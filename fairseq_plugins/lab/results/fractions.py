"""Runs on several shares of the training data, as a table and as points of a curve.

Sundararaman et al. (2019), Table 1: a row a share, the baseline and the syntax-infused Transformer,
what the second gains. Any number of systems and any task will do; the first is the baseline: the
one without source features, or else the one that comes first.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from .comparisons import Significance
from .layouts import Entries, special
from .one_dataset import (
    About,
    Compared,
    Pair,
    baseline_of,
    shown_of,
)
from .runs import Outcomes
from .seeds import Shown, chosen_at
from .tables import NONE, Cell, Heading, number_cell, scale_of, share_cell


class Printed(Entries):
    """The paper's figures: of a metric on a split, by share of the training data, of systems."""

    source: str
    split: str
    metric: str
    systems: tuple[str, ...]
    paper: dict[float, tuple[float, ...]]

    def figure(self, shown: Shown, share: float, name: str) -> float:
        """Return a figure; nan where the paper has none."""
        if shown.metric != self.metric or name not in self.systems:
            return math.nan
        return dict(zip(self.systems, self.paper.get(share, ()))).get(name, math.nan)


@cache
def figures() -> Printed:
    """Return the paper's figures."""
    return special("fractions", Printed)


def shares_of(found: Outcomes) -> list[float]:
    """Return the shares of the training data, rising."""
    return sorted(set(found.runs.fraction))


def fraction_table(found: Outcomes, test: Significance, paper: bool = True) -> Compared:
    """Lay runs out by the share of the training data.

    Args:
        found: runs on one dataset.
        test: of the difference to the baseline.
        paper: whether the paper's figures stand beside ours.
    """
    shown, first = shown_of(found), baseline_of(found)
    about = About(found, shown, test, f"paper, {figures().split}")
    by_share: dict[float, dict[str, Pair]] = {}
    for share in shares_of(found):
        systems = chosen_at(found.runs, found.metric, share)
        by_share[share] = {
            name: pair._replace(paper=figures().figure(shown, share, name) if paper else math.nan)
            for name, pair in about.pairs(systems, systems.get(first)).items()
        }
    names = dict.fromkeys([first, *(name for here in by_share.values() for name in here)])
    groups = {name: None if name == first else f"{name} minus {first}" for name in names}
    rows = [
        (
            [share_cell(share), _examples(here.values())],
            [*map(here.get, names)],
        )
        for share, here in by_share.items()
    ]
    leads = [Heading("share"), Heading("examples")]
    table = about.table("share of the training data", leads, groups, rows, chosen=False)
    if all(math.isnan(pair.paper) for pair in table.pairs):
        return table
    return replace(table, caption=f"{table.caption} Paper: {figures().source}.")


def _examples(pairs: Iterable[Pair]) -> Cell:
    """Return the size of the training set; of seeds the mean."""
    folders = [folder for pair in pairs for folder in pair.summary.runs.prepared]
    sizes = [size for folder in folders if (size := _size(folder))]
    return number_cell(round(statistics.fmean(sizes)), "{:,}") if sizes else Cell(NONE)


def _size(data: str) -> int:
    """Return the number of training examples of a prepared folder; 0 if it is not there."""
    path = Path(data) / "manifest.json"
    if not (data and path.is_file()):
        return 0
    train = json.loads(path.read_text(encoding="utf-8"))["splits"]["train"]
    return int(train.get("lines", train.get("examples", 0)))


def curve_points(found: Outcomes) -> tuple[list[dict[str, Any]], Shown]:
    """Return one point a run for `plots.plot_curves`, and what they show.

    A system stands at each share with the setting that is best on validation.
    """
    shown, scale = shown_of(found), scale_of(shown_of(found).metric)
    return [
        {"system": name, "fraction": share, "score": scale * value}
        for share in shares_of(found)
        for name, summary in chosen_at(found.runs, found.metric, share).items()
        for value in shown.values(summary)
    ], shown
