"""Results of runs -> mean and deviation over seeds, and the best setting of each system.

A setting is a system with a learning rate, a length, a choice of its open options and a share of
the training data. The setting of a system is chosen on the validation set, by its mean over seeds.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ...evaluation.metrics import LOWER_IS_BETTER, deviation
from ...messages import named
from .outcomes import Outcome, Setting


@dataclass(frozen=True)
class Summary:
    """One setting over its seeds.

    Args:
        setting: of all its runs.
        values: seed -> the metric at the best validation.
        last: mean of the metric at the last validation.
        outcomes: the runs, by seed.
    """

    setting: Setting
    values: dict[int, float]
    last: float
    outcomes: list[Outcome]

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

    def extreme(self, metric: str) -> float:
        """Return the best seed's value, of those that are numbers; nan if none is."""
        values = filter(math.isfinite, self.values.values())
        return (min if metric in LOWER_IS_BETTER else max)(values, default=math.nan)


def summarize(outcomes: Sequence[Outcome], metric: str) -> list[Summary]:
    """Put the seeds of each setting together, in the order of the runs.

    Raises:
        ValueError: a run lacks the metric; names those it has.
    """
    groups: dict[Setting, list[Outcome]] = defaultdict(list)
    for run in outcomes:
        if metric not in run.best:
            raise ValueError(
                f"{run.folder}: no metric {metric!r}; choices: {named(sorted(run.best))}"
            )
        groups[run.setting].append(run)
    return [
        Summary(
            setting,
            {run.seed: run.best[metric] for run in group},
            statistics.fmean(run.last[metric] for run in group),
            group,
        )
        for setting, group in groups.items()
    ]


def chosen_settings(summaries: Sequence[Summary], metric: str) -> dict[str, Summary]:
    """Return for each system the setting with the best mean.

    Settings with fewer seeds than others of their system are passed over: a mean of one lucky seed
    must not win. So are those with a smaller share of the data than others: it is no choice; and
    those whose mean is no number, where there are others.
    """
    systems: dict[str, list[Summary]] = defaultdict(list)
    for summary in summaries:
        systems[summary.setting.system].append(summary)
    choose = min if metric in LOWER_IS_BETTER else max
    chosen = {}
    for system, group in systems.items():
        share = max(summary.setting.fraction for summary in group)
        group = [summary for summary in group if summary.setting.fraction == share]
        most = max(summary.count for summary in group)
        whole = [summary for summary in group if summary.count == most]
        finite = [summary for summary in whole if math.isfinite(summary.mean)]
        chosen[system] = choose(finite or whole, key=lambda summary: summary.mean)
    return chosen
