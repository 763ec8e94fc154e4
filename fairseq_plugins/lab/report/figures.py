"""The figures of a page: every seed, learning curves, shares of the training data, gates.

A system is drawn at its best setting on the validation set, once a run of it is finished.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from ..figures.curves import Curves, plot_curves, plot_gates, plot_learning
from ..figures.drawing import svg_of
from ..figures.seeds import plot_seeds
from ..results.choice import baseline_of, chosen_finished, seed_scores, shown_of
from ..results.frame import tried
from ..results.part_tables import share_curves
from ..results.tables import name_of, scale_of
from ..results.training_log import validations
from ..run_files import LOG
from ..safe_files import is_file
from .page import Figure

Runs = Mapping[str, pd.DataFrame]  # system -> runs at one setting


def draw(
    name: str,
    runs: pd.DataFrame,
    finished: pd.DataFrame | None,
    remarks: list[str],
    *,
    baseline: str = "",
) -> Iterator[Figure]:
    """Draw all figures of a part, the most informative first.

    Args:
        finished: comparable runs, or None.
        remarks: collects a line for everything unreadable.
        baseline: the first system of the figure of seeds; empty for the usual one.
    """
    root, whole = runs.root.iloc[0], runs[runs.fraction == max(runs.fraction)]
    if finished is not None:
        make = partial(_seeds, name, finished, baseline)
        yield from tried(make, remarks, [], f"{root}: no figure of seeds, ")
        make = partial(_shares, name, finished)
        yield from tried(make, remarks, [], f"{root}: no curve of shares of the data, ")
    make = partial(chosen_finished, whole)
    if chosen := tried(make, remarks, {}, f"{root}: no figure of what is learnt, "):
        yield from _learning(name, chosen, remarks)
        yield from _gates(name, chosen)


def _at_choice(share: float) -> str:
    part = f", on {100 * share:g} % of the data" if share < 1 else ""
    return f"each at its chosen setting{part}."


def _seeds(name: str, runs: pd.DataFrame, baseline: str) -> list[Figure]:
    """Draw a score of every seed, if there are several systems and seeds."""
    shown, known = shown_of(runs), set(runs.system)
    first = baseline if baseline in known else baseline_of(runs)
    scores = seed_scores(runs, shown, first)
    if len(scores) < 2 or max(map(len, scores.values())) < 2:
        return []
    caption = f"{shown.title}: every seed a dot; {_at_choice(max(runs.fraction))}"
    return [Figure(f"{name}: seeds", caption, svg_of(plot_seeds(scores, shown)))]


def _shares(name: str, runs: pd.DataFrame) -> list[Figure]:
    if runs.fraction.nunique() < 2:
        return []
    curves, shown = share_curves(runs)
    caption = f"{shown.title}, against the share of the training data; {_at_choice(1)}"
    drawn = svg_of(plot_curves(curves, shown.title))
    return [Figure(f"{name}: shares of the training data", caption, drawn)]


def _learning(name: str, runs: Runs, remarks: list[str]) -> Iterator[Figure]:
    one = next(iter(runs.values())).iloc[0]
    end = f"against updates; {_at_choice(one.fraction)}"
    if curves := curves_of(runs, one.metric, remarks):
        drawn = svg_of(plot_learning(curves, name_of(one.metric)))
        yield Figure(f"{name}: validation", f"{one.metric} on {one.validation} {end}", drawn)


def _gates(name: str, runs: Runs) -> Iterator[Figure]:
    curves: dict[str, dict[float, list[float]]] = {}
    for system, gates in ((name, one) for name in runs for one in runs[name].gates):
        for layer, share in gates.items():
            if layer.isdecimal():
                curves.setdefault(system, {}).setdefault(int(layer), []).append(share)
    if curves:
        one = next(iter(runs.values())).iloc[0]
        caption = f"Share of local attention in every layer, mean over tokens of {one.validation}; "
        drawn = svg_of(plot_gates({one.dataset or name: curves}))
        yield Figure(f"{name}: gates per layer", caption + _at_choice(one.fraction), drawn)


def _points(run: Any, metric: str) -> dict[float, float]:
    """Return a run's metric at every validation, scaled as shown."""
    found = validations(run.folder / LOG, run.validation)
    scale = scale_of(metric)
    return {one.updates: scale * one.metrics[metric] for one in found if metric in one.metrics}


def curves_of(runs: Runs, metric: str, remarks: list[str]) -> Curves:
    """Collect the finite points of all seeds; an unreadable log becomes a remark."""
    curves: dict[str, dict[float, list[float]]] = {}
    for system, run in ((name, run) for name in runs for run in runs[name].itertuples()):
        log = run.folder / LOG
        make, what = partial(_points, run, metric), f"{log}: passed over, it is no training log: "
        for place, value in (tried(make, remarks, {}, what) if is_file(log) else {}).items():
            if math.isfinite(value):
                curves.setdefault(system, {}).setdefault(place, []).append(value)
    return curves
