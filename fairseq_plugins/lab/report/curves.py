"""How runs learnt: chosen settings, and the curves of their logs as numbers.

A system is drawn at the setting that does best on the validation set; where none of its runs is
finished, at the one that is furthest.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..figures.gates import GateShare
from ..results.outcomes import Setting
from ..results.seeds import Summary, chosen_settings
from ..results.training_log import training_losses, updates_so_far, validations
from ..safe_files import is_file
from .records import FINISHED, RunRecord

MOST_POINTS = 80  # of a curve: more cannot be seen

Runs = Mapping[str, Sequence[RunRecord]]  # system -> runs at one setting
Curves = dict[str, dict[float, list[float]]]  # system -> updates -> values of its seeds


def by_setting(records: Iterable[RunRecord]) -> dict[Setting, list[RunRecord]]:
    """Group runs by all but their seed."""
    groups: dict[Setting, list[RunRecord]] = defaultdict(list)
    for record in records:
        groups[record.setting].append(record)
    return dict(groups)


def chosen(records: Sequence[RunRecord]) -> dict[str, list[RunRecord]]:
    """Return the runs of every system at its chosen setting, in order of appearance."""
    groups = by_setting(records)
    best = {name: s.setting for name, s in chosen_settings(*_summaries(records)).items()}
    found = {}
    for system in dict.fromkeys(record.setting.system for record in records):
        if system not in best:
            own = [setting for setting in groups if setting.system == system]
            best[system] = max(own, key=lambda one: _updates(groups[one]))
        found[system] = groups[best[system]]
    return found


def _updates(runs: Iterable[RunRecord]) -> int:
    """Return the updates of all runs together."""
    return sum(updates_so_far(run.log) for run in runs)


def chosen_finished(records: Sequence[RunRecord]) -> dict[str, list[RunRecord]]:
    """Return the finished runs of every system at its chosen setting."""
    groups = by_setting(finished(records))
    best = chosen_settings(*_summaries(records))
    return {system: groups[summary.setting] for system, summary in best.items()}


def finished(records: Iterable[RunRecord]) -> list[RunRecord]:
    """Return the runs that are done, with what chooses among them."""
    return [run for run in records if run.status == FINISHED and run.metric in run.best]


def _summaries(records: Sequence[RunRecord]) -> tuple[list[Summary], str]:
    """Return the finished settings over their seeds, and the metric that chooses among them."""
    done = finished(records)
    metric = done[0].metric if done else ""
    done = [run for run in done if run.metric == metric]
    return [
        Summary(setting, {run.seed: run.best[metric] for run in runs}, math.nan, [])
        for setting, runs in by_setting(done).items()
    ], metric


def largest_fraction(records: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the runs on the largest share of the training data."""
    most = max((record.setting.fraction for record in records), default=1.0)
    return [record for record in records if record.setting.fraction == most]


def validation_curves(runs: Runs, metric: str, remarks: list[str], scale: float = 1) -> Curves:
    """Return the metric at every validation, times a scale."""

    def points(run: RunRecord) -> dict[float, float]:
        found = validations(run.log, run.validation)
        return {one.updates: scale * one.metrics[metric] for one in found if metric in one.metrics}

    return _curves(runs, points, remarks)


def loss_curves(runs: Runs, remarks: list[str]) -> Curves:
    """Return the loss on training batches, averaged over stretches of updates."""
    longest = max((run.updates for group in runs.values() for run in group), default=0)
    width = max(1, math.ceil(longest / MOST_POINTS))

    def points(run: RunRecord) -> dict[float, float]:
        stretches = defaultdict(list)
        for updates, loss in training_losses(run.log).items():
            stretches[math.ceil(updates / width) * width].append(loss)
        return {updates: statistics.fmean(losses) for updates, losses in stretches.items()}

    return _curves(runs, points, remarks)


def _curves(
    runs: Runs, points: Callable[[RunRecord], Mapping[float, float]], remarks: list[str]
) -> Curves:
    """Put the finite points of all seeds together; a log that cannot be read is told of."""
    curves: Curves = {}
    for system, group in runs.items():
        values: dict[float, list[float]] = defaultdict(list)
        for run in group:
            if not is_file(run.log):
                continue
            try:
                for updates, value in points(run).items():
                    values[updates] += [value] if math.isfinite(value) else []
            except (OSError, ValueError, TypeError):
                remarks.append(f"{run.log}: passed over, it cannot be read as a training log")
        values = {updates: found for updates, found in sorted(values.items()) if found}
        if values:
            curves[system] = values
    return curves


def gate_shares(runs: Runs, dataset: str) -> list[GateShare]:
    """Return the mean local share of attention of every layer, as finished runs logged it."""
    found = []
    for system, group in runs.items():
        for run in group:
            gates = run.facts.get("gates")
            for layer, share in gates.items() if isinstance(gates, dict) else ():
                if str(layer).isdigit() and isinstance(share, (int, float)) and 0 <= share <= 1:
                    found.append(GateShare(dataset, system, int(layer), float(share), 0))
    return found
