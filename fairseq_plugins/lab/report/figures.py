"""The figures of a report: how systems learn, what fractions of the data and gates come to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from ..figures.plots import plot_curves, plot_gates, plot_learning
from ..results.one_dataset import curve_points
from ..results.runs import Experiment, Outcomes
from ..results.seeds import chosen_finished, finished
from ..results.tables import scale_of
from .curves import Runs, chosen, gate_shares, largest_fraction, loss_curves, validation_curves
from .model import Figure


def draw(
    experiment: Experiment,
    outcomes: Mapping[str, Outcomes],
    folder: Path,
    prefix: str,
    remarks: list[str],
) -> Iterator[Figure]:
    """Draw all figures of an experiment, part by part, as SVG.

    Args:
        experiment: its runs.
        outcomes: part -> its finished runs, where they could be read.
        folder: for the figures.
        prefix: of their names.
        remarks: what could not be read is added, a line each.
    """
    for part in experiment.parts:
        runs, name = largest_fraction(experiment.of(part)), experiment.name_of(part)
        stem = folder / (prefix + re.sub(r"[^\w.-]+", "_", name)[:100])
        if part.name in outcomes:
            try:
                yield from _fractions(name, outcomes[part.name], stem)
            except (ValueError, KeyError) as error:
                remarks.append(f"{part.folder}: no curve of shares of the data, {error!r}")
        yield from _learning(name, runs, stem, remarks)
        yield from _gates(name, part.dataset or name, runs, stem)


def _about(runs: Runs) -> str:
    """Say whose runs a figure shows."""
    shown = _over_seeds(len(group) for group in runs.values())
    share = max(share for group in runs.values() for share in group.fraction)
    part = f", on {100 * share:g} % of the data" if share < 1 else ""
    return f"{shown}, {_chosen(runs)}{part}"


def _chosen(runs: Runs) -> str:
    """Say at which settings systems are shown; before the first result none is chosen."""
    under_way = [name for name, group in runs.items() if finished(group).empty]
    if not under_way:
        return "each at its chosen setting"
    if len(under_way) == len(runs):
        return "not finished, each at the setting that is furthest"
    return f"each at its chosen setting; not finished, at the one furthest: {', '.join(under_way)}"


def _over_seeds(numbers: Iterable[int]) -> str:
    """Say what lines and areas of a figure are, with so many seeds each."""
    counts = sorted(set(numbers))
    if counts[-1] == 1:
        return "one seed a system"
    several = f"{counts[0]} to {counts[-1]} seeds a system"
    return f"mean and range over {several if counts[0] < counts[-1] else f'{counts[0]} seeds'}"


def _with(stem: Path, kind: str) -> Path:
    return stem.with_name(f"{stem.name}-{kind}")


def _fractions(name: str, found: Outcomes, stem: Path) -> Iterator[Figure]:
    """Draw a score against the share of the training data."""
    if found.runs.fraction.nunique() < 2:
        return
    points, shown = curve_points(found)
    path = plot_curves(points, _with(stem, "fractions"), metric=shown.title)[-1]
    seeds = _over_seeds(Counter((p["system"], p["fraction"]) for p in points).values())
    caption = f"{shown.title}, against the share of the training data; {seeds}."
    yield Figure(f"{name}: shares of the training data", caption, path, True)


def _learning(name: str, records: pd.DataFrame, stem: Path, remarks: list[str]) -> Iterator[Figure]:
    """Draw the metric of validation, and the loss of training, against updates."""
    if records.empty:
        return
    runs, about = chosen(records), records.iloc[0]
    if about.metric:
        scale = scale_of(about.metric)
        curves = validation_curves(runs, about.metric, remarks, scale)
        if curves:
            label = about.metric if scale == 1 else f"{about.metric} in %"
            path = plot_learning(curves, _with(stem, "validation"), label=label)
            caption = f"{about.metric} on {about.validation} against updates; {_about(runs)}."
            yield Figure(f"{name}: validation", caption, path, True)
    curves = loss_curves(runs, remarks)
    if curves:
        path = plot_learning(curves, _with(stem, "loss"), label="training loss")
        caption = f"Loss on training batches against updates; {_about(runs)}."
        yield Figure(f"{name}: training loss", caption, path, True)


def _gates(name: str, dataset: str, records: pd.DataFrame, stem: Path) -> Iterator[Figure]:
    """Draw the mean gates of every layer."""
    runs = {system: one.runs for system, one in chosen_finished(records).items()}
    shares = gate_shares(runs, dataset)
    if shares:
        path = plot_gates(shares, _with(stem, "gates"))[-1]
        split = records.validation.iloc[0]
        caption = (
            f"Share of local attention in every layer, mean over tokens of {split}; {_about(runs)}."
        )
        yield Figure(f"{name}: gates per layer", caption, path, True)
