"""The setting of each system that is shown, chosen on the validation set by its mean over seeds."""

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
_IN_POINTS = ("loss", "mse", "ppl", "bleu", "chrf", "ter")  # all else is shown times 100


def scale_of(metric: str) -> int:
    """Return by what a metric is multiplied to be shown."""
    return 1 if metric.rpartition("_")[2] in _IN_POINTS else 100


def best_of(metric: str):
    """Return `min` or `max`, whichever finds the best value of a metric."""
    return min if metric in LOWER_IS_BETTER else max


def chosen_at(runs: pd.DataFrame, by: Iterable[Any], metric: str = "") -> dict[Any, pd.DataFrame]:
    """Return place -> the runs of the setting with the best mean on the validation set.

    Settings with fewer seeds than others of their place are passed over: a mean of one lucky seed
    must not win. So are those with a smaller share of the data than others: it is no choice; and
    those whose mean is no number, where there are others. Of equal means the first by its values
    wins, in whatever order runs are read.

    Args:
        runs: finished ones of one part.
        by: the place of each: a system, a share and a system, or anything else.
        metric: that chooses; empty for the one that chose the checkpoints.
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
    """Return the chosen setting of every system, of those runs that are finished."""
    runs = alike(runs[runs.done.astype(bool)])
    return chosen_at(runs, runs.system)


def alike(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs whose checkpoints the same metric and split chose as the first one's."""
    for key in ("metric", "validation"):
        runs = runs[runs[key] == runs[key].iloc[0]] if len(runs) else runs
    return runs


def chosen_by_share(runs: pd.DataFrame, shown: Shown) -> dict[tuple[float, str], pd.DataFrame]:
    """Return share of the training data and system -> its runs at the chosen setting.

    What is shown of the split that chose checkpoints chooses settings as well.
    """
    metric = shown.metric if shown.split == runs.validation.iloc[0] else ""
    chosen = chosen_at(runs, zip(runs.fraction, runs.system), metric)
    return dict(sorted(chosen.items(), key=lambda item: item[0][0]))


def seed_scores(runs: pd.DataFrame, shown: Shown, baseline: str) -> dict[str, list[float]]:
    """Return title of a system's chosen setting -> what is shown of each seed, for every share.

    Args:
        runs: finished ones.
        shown: what is shown.
        baseline: the system that comes first of each share; the others as they were read.
    """
    order, chosen = [baseline, *runs.sort_index().system], chosen_by_share(runs, shown)
    places = sorted(chosen, key=lambda place: (place[0], order.index(place[1])))
    sides = (chosen[place] for place in places)
    return {side.setting.iloc[0].title: shown.values(side) for side in sides}


def shown_of(runs: pd.DataFrame, metric: str = "") -> Shown:
    """Return what is shown of runs: the evaluation if all have it, or the split that chose.

    Args:
        runs: finished ones.
        metric: to show; empty for BLEU of translation, and else for the one that chose.
    """
    first, splits = runs.iloc[0], set(runs.evaluated)
    for name in [metric] if metric else (*SENTENCE_METRICS[:1], first.metric):
        shown = Shown(name, first.evaluated)
        if len(splits) == 1 and None not in shown.found(runs):
            return shown
    return Shown(metric or first.metric, first.validation)


def plain_of(runs: pd.DataFrame) -> str:
    """Return a system without features, or a plain BERT, with which others are compared; or "".

    Of texts it is named after a plain BERT, or ``plain``, or is the only one of that architecture.
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
    """Return the system that comes first: a plain one (`plain_of`), or the first that was read."""
    return plain_of(runs) or runs.sort_index().system.iloc[0]
