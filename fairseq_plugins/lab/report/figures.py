"""The figures of a report: how systems learn, what shares of the data and gates come to.

A system is drawn at the setting that does best on the validation set, once a run of it is finished.
"""

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ..figures.curves import Curves, plot_curves, plot_gates, plot_learning
from ..figures.drawing import save
from ..figures.seeds import plot_seeds
from ..results.choice import baseline_of, chosen_finished, seed_scores, shown_of
from ..results.frame import Experiment, tried
from ..results.part_tables import share_curves
from ..results.tables import name_of, scale_of
from ..results.training_log import training_losses, validations
from ..run_files import LOG
from ..safe_files import is_file
from .model import Figure

MOST_POINTS = 80  # of a curve: more cannot be seen

Runs = Mapping[str, pd.DataFrame]  # system -> runs at one setting


def draw(
    experiment: Experiment,
    outcomes: Mapping[str, pd.DataFrame],
    folder: Path,
    prefix: str,
    remarks: list[str],
    *,
    baseline: str = "",
) -> Iterator[Figure]:
    """Draw all figures of an experiment, part by part, as SVG.

    Args:
        experiment: its runs.
        outcomes: part -> its finished runs, where they could be read.
        folder: for the figures.
        prefix: of their names.
        remarks: what could not be read is added, a line each.
        baseline: system that comes first where seeds are shown; empty for the usual one.
    """
    for name, runs in experiment.parts.items():
        root, dataset = runs.root.iloc[0], runs.dataset.iloc[0]
        runs = runs[runs.fraction == max(runs.fraction, default=1.0)]
        stem = folder / (prefix + re.sub(r"[^\w.-]+", "_", name)[:100])
        if name in outcomes:
            what = f"{root}: no curve of shares of the data, "
            make = partial(_fractions, name, outcomes[name], stem)
            yield from tried(make, remarks, [], what)
            make = partial(_seeds, name, outcomes[name], stem, baseline)
            yield from tried(make, remarks, [], f"{root}: no figure of seeds, ")
        yield from _learning(name, runs, stem, remarks)
        yield from _gates(name, dataset or name, runs, stem)


def _about(runs: Runs) -> str:
    """Say whose runs a figure shows."""
    shown = _over_seeds(len(group) for group in runs.values())
    share = max(max(one.fraction) for one in runs.values())
    return f"{shown}, each at its chosen setting{_of_share(share)}"


def _of_share(share: float) -> str:
    """Say of what share of the training data a figure is; nothing of all."""
    return f", on {100 * share:g} % of the data" if share < 1 else ""


def _over_seeds(numbers: Iterable[int]) -> str:
    """Say what lines and areas of a figure are, with so many seeds each."""
    counts = sorted(set(numbers))
    if counts[-1] == 1:
        return "one seed a system"
    several = f"{counts[0]} to {counts[-1]} seeds a system"
    return f"mean and range over {several if counts[0] < counts[-1] else f'{counts[0]} seeds'}"


def _fractions(name: str, found: pd.DataFrame, stem: Path) -> list[Figure]:
    """Draw a score against the share of the training data."""
    if found.fraction.nunique() < 2:
        return []
    curves, shown = share_curves(found)
    (path,) = save(plot_curves(curves, shown.title), f"{stem}-fractions", ["svg"])
    seeds = _over_seeds(len(one) for points in curves.values() for one in points.values())
    caption = f"{shown.title}, against the share of the training data; {seeds}."
    return [Figure(f"{name}: shares of the training data", caption, path, True)]


def _seeds(name: str, found: pd.DataFrame, stem: Path, baseline: str) -> list[Figure]:
    """Draw a score of every seed, of several systems that do not all have one seed."""
    shown = shown_of(found)
    first = baseline if baseline in set(found.system) else baseline_of(found)
    scores = seed_scores(found, shown, first)
    if len(scores) < 2 or max(map(len, scores.values())) < 2:
        return []
    (path,) = save(plot_seeds(scores, shown), f"{stem}-seeds", ["svg"])
    caption = f"{shown.title}: every seed a dot, the mean a line; each at its chosen setting"
    return [Figure(f"{name}: seeds", f"{caption}{_of_share(max(found.fraction))}.", path, True)]


def _learning(name: str, records: pd.DataFrame, stem: Path, remarks: list[str]) -> Iterator[Figure]:
    """Draw the metric of validation, and the loss of training, against updates."""
    runs = chosen_finished(records)
    if not runs:
        return
    about = records.iloc[0]
    if about.metric:
        scale = scale_of(about.metric)
        curves = validation_curves(runs, about.metric, remarks, scale)
        if curves:
            figure = plot_learning(curves, name_of(about.metric))
            (path,) = save(figure, f"{stem}-validation", ["svg"])
            caption = f"{about.metric} on {about.validation} against updates; {_about(runs)}."
            yield Figure(f"{name}: validation", caption, path, True)
    curves = loss_curves(runs, remarks)
    if curves:
        (path,) = save(plot_learning(curves, "training loss"), f"{stem}-loss", ["svg"])
        caption = f"Loss on training batches against updates; {_about(runs)}."
        yield Figure(f"{name}: training loss", caption, path, True)


def _gates(name: str, dataset: str, records: pd.DataFrame, stem: Path) -> Iterator[Figure]:
    """Draw the mean gates of every layer."""
    runs = chosen_finished(records)
    curves = gate_curves(runs)
    if curves:
        (path,) = save(plot_gates({dataset: curves}), f"{stem}-gates", ["svg"])
        split = records.validation.iloc[0]
        caption = (
            f"Share of local attention in every layer, mean over tokens of {split}; {_about(runs)}."
        )
        yield Figure(f"{name}: gates per layer", caption, path, True)


def validation_curves(runs: Runs, metric: str, remarks: list[str], scale: float = 1) -> Curves:
    """Return the metric at every validation, times a scale."""

    def points(run: Any) -> dict[float, float]:
        found = validations(run.folder / LOG, run.validation)
        return {one.updates: scale * one.metrics[metric] for one in found if metric in one.metrics}

    return _curves(runs, points, remarks)


def loss_curves(runs: Runs, remarks: list[str]) -> Curves:
    """Return the loss on training batches, averaged over stretches of updates."""
    longest = max((row.updates for group in runs.values() for row in group.row), default=0)
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
    curves = {}
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


def gate_curves(runs: Runs) -> Curves:
    """Return the mean local share of attention of every layer, as finished runs logged it."""
    curves: dict[str, dict[float, list[float]]] = {}
    for system, group in runs.items():
        for layer, share in (item for gates in group.gates for item in gates.items()):
            if str(layer).isdigit() and isinstance(share, (int, float)) and 0 <= share <= 1:
                curves.setdefault(system, {}).setdefault(int(layer), []).append(float(share))
    return curves
