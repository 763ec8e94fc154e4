"""Learning rates tried on a part of the training data (Chadha and Sood 2019, sections 3.5-3.6).

Every rate is a run of a grid, so a search that was stopped goes on. A rate at which training breaks
down is an answer as well, and is remembered beside its log.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...evaluation.metrics import LOWER_IS_BETTER
from ...files import write_text
from ..run_files import LOG, RESULT
from ..safe_files import read_tail, read_text
from .cluster import this_machine
from .run import Run
from .runner import execute

BROKEN = "diverged.json"
_BREAKDOWN = re.compile(r"nan/inf|Nan/Inf|FloatingPointError|Minimum loss scale reached")
_TAIL = 20_000  # bytes of a log that tell why it ended


@dataclass(frozen=True)
class Trial:
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


def spaced(low: float, high: float, count: int) -> list[float]:
    """Return rates from ``low`` to ``high``, each the same multiple of the one before.

    Raises:
        ValueError: no such range.
    """
    if not 0 < low < high < math.inf or count < 2:
        raise ValueError(
            f"rates from {low:g} to {high:g} in {count}: expected 0 < low < high, and 2 or more"
        )
    step = math.log(high / low) / (count - 1)
    return [float(f"{low * math.exp(step * k):.3g}") for k in range(count)]


def search(
    runs: Sequence[Run],
    report: Callable[[Trial], None],
    *,
    jobs: int = 1,
    keep: bool = False,
) -> tuple[list[Trial], list[str]]:
    """Bring all runs to their end.

    Args:
        runs: one a rate and system.
        report: is told each trial, finished ones at once and others as they end.
        jobs: how many at a time.
        keep: whether to keep their checkpoints.

    Returns:
        The trials in the order of the runs; and messages of runs that failed for another reason
        than the rate, which are tried again by the next search.

    Raises:
        ValueError: fewer than one job, or a folder with a run of other settings.
    """
    trials: dict[Path, Trial] = {}
    failures: list[str] = []

    def done(run: Run, messages: Sequence[str] = ()) -> None:
        if messages and _broke_down(run.folder / LOG):
            _remember(run)
        else:
            failures.extend(messages)
        trial = read_trial(run)
        for path in run.folder.glob("*.pt") if trial and not keep else ():
            path.unlink()
        trials[run.folder] = trial or _trial(run, problem="failed")
        report(trials[run.folder])

    is_waiting = [not run.is_finished() and read_trial(run) is None for run in runs]
    for run, waits in zip(runs, is_waiting):
        if not waits:
            done(run)
    if any(is_waiting):
        machine = this_machine(runs[0].root / "jobs", jobs, cpu=runs[0].cpu)
        execute([run for run, waits in zip(runs, is_waiting) if waits], machine, done)
    return [trials[run.folder] for run in runs], failures


def _remember(run: Run) -> None:
    """Write down that training broke down, so that it is not tried again."""
    text = json.dumps({"settings": run.settings, "problem": "diverged"}, indent=2)
    write_text(run.folder / BROKEN, text + "\n")


def read_trial(run: Run) -> Trial | None:
    """Return what a finished run came to; None where it is still to be trained."""
    if (run.folder / RESULT).is_file():
        result = json.loads(read_text(run.folder / RESULT))
        best, last, metric = result["best"], result["last"], result["metric"]
        return _trial(
            run,
            score=float(best[metric]),
            loss=float(best.get("loss", math.nan)),
            last=float(last.get(metric, math.nan)),
            updates=int(result["best_updates"]),
        )
    path = run.folder / BROKEN
    if path.is_file():
        found = json.loads(read_text(path))
        if found["settings"] == run.settings:
            return _trial(run, problem=found["problem"])
    return None


def _trial(run: Run, **found: Any) -> Trial:
    return Trial(run.cell.system, run.cell.learning_rate, run.settings["metric"], **found)


def _broke_down(log: Path) -> bool:
    """Tell whether a training ended since its numbers were none any more."""
    return bool(_BREAKDOWN.search(read_tail(log, _TAIL)))


def best_trial(trials: Sequence[Trial]) -> Trial | None:
    """Return the best trial; None where all training broke down."""
    whole = [trial for trial in trials if trial.is_whole]
    return max(whole, key=lambda trial: trial.merit) if whole else None


def systems_of(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    """Return system -> its trials."""
    names = dict.fromkeys(trial.system for trial in trials)
    return {name: [trial for trial in trials if trial.system == name] for name in names}


def format_trial(trial: Trial) -> str:
    """Return a line of the running report."""
    if not trial.is_whole:
        return f"{trial.system:<28} {trial.rate:<9.3g} {trial.problem or 'diverged'}"
    return (
        f"{trial.system:<28} {trial.rate:<9.3g} {trial.metric} {trial.score:8.4f}"
        f"   loss {trial.loss:8.4f}   last {trial.last:8.4f}"
    )


def format_summary(trials: Sequence[Trial], examples: int) -> str:
    """Return all trials, best first, in Markdown, with what they say.

    Args:
        trials: of all systems and rates.
        examples: number of training examples.
    """
    return "\n".join(_summary(trials, examples)) + "\n"


def _summary(trials: Sequence[Trial], examples: int) -> Iterator[str]:
    for system, group in systems_of(trials).items():
        metric = group[0].metric
        yield f"**{system}**, {examples:,} training examples, best rate first"
        yield ""
        yield f"| learning rate | {metric} | loss | {metric} at the end |"
        yield "|---:|---:|---:|---:|"
        for trial in sorted(group, key=lambda trial: trial.merit, reverse=True):
            if trial.is_whole:
                values = (f"{value:.4f}" for value in (trial.score, trial.loss, trial.last))
                yield f"| {trial.rate:g} | {' | '.join(values)} |"
            else:
                yield f"| {trial.rate:g} | {trial.problem or 'diverged'} | – | – |"
        yield ""
        yield verdict(group)
        yield ""


def verdict(trials: Sequence[Trial]) -> str:
    """Say which rate of a system is best, and whether a better one may lie beyond those tried."""
    best, rates = best_trial(trials), [trial.rate for trial in trials]
    if best is None:
        return "No rate gave a model that still computes: try lower ones."
    text = f"Best learning rate: {best.rate:g}."
    if len(rates) > 1 and best.rate in (min(rates), max(rates)):
        end = "lowest" if best.rate == min(rates) else "highest"
        text += f" It is the {end} that was tried: a better one may lie beyond."
    return text


def to_csv(trials: Sequence[Trial]) -> str:
    """Return one line a trial; empty where there is no value."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = [*Trial.__dataclass_fields__]
    writer.writerow(names)
    for trial in trials:
        values = [getattr(trial, name) for name in names]
        writer.writerow(["" if _is_nan(value) else value for value in values])
    return stream.getvalue()


def to_json(trials: Sequence[Trial], examples: int) -> str:
    """Return trials and the best rate of each system as JSON; null where there is no value."""
    rows = [
        {name: None if _is_nan(value) else value for name, value in asdict(trial).items()}
        for trial in trials
    ]
    best = {system: best_trial(group) for system, group in systems_of(trials).items()}
    rates = {system: trial and trial.rate for system, trial in best.items()}
    return json.dumps({"examples": examples, "best": rates, "trials": rows}, indent=2) + "\n"


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
