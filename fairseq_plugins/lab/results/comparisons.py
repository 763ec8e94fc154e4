"""Is a difference between two systems more than chance?

Over seeds: Student's paired t-test and the sign test, which assumes nothing about the distribution,
over the seeds that both have; Welch's t-test over whatever seeds each has. Both t-tests weigh a
difference against the deviation of seeds: where there is none, but for rounding, there is no test.
Over examples, or the sentences of translations: a paired bootstrap.
"""

from __future__ import annotations

import json
import math
import statistics
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from scipy import stats

from ...evaluation.example_bootstrap import Bootstrap, bootstrap, read_answers
from ...evaluation.inputs import TextForm, load
from ...evaluation.metrics import deviation
from ...evaluation.significance import paired_bootstrap
from ..safe_files import is_file, read_text
from .outcomes import Outcome
from .seeds import Summary
from .split_files import GENERATED, SCORE, find

SEEDS = "seeds"  # what a test is over that takes all runs
ROUNDING = 1e-12  # as a share of the greatest score
LEAST = 1e-150  # whose square is still a number
_OWN = "T- lines of "  # how a score's reference begins that is the one of its own log


class Tested(NamedTuple):
    """A test of the difference between two systems.

    Args:
        p_value: two-sided; nan where there is none.
        difference: system minus baseline, over just those runs that were tested.
        drawn: what it is a test over.
        remark: why there is none.
    """

    p_value: float = math.nan
    difference: float = math.nan
    drawn: str = ""
    remark: str = ""


@dataclass(frozen=True)
class PairedSeeds:
    """A comparison over the seeds that both systems have.

    Args:
        seeds: how many.
        difference: mean of system minus baseline.
        standard_error: of that mean.
        t_p_value: of the paired t-test, two-sided; nan where there is none.
        wins, losses: seeds at which the system is higher, or lower, by more than rounding.
        sign_p_value: of the sign test, two-sided; nan where a score is no number.
        remark: why there is no t-test.
    """

    seeds: int
    difference: float
    standard_error: float
    t_p_value: float
    wins: int
    losses: int
    sign_p_value: float
    remark: str = ""


def compare(baseline: Summary, system: Summary) -> PairedSeeds:
    """Compare two settings over the seeds they share.

    Raises:
        ValueError: they share none.
    """
    seeds = sorted(baseline.values.keys() & system.values.keys())
    if not seeds:
        raise ValueError(f"{system.setting.system} and {baseline.setting.system} share no seed")
    columns = [[side.values[seed] for seed in seeds] for side in (system, baseline)]
    differences, rounding = [one - other for one, other in zip(*columns)], _rounding(columns)
    wins, losses = (sum(sign * d > rounding for d in differences) for sign in (1, -1))
    remark = _why_untested([differences], rounding, "all differences equal")
    signs = float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    return PairedSeeds(
        seeds=len(seeds),
        difference=statistics.fmean(differences),
        standard_error=deviation(differences) / math.sqrt(len(seeds)),
        t_p_value=math.nan if remark else float(stats.ttest_rel(*columns).pvalue),
        wins=wins,
        losses=losses,
        sign_p_value=signs if all(map(math.isfinite, differences)) else math.nan,
        remark=remark,
    )


def welch(baseline: Sequence[float], system: Sequence[float]) -> Tested:
    """Test scores over seeds by Welch's t-test; at least one a side."""
    difference = statistics.fmean(system) - statistics.fmean(baseline)
    sides = (baseline, system)
    remark = _why_untested(sides, _rounding(sides), "no deviation between seeds")
    if remark:  # that of a single seed goes without saying
        told = f"untested: {remark}" if min(map(len, sides)) > 1 else ""
        return Tested(difference=difference, drawn=SEEDS, remark=told)
    with warnings.catch_warnings():  # values that are nearly the same lose digits: it says so
        warnings.simplefilter("ignore", RuntimeWarning)
        p_value = float(stats.ttest_ind(system, baseline, equal_var=False).pvalue)
    return Tested(p_value, difference, SEEDS)


def _rounding(columns: Sequence[Sequence[float]]) -> float:
    """Return what rounding may have made of equal scores or differences."""
    return max(LEAST, ROUNDING * max(abs(value) for column in columns for value in column))


def _why_untested(samples: Sequence[Sequence[float]], rounding: float, alike: str) -> str:
    """Say why no t-test can tell samples from chance; empty if one can.

    Args:
        samples: what is tested, at least one value each.
        rounding: up to where values are the same.
        alike: what to say if each sample's values are.
    """
    if not all(math.isfinite(value) for sample in samples for value in sample):
        return "a score is no number"
    if min(map(len, samples)) < 2:
        return "one seed"
    return alike if all(max(sample) - min(sample) <= rounding for sample in samples) else ""


def over_examples(
    baseline: Summary,
    system: Summary,
    metric: str,
    *,
    samples: int,
    seed: int,
    predictions: Callable[[Outcome], Path] = lambda run: run.predictions,
) -> Bootstrap | None:
    """Resample examples with the seeds that both have; None if a run has no predictions.

    Args:
        baseline, system: their runs.
        metric: to compare.
        samples, seed: of the bootstrap.
        predictions: run -> file of its predictions.
    """
    shared = baseline.values.keys() & system.values.keys()
    sides = [
        [run for run in summary.outcomes if run.seed in shared] for summary in (baseline, system)
    ]
    runs = [run for side in sides for run in side]
    if not runs or not all(is_file(predictions(run)) for run in runs):
        return None
    answers = [[read_answers(predictions(run)) for run in side] for side in sides]
    positive = runs[0].positive
    return bootstrap(*answers, metric, positive=positive, samples=samples, seed=seed)


def over_sentences(
    baseline: Outcome, system: Outcome, metric: str, *, samples: int, seed: int
) -> Tested:
    """Resample the sentences that two runs translated, if both are there with one reference.

    Args:
        baseline, system: runs of translation, with their logs and scores.
        metric: ``bleu`` or ``chrf``.
        samples, seed: of the bootstrap.

    Raises:
        ValueError: translations of other sentences.
    """
    logs, abouts = (
        [find(run.folder, name, run.evaluated) for run in (baseline, system)]
        for name in (GENERATED, SCORE)
    )
    if not all(is_file(path) for path in (*logs, *abouts)):
        return Tested()
    scores = [json.loads(read_text(path)) for path in abouts]
    names, language = [score["reference"] for score in scores], scores[1]["language"]
    if remark := _why_not(names):
        return Tested(remark=remark)
    reference = None if names[1].startswith(_OWN) else names[1]
    inputs = load(logs, reference, TextForm(language))
    (one,) = paired_bootstrap(
        inputs.systems,
        inputs.reference,
        lang=language,
        samples=samples,
        seed=seed,
        names=(metric,),
    )
    return Tested(one.p_value, one.difference, "sentences")


def _why_not(references: Sequence[str]) -> str:
    """Say why runs with these references cannot be compared over sentences; empty if they can."""
    own = [name.startswith(_OWN) for name in references]
    if any(own):
        return "" if all(own) else "untested: unlike references"
    first, *others = paths = list(map(Path, references))
    for path in paths:
        if not path.is_file():
            return f"untested: the reference {path.name} is missing"
    same = all(first.samefile(path) or first.read_bytes() == path.read_bytes() for path in others)
    return "" if same else "untested: unlike references"
