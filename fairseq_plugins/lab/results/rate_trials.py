"""What came of trying learning rates: the best of them, and how that is reported.

A rate at which training breaks down is an answer as well.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ...evaluation.metrics import LOWER_IS_BETTER
from . import tables
from .tables import NONE, Heading, ResultTable, TableCell, format_table

LOSS = "loss"


@dataclass(frozen=True)
class RateTrial:
    """What came of a rate.

    Args:
        system: its name.
        rate: peak of the schedule.
        metric: name of the metric that chooses.
        score: it at the best validation; nan if training broke down.
        loss: of that validation.
        last: the metric at the last validation.
        updates: of the best validation.
        problem: why there is no score; empty if there is.
    """

    system: str
    rate: float
    metric: str
    score: float = math.nan
    loss: float = math.nan
    last: float = math.nan
    updates: int = 0
    problem: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether there is a score of a model that still computes."""
        return not self.problem and math.isfinite(self.score) and math.isfinite(self.loss)

    @property
    def merit(self) -> tuple[bool, float, float, float]:
        """What is best is highest: score, then loss, then the lower rate."""
        sign = -1 if self.metric in LOWER_IS_BETTER else 1
        if not self.is_whole:
            return False, 0.0, 0.0, -self.rate
        return True, sign * self.score, -self.loss, -self.rate


def best_trial(trials: Sequence[RateTrial]) -> RateTrial | None:
    """Return the best trial; None where all training broke down."""
    whole = (trial for trial in trials if trial.is_whole)
    return max(whole, key=lambda trial: trial.merit, default=None)


def systems_of(trials: Sequence[RateTrial]) -> dict[str, list[RateTrial]]:
    """Return system -> its trials."""
    names = dict.fromkeys(trial.system for trial in trials)
    return {name: [trial for trial in trials if trial.system == name] for name in names}


def format_trial(trial: RateTrial) -> str:
    """Return a line of the running report."""
    if not trial.is_whole:
        return f"{trial.system:<28} {trial.rate:<9.3g} {trial.problem or 'diverged'}"
    loss = "" if trial.metric == LOSS else f"   {LOSS} {trial.loss:8.4f}"
    return (
        f"{trial.system:<28} {trial.rate:<9.3g} {trial.metric} {trial.score:8.4f}{loss}"
        f"   last {trial.last:8.4f}"
    )


def format_summary(trials: Sequence[RateTrial], examples: int) -> str:
    """Return all trials, best first, in Markdown, with what they say.

    Args:
        trials: of all systems and rates.
        examples: number of training examples.
    """
    summaries = (_table(system, group, examples) for system, group in systems_of(trials).items())
    return "\n".join(map(format_table, summaries))


def _table(system: str, trials: Sequence[RateTrial], examples: int) -> ResultTable:
    """Lay the trials of a system out."""
    metric, rows = trials[0].metric, []
    for trial in sorted(trials, key=lambda trial: trial.merit, reverse=True):
        values = (trial.score, *[trial.loss] * (metric != LOSS), trial.last)
        texts = [f"{value:.4f}" for value in values]
        if not trial.is_whole:
            texts = [trial.problem or "diverged", *[NONE] * (len(texts) - 1)]
        rows.append(list(map(TableCell, [f"{trial.rate:g}", *texts])))
    heads = ("learning rate", metric, *[LOSS] * (metric != LOSS), f"{metric} at the end")
    headings = list(map(Heading, heads))
    title = f"{system}: {examples:,} training examples, best rate first"
    return ResultTable(title, headings, rows, verdict(trials))


def verdict(trials: Sequence[RateTrial]) -> str:
    """Say which rate of a system is best, and whether a better one may lie beyond those tried."""
    best, rates = best_trial(trials), [trial.rate for trial in trials]
    if best is None:
        return "No rate gave a model that still computes: try lower ones."
    text = f"Best learning rate: {best.rate:g}."
    if len(rates) > 1 and best.rate in (min(rates), max(rates)):
        end = "lowest" if best.rate == min(rates) else "highest"
        text += f" It is the {end} that was tried: a better one may lie beyond."
    return text


def to_csv(trials: Sequence[RateTrial]) -> str:
    """Return one line a trial; empty where there is no value."""
    return tables.to_csv(list(map(asdict, trials)))


def to_json(trials: Sequence[RateTrial], examples: int) -> str:
    """Return trials and the best rate of each system as JSON; null where there is no value."""
    rows = [
        {name: None if value != value else value for name, value in asdict(trial).items()}  # nan
        for trial in trials
    ]
    best = {system: best_trial(group) for system, group in systems_of(trials).items()}
    rates = {system: trial and trial.rate for system, trial in best.items()}
    return json.dumps({"examples": examples, "best": rates, "trials": rows}, indent=2) + "\n"
