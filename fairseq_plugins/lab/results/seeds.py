"""Runs -> mean and deviation over seeds, and the best setting of each system.

The setting of a system is chosen on the validation set, by its mean over seeds.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from ...evaluation.choices import SENTENCE_METRICS
from ...evaluation.metrics import LOWER_IS_BETTER, deviation
from ..plan.prepare_options import TRANSLATION
from ..rows import Setting
from .layouts import PLAIN
from .run_frame import BEST, EVALUATION, LAST, found_scores, rows_where, scores_of
from .runs import Outcomes

NO_FEATURES = "none"
_IN_POINTS = ("loss", "mse", "ppl", "bleu", "chrf", "ter")  # all else is shown times 100


class Shown(NamedTuple):
    """A metric on a split: that of the best validation, or of the evaluation (`where`)."""

    metric: str
    split: str
    where: str = BEST

    @property
    def title(self) -> str:
        """Its name in a column's head."""
        return f"{self.metric}, {self.split}"

    def chosen_by(self, found: Outcomes) -> str:
        """Return the metric that chooses settings, on the split that chose checkpoints."""
        return self.metric if self.where == BEST else found.metric

    def values(self, summary: Summary) -> list[float]:
        """Return the value of every seed.

        Raises:
            ValueError: a run lacks it.
        """
        return scores_of(summary.runs, self.where, self.metric)


@dataclass(frozen=True)
class Summary:
    """One setting over its seeds.

    Args:
        setting: of all its runs.
        metric: what its values are.
        values: seed -> the metric at the best validation, or what is shown (`showing`).
        runs: the frame of its runs.
    """

    setting: Setting
    metric: str
    values: dict[int, float]
    runs: pd.DataFrame

    @property
    def count(self) -> int:
        """Number of seeds."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return statistics.fmean(self.values.values())

    @property
    def deviation(self) -> float:
        """Standard deviation of the sample; 0.0 of a single seed."""
        return deviation(list(self.values.values())) if self.count > 1 else 0.0

    @property
    def last(self) -> float:
        """Mean of the metric at the last validation."""
        return statistics.fmean(scores_of(self.runs, LAST, self.metric))

    def showing(self, shown: Shown) -> Summary:
        """Return the same with what is shown of its runs as values."""
        values = dict(zip(self.runs.seed, shown.values(self)))
        return Summary(self.setting, shown.metric, values, self.runs)

    @property
    def extreme(self) -> float:
        """The best seed's value, of those that are numbers; nan if none is."""
        values = filter(math.isfinite, self.values.values())
        return best_of(self.metric)(values, default=math.nan)

    def at(self, seeds: Iterable[int]) -> Summary:
        """Return the same with some of its seeds."""
        values = {seed: self.values[seed] for seed in seeds}
        runs = self.runs[self.runs.seed.isin(values)]
        return Summary(self.setting, self.metric, values, runs)


def scale_of(metric: str) -> int:
    """Return by what a metric is multiplied to be shown."""
    return 1 if metric.rpartition("_")[2] in _IN_POINTS else 100


def best_of(metric: str):
    """Return `min` or `max`, whichever finds the best value of a metric."""
    return min if metric in LOWER_IS_BETTER else max


def by_setting(runs: pd.DataFrame) -> dict[Setting, pd.DataFrame]:
    """Group runs by all but their seed, in order of appearance."""
    return dict(iter(runs.groupby("setting", sort=False)))


def summarize(runs: pd.DataFrame, metric: str) -> list[Summary]:
    """Put the seeds of each setting together, in the order of the runs.

    Raises:
        ValueError: a run lacks the metric; names those it has.
    """
    scores_of(runs, BEST, metric)
    return [
        Summary(setting, metric, dict(zip(group.seed, scores_of(group, BEST, metric))), group)
        for setting, group in by_setting(runs).items()
    ]


def chosen_settings(runs: pd.DataFrame, metric: str) -> dict[str, Summary]:
    """Return for each system the setting with the best mean.

    Settings with fewer seeds than others of their system are passed over: a mean of one lucky seed
    must not win. So are those with a smaller share of the data than others: it is no choice; and
    those whose mean is no number, where there are others. Of equal means the first by its values
    wins, in whatever order runs are read.

    Raises:
        ValueError: see `summarize`.
    """
    chosen: dict[str, Summary] = {}
    summaries = sorted(summarize(runs, metric), key=lambda one: one.setting.order)
    for system in dict.fromkeys(runs.system):
        group = [one for one in summaries if one.setting.system == system]
        most = max((one.setting.fraction, one.count) for one in group)
        whole = [one for one in group if (one.setting.fraction, one.count) == most]
        finite = [one for one in whole if math.isfinite(one.mean)]
        chosen[system] = best_of(metric)(finite or whole, key=lambda one: one.mean)
    return chosen


def chosen_by_share(found: Outcomes, shown: Shown) -> dict[float, dict[str, Summary]]:
    """Return share of the training data -> `chosen_settings` of the runs on it.

    Raises:
        ValueError: a run lacks a metric.
    """
    shares = found.runs.groupby("fraction")
    return {share: chosen_settings(runs, shown.chosen_by(found)) for share, runs in shares}


def seed_scores(found: Outcomes, shown: Shown, baseline: str) -> dict[str, list[float]]:
    """Return title of a system's chosen setting -> what is shown of each seed, for every share.

    Args:
        found: finished runs.
        shown: what is shown.
        baseline: the system that comes first of each share; the others as they were read.

    Raises:
        ValueError: a run lacks a metric.
    """
    scores, order = {}, [baseline, *found.runs.sort_index().system]
    for chosen in chosen_by_share(found, shown).values():
        for name in sorted(chosen, key=order.index):
            scores[chosen[name].setting.title] = shown.values(chosen[name])
    return scores


def shown_of(found: Outcomes, metric: str = "") -> Shown:
    """Return what is shown of runs: the evaluation if all have it, or the split that chose.

    Args:
        found: finished runs.
        metric: to show; empty for BLEU of translation, and else for the one that chose.
    """
    splits = set(found.runs.evaluated)
    for name in [metric] if metric else (*SENTENCE_METRICS[:1], found.metric):
        if len(splits) == 1 and None not in found_scores(found.runs, EVALUATION, name):
            return Shown(name, splits.pop(), EVALUATION)
    return Shown(metric or found.metric, found.validation)


def plain_of(found: Outcomes) -> str:
    """Return a system without features, or a plain BERT, with which others are compared; or "".

    Of texts it is named after a plain BERT, or ``plain``, or is the only one of that architecture.
    """
    last = {run.system: run for run in found.runs.sort_index().itertuples()}
    if found.dataset == TRANSLATION:
        bare = [name for name, run in last.items() if run.options.get("features") == NO_FEATURES]
    else:
        bare = [
            name for start in (PLAIN, "plain_") for name in last if f"{name}_".startswith(start)
        ]
        alone = [name for name, run in last.items() if run.arch.startswith(PLAIN)]
        bare = bare or (alone if len(alone) == 1 else [])
    return next(iter(bare), "")


def baseline_of(found: Outcomes) -> str:
    """Return the system that comes first: a plain one (`plain_of`), or the first that was read."""
    return plain_of(found) or found.runs.sort_index().system.iloc[0]


def finished(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs that are done, with what chooses among them."""
    return rows_where(runs, runs.done)


def chosen_finished(runs: pd.DataFrame) -> dict[str, Summary]:
    """Return the chosen setting of every system, of those runs that are finished."""
    runs = finished(runs)
    runs = runs[runs.metric == runs.metric.iloc[0]] if len(runs) else runs
    return chosen_settings(runs, runs.metric.iloc[0]) if len(runs) else {}
