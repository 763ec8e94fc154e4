"""How runs learnt: chosen settings, and the curves of their logs as numbers.

A system is drawn at the setting that does best on the validation set; where none of its runs is
finished, at the one that is furthest.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from ..figures.gates import GateShare
from ..results.seeds import by_setting, chosen_finished
from ..results.training_log import training_losses, updates_so_far, validations
from ..run_files import LOG
from ..safe_files import is_file

MOST_POINTS = 80  # of a curve: more cannot be seen

Runs = Mapping[str, pd.DataFrame]  # system -> runs at one setting
Curves = dict[str, dict[float, list[float]]]  # system -> updates -> values of its seeds


def chosen(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the runs of every system at its chosen setting, in order of appearance."""
    groups = by_setting(runs)
    best = {name: one.setting for name, one in chosen_finished(runs).items()}
    for system in dict.fromkeys(runs.system):
        if system not in best:
            own = [setting for setting in groups if setting.system == system]
            best[system] = max(own, key=lambda one: _updates(groups[one]))
    return {system: groups[best[system]] for system in dict.fromkeys(runs.system)}


def _updates(runs: pd.DataFrame) -> int:
    """Return the updates of all runs together."""
    return sum(updates_so_far(folder / LOG) for folder in runs.folder)


def largest_fraction(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on the largest share of the training data."""
    return runs[runs.fraction == max(runs.fraction, default=1.0)]


def validation_curves(runs: Runs, metric: str, remarks: list[str], scale: float = 1) -> Curves:
    """Return the metric at every validation, times a scale."""

    def points(run: Any) -> dict[float, float]:
        found = validations(run.folder / LOG, run.validation)
        return {one.updates: scale * one.metrics[metric] for one in found if metric in one.metrics}

    return _curves(runs, points, remarks)


def loss_curves(runs: Runs, remarks: list[str]) -> Curves:
    """Return the loss on training batches, averaged over stretches of updates."""
    longest = max((count for group in runs.values() for count in group.planned), default=0)
    width = max(1, math.ceil(longest / MOST_POINTS))

    def points(run: Any) -> dict[float, float]:
        stretches = defaultdict(list)
        for updates, loss in training_losses(run.folder / LOG).items():
            stretches[math.ceil(updates / width) * width].append(loss)
        return {updates: statistics.fmean(losses) for updates, losses in stretches.items()}

    return _curves(runs, points, remarks)


def _curves(
    runs: Runs, points: Callable[[Any], Mapping[float, float]], remarks: list[str]
) -> Curves:
    """Put the finite points of all seeds together; a log that cannot be read is told of."""
    curves: Curves = {}
    for system, group in runs.items():
        values: dict[float, list[float]] = defaultdict(list)
        for run in group.itertuples():
            log = run.folder / LOG
            if not is_file(log):
                continue
            try:
                for updates, value in points(run).items():
                    values[updates] += [value] if math.isfinite(value) else []
            except (OSError, ValueError, TypeError):
                remarks.append(f"{log}: passed over, it cannot be read as a training log")
        values = {updates: found for updates, found in sorted(values.items()) if found}
        if values:
            curves[system] = values
    return curves


def gate_shares(runs: Runs, dataset: str) -> list[GateShare]:
    """Return the mean local share of attention of every layer, as finished runs logged it."""
    return [
        GateShare(dataset, system, int(layer), float(share), 0)
        for system, group in runs.items()
        for gates in group.gates
        for layer, share in gates.items()
        if str(layer).isdigit() and isinstance(share, (int, float)) and 0 <= share <= 1
    ]
