"""The shown setting of each system: the best mean over seeds on the validation set."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import pandas as pd

from ...evaluation.choices import SENTENCE_METRICS
from ...evaluation.metrics import LOWER_IS_BETTER
from ..plan.prepare import TRANSLATION
from .frame import Shown
from .layouts import PLAIN

NO_FEATURES = "none"
_IN_POINTS = ("loss", "mse", "ppl", "bleu", "chrf", "ter")  # other metrics are shown times 100


def scale_of(metric: str) -> int:
    """Return the factor by which a metric is multiplied to be shown."""
    return 1 if metric.rpartition("_")[2] in _IN_POINTS else 100


def best_of(metric: str):
    return min if metric in LOWER_IS_BETTER else max


def chosen_at(runs: pd.DataFrame, by: Iterable[Any], metric: str = "") -> dict[Any, pd.DataFrame]:
    """Return place -> the runs of the setting with the best mean on the validation set.

    A setting with fewer seeds, or a smaller share of the data, than others of its place is skipped:
    one lucky seed must not win. A NaN mean wins only if there is no other. Of equal means the
    setting that sorts first wins.

    Args:
        by: the place of each run, such as its system.
        metric: chooses; empty for the metric that chose the checkpoints.
    """
    if runs.empty:
        return {}
    first = runs.iloc[0]
    metric = metric or first.metric
    values, groups = Shown(metric, first.validation).values(runs), {}
    for number, (place, setting) in enumerate(zip(by, runs.setting)):
        groups.setdefault(place, {}).setdefault(setting, []).append(number)
    best = best_of(metric)
    return {place: runs.iloc[_best(best, own, values)] for place, own in groups.items()}


def _best(best: Any, settings: dict[Any, list[int]], values: Sequence[float]) -> list[int]:
    """Return the numbers of the runs of the best setting; see `chosen_at`."""
    most = max((one.fraction, len(numbers)) for one, numbers in settings.items())
    means = {
        one: fmean(values[number] for number in settings[one])
        for one in sorted(settings, key=lambda one: one.order)
        if (one.fraction, len(settings[one])) == most
    }
    finite = [one for one, mean in means.items() if math.isfinite(mean)]
    return settings[best(finite or means, key=means.__getitem__)]


def chosen_finished(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the chosen setting of every system, from finished runs only."""
    runs = alike(runs[runs.done.astype(bool)])
    return chosen_at(runs, runs.system)


def alike(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs whose checkpoints were chosen by the first run's metric and split."""
    for key in ("metric", "validation"):
        runs = runs[runs[key] == runs[key].iloc[0]] if len(runs) else runs
    return runs


def chosen_by_share(runs: pd.DataFrame, shown: Shown) -> dict[tuple[float, str], pd.DataFrame]:
    """Return share of the training data and system -> its runs at the chosen setting.

    The metric that is shown chooses the setting if it is of the split that chose checkpoints.
    """
    metric = shown.metric if shown.split == runs.validation.iloc[0] else ""
    chosen = chosen_at(runs, zip(runs.fraction, runs.system), metric)
    return dict(sorted(chosen.items(), key=lambda item: item[0][0]))


def seed_scores(runs: pd.DataFrame, shown: Shown, baseline: str) -> dict[str, list[float]]:
    """Return title of a system's chosen setting -> scores of its seeds, per share."""
    order, chosen = [baseline, *runs.sort_index().system], chosen_by_share(runs, shown)
    places = sorted(chosen, key=lambda place: (place[0], order.index(place[1])))
    sides = (chosen[place] for place in places)
    return {side.setting.iloc[0].title: shown.values(side) for side in sides}


def shown_of(runs: pd.DataFrame, metric: str = "") -> Shown:
    """Return the metric to show: on the evaluation split if all runs have it, else on validation.

    An empty ``metric`` stands for BLEU of translation, and else for the metric that chose the
    checkpoints.
    """
    first, splits = runs.iloc[0], set(runs.evaluated)
    for name in [metric] if metric else (*SENTENCE_METRICS[:1], first.metric):
        shown = Shown(name, first.evaluated)
        if len(splits) == 1 and None not in shown.found(runs):
            return shown
    return Shown(metric or first.metric, first.validation)


def plain_of(runs: pd.DataFrame) -> str:
    """Return the usual baseline: a system without features, or a plain BERT; empty for none.

    A plain BERT is named after the architecture or ``plain``, or is the only system of that
    architecture.
    """
    last = {run.system: run for run in runs.sort_index().itertuples()}
    if runs.dataset.iloc[0] == TRANSLATION:
        bare = [name for name, run in last.items() if run.options.get("features") == NO_FEATURES]
    else:
        starts = (PLAIN, "plain_")
        bare = [name for start in starts for name in last if f"{name}_".startswith(start)]
        alone = [name for name, run in last.items() if run.arch.startswith(PLAIN)]
        bare = bare or (alone if len(alone) == 1 else [])
    return next(iter(bare), "")


def baseline_of(runs: pd.DataFrame) -> str:
    """Return the baseline (`plain_of`), or the first system."""
    return plain_of(runs) or runs.sort_index().system.iloc[0]
