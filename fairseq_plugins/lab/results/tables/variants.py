"""What tables of one dataset share: which metric is shown, which setting of a system stands for it,
what it gains over the baseline, and whether that is more than chance.

A difference is tested over seeds (Welch) where both systems have two, else over the examples or
sentences of the split that is shown (paired bootstrap).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from ....evaluation.metrics import LOWER_IS_BETTER
from ...plan.prepared_data import TRANSLATION
from ...report.model import Cell
from ...report.tables import DOWN, NONE, UP, p_text, scale_of, score_cell
from ..comparisons import SEEDS, Tested, over_examples, over_sentences, welch
from ..outcomes import Outcome, Outcomes
from ..seeds import Summary, chosen_settings, summarize
from .result_table import SIGNIFICANT
from .table_layouts import PLAIN

NO_FEATURES = "none"
_SENTENCES = ("bleu", "chrf")  # what a translation of the test set has


@dataclass(frozen=True)
class Shown:
    """A metric on a split.

    Args:
        metric: its name.
        split: whose.
        field: of an outcome, `best` or `evaluation`.
    """

    metric: str
    split: str
    field: str

    @property
    def scale(self) -> int:
        """By what it is multiplied to be shown."""
        return scale_of(self.metric)

    @property
    def title(self) -> str:
        """Its name in a column's head."""
        return f"{self.metric}, {self.split}"

    @property
    def caption(self) -> str:
        """What a reader has to know of it."""
        unit = "" if self.scale == 1 else " in %"
        return (
            f"{self.metric} on split {self.split!r}{unit}: mean ± standard deviation over seeds; "
            "each system at the setting that is best on the validation set."
        )

    def values(self, summary: Summary) -> list[float]:
        """Return the value of every seed."""
        return [getattr(run, self.field)[self.metric] for run in summary.outcomes]


class Pair(NamedTuple):
    """Runs of a system, those that they are compared with, and the paper's figure (or nan)."""

    summary: Summary
    baseline: Summary | None = None
    paper: float = math.nan


# Two systems' runs and what is shown -> a test of their difference.
Test = Callable[[Summary, Summary, Shown], Tested]


def shown(found: Outcomes) -> Shown:
    """Return what a table shows: of translation BLEU; the evaluation if all runs have it."""
    splits = {run.evaluated for run in found.runs}
    for metric in (*_SENTENCES[:1], found.metric):
        if len(splits) == 1 and all(metric in run.evaluation for run in found.runs):
            return Shown(metric, splits.pop(), "evaluation")
    return Shown(found.metric, found.validation, "best")


def label_of(found: Outcomes) -> str:
    """Return what a dataset is called; parallel text as its folder is."""
    return found.root.resolve().name if found.dataset == TRANSLATION else found.dataset


def chosen(found: Outcomes, share: float = 1.0) -> dict[str, Summary]:
    """Return the best setting of every system at a share of the training data."""
    runs = [run for run in found.runs if run.setting.fraction == share]
    return chosen_settings(summarize(runs, found.metric), found.metric)


def baseline_of(found: Outcomes) -> str:
    """Return the system that others are compared with."""
    names = list(dict.fromkeys(run.setting.system for run in found.runs))
    arches = {run.setting.system: run for run in found.runs}
    bare = [name for name in names if _is_bare(arches[name], found.dataset)]
    return bare[0] if bare else names[0]


def _is_bare(run: Outcome, dataset: str) -> bool:
    if dataset == TRANSLATION:
        return run.options.get("features") == NO_FEATURES
    return run.setting.system.startswith((PLAIN, "plain_"))


def score_of(summary: Summary, what: Shown, *details: str) -> Cell:
    """Show a metric over seeds."""
    return score_cell(what.values(summary), what.metric, *filter(None, details))


def difference(one: Summary, other: Summary, what: Shown) -> float:
    """Return by how much the second is higher, in the metric's own unit."""
    first, second = (statistics.fmean(what.values(summary)) for summary in (one, other))
    return second - first


def gain_cell(one: Summary | None, other: Summary | None, what: Shown, test: Test) -> Cell:
    """Show what the second gains over the first, with an arrow where it is more than chance."""
    if one is None or other is None:
        return Cell(NONE)
    gain, tested = what.scale * difference(one, other, what), test(one, other, what)
    below = tested.remark
    if not math.isnan(tested.p_value):
        below = f"{p_text(tested.p_value)} over {tested.drawn}"
        part = f"{what.scale * tested.difference:+.2f}"
        below += f" of one seed ({part})" if _is_part(one, other, tested) else ""
    return Cell(f"{gain:+.2f}", below, gain, mark_of(tested, what.metric))


def _is_part(one: Summary, other: Summary, tested: Tested) -> bool:
    """Tell whether a test is of fewer runs than both have."""
    return tested.drawn != SEEDS and max(one.count, other.count) > 1


def mark_of(tested: Tested, metric: str) -> str:
    """Return an arrow where what was tested is significant: up for what is better."""
    if not tested.p_value < SIGNIFICANT or not tested.difference:
        return ""
    return UP if (tested.difference > 0) != (metric in LOWER_IS_BETTER) else DOWN


def gain_note(test: Test) -> str:
    """Say what the arrows mean."""
    how = test.__doc__ or ""
    return f"{UP} better, {DOWN} worse with p < {SIGNIFICANT}: {how}"


def seeds_or_examples(samples: int = 1000, seed: int = 12345) -> Test:
    """Return the test over seeds where there are two a side, else over examples.

    Args:
        samples, seed: of the bootstrap.
    """

    known: dict[tuple, Tested] = {}

    def test(one: Summary, other: Summary, what: Shown) -> Tested:
        key = (*(run.folder for side in (one, other) for run in side.outcomes), what)
        if key not in known:
            known[key] = find(one, other, what)
        return known[key]

    def find(one: Summary, other: Summary, what: Shown) -> Tested:
        if min(one.count, other.count) > 1:
            return welch(what.values(one), what.values(other))
        return _over_examples(*_same_seeds(one, other), what, samples, seed)

    test.__doc__ = (
        "Welch's t-test over seeds, or, where a side has one seed, paired bootstrap over the "
        f"split's sentences ({samples:,} samples), two-sided."
    )
    return test


def _over_examples(one: Summary, other: Summary, what: Shown, samples: int, seed: int) -> Tested:
    """Resample the examples of the split that is shown, of runs with the same seed."""
    if not one.outcomes:
        return Tested(remark="untested: no seed of both")
    drawn = {"samples": samples, "seed": seed}
    if what.metric in _SENTENCES:
        return over_sentences(one.outcomes[0], other.outcomes[0], what.metric, **drawn)
    files = {"best": "predictions", "evaluation": "evaluation_predictions"}
    predictions = attrgetter(files[what.field])
    found = over_examples(one, other, what.metric, predictions=predictions, **drawn)
    return Tested(found.p_value, found.difference, "examples") if found else Tested()


def _same_seeds(one: Summary, other: Summary) -> Sequence[Summary]:
    """Return both with the seeds they share."""
    shared = one.values.keys() & other.values.keys()
    return [
        replace(
            side,
            values={seed: side.values[seed] for seed in shared},
            outcomes=[run for run in side.outcomes if run.seed in shared],
        )
        for side in (one, other)
    ]
