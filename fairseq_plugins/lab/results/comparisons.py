"""Is a difference between two systems more than chance?

Over seeds: Student's paired t-test over the seeds that both have; Welch's t-test over whatever
seeds each has. Both weigh a difference against the deviation of seeds: where there is none, but for
rounding, there is no test. Over examples, or the sentences of translations: a paired bootstrap;
over seeds and examples at once: the multi-bootstrap. What several
comparisons tell together is in `against`.
"""

import json
import math
import statistics
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from scipy import stats

from ...evaluation.choices import SENTENCE_METRICS
from ...evaluation.example_bootstrap import Bootstrap, bootstrap_counts
from ...evaluation.generate_log import load
from ...evaluation.metrics import LOWER_IS_BETTER, deviation
from ...evaluation.significance import paired_bootstrap
from ...evaluation.translation import TextForm
from ..safe_files import is_file, read_text
from .choice import scale_of
from .frame import Shown
from .run_counts import counts_of_run, is_own, reference_of
from .split_files import GENERATED, SCORE, of_split
from .squad_answers import TUNED

SEEDS, EXAMPLES, EITHER = "seeds", "examples", "either"  # what a test is over
ROUNDING = 1e-12  # as a share of the greatest score
FLOOR = 1.0  # points that a system has that has learnt something
LEAST = 1e-150  # whose square is still a number


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


class PairedSeeds(NamedTuple):
    """A comparison over the seeds that both systems have.

    Args:
        n: how many.
        difference: mean of system minus baseline.
        se: standard error of that mean.
        t_p: of the paired t-test, two-sided; nan where there is none.
        t_low, t_high: the 95 % interval of that mean by the same test; nan where there is none.
        untested: why there is no t-test.
        wins, losses: seeds at which the system is higher, or lower, by more than rounding.
    """

    n: int
    difference: float
    se: float
    t_p: float
    t_low: float
    t_high: float
    untested: str
    wins: int
    losses: int


FEWEST = 3  # seeds that have a distribution


def of_seeds(runs: pd.DataFrame, shown: Shown) -> dict[int, float]:
    """Return seed -> what is shown of its run."""
    return dict(zip(runs.seed, shown.values(runs)))


def compare(baseline: pd.DataFrame, system: pd.DataFrame, shown: Shown) -> PairedSeeds:
    """Compare the runs of two settings over the seeds they share.

    Raises:
        ValueError: they share none.
    """
    sides = [of_seeds(runs, shown) for runs in (system, baseline)]
    seeds = sorted(sides[0].keys() & sides[1].keys())
    if not seeds:
        names = [runs.system.iloc[0] for runs in (system, baseline)]
        raise ValueError(f"{' and '.join(names)} share no seed")
    columns = [[side[seed] for seed in seeds] for side in sides]
    differences, rounding = [one - other for one, other in zip(*columns)], _rounding(columns)
    wins, losses = (sum(sign * d > rounding for d in differences) for sign in (1, -1))
    remark = _why_untested([differences], rounding, "all differences equal")
    spread = deviation(differences)
    test = None if remark else stats.ttest_rel(*columns)
    low, high = test.confidence_interval(0.95) if test else (math.nan, math.nan)
    return PairedSeeds(
        n=len(seeds),
        difference=statistics.fmean(differences),
        se=spread / math.sqrt(len(seeds)),
        t_p=float(test.pvalue) if test else math.nan,
        t_low=float(low),
        t_high=float(high),
        untested=remark,
        wins=wins,
        losses=losses,
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


@dataclass(frozen=True)
class Significance:
    """How differences are tested: two systems and what is shown of them -> `Tested`.

    Args:
        over: `SEEDS`, `EXAMPLES`, or `EITHER`: seeds where both sides have two, else examples.
        samples, seed: of the bootstrap.
    """

    over: str = SEEDS
    samples: int = 1000
    seed: int = 12345

    @property
    def name(self) -> str:
        """What the test is called."""
        drawn = f"{self.samples:,} samples"
        return {
            SEEDS: "two-sided Welch's t-test over seeds",
            EXAMPLES: f"paired bootstrap over examples ({drawn}, seed {self.seed})",
            EITHER: "Welch's t-test over seeds, or, where a side has one seed, paired bootstrap "
            f"over the split's sentences ({drawn}), two-sided.",
        }[self.over]

    def __call__(self, baseline: pd.DataFrame, system: pd.DataFrame, shown: Shown) -> Tested:
        """Test a difference; none of a threshold tuned for each system, or see `why_not`."""
        if why := why_not(baseline, system, shown):
            return Tested(remark=f"untested: {why}")
        several = min(len(baseline), len(system)) > 1
        if self.over == SEEDS or (self.over == EITHER and several):
            return welch(shown.values(baseline), shown.values(system))
        if shown.metric.startswith(TUNED):  # no examples to compare
            return Tested()
        shared = {*baseline.seed} & {*system.seed}
        if not shared:
            return Tested(remark="untested: no seed of both")
        if shown.metric in SENTENCE_METRICS and len(shared) == 1:
            first, other = (one[one.seed.isin(shared)].iloc[0] for one in (baseline, system))
            return over_sentences(first, other, shown.metric, self)
        found = over_examples(baseline, system, shown, self)
        return Tested(found.p_value, found.difference, EXAMPLES) if found else Tested()


def why_not(baseline: pd.DataFrame, system: pd.DataFrame, shown: Shown) -> str:
    """Say why nothing can be concluded from two systems; empty if something can.

    Runs were cut short, or neither system has learnt anything: BLEU 0.01 against 0.00.
    """
    sides = (baseline, system)
    if marks := sorted({mark for side in sides for mark in side.trial if mark}):
        return ", ".join(marks)
    at_floor = max(abs(statistics.fmean(shown.values(side))) for side in sides) < FLOOR / scale_of(
        shown.metric
    )
    return "at the floor" if at_floor and shown.metric not in LOWER_IS_BETTER else ""


def over_examples(
    baseline: pd.DataFrame,
    system: pd.DataFrame,
    shown: Shown,
    drawn: Significance,
    *,
    over_seeds: bool = False,
) -> Bootstrap | None:
    """Resample examples with the seeds that both have; None if nothing tells them of a run.

    Args:
        baseline, system, shown: what is compared.
        drawn: samples and seed.
        over_seeds: whether seeds are resampled as well.
    """
    shared = {*baseline.seed} & {*system.seed}
    runs = [one[one.seed.isin(shared)].sort_values("seed") for one in (baseline, system)]
    sides: list[Any] = [[counts_of_run(run, shown) for _, run in side.iterrows()] for side in runs]
    if not shared or None in sides[0] + sides[1]:
        return None
    return bootstrap_counts(*sides, samples=drawn.samples, seed=drawn.seed, over_seeds=over_seeds)


def over_sentences(
    baseline: pd.Series, system: pd.Series, metric: str, drawn: Significance
) -> Tested:
    """Resample the sentences that two runs translated, if both are there with one reference.

    Args:
        baseline, system: runs of translation, with their logs and scores.
        metric: of `SENTENCE_METRICS`.
        drawn: samples and seed of the bootstrap.

    Raises:
        ValueError: translations of other sentences.
    """
    logs, abouts = (
        [run.folder / of_split(name, run.evaluated) for run in (baseline, system)]
        for name in (GENERATED, SCORE)
    )
    if not all(is_file(path) for path in (*logs, *abouts)):
        return Tested()
    scores = [json.loads(read_text(path)) for path in abouts]
    names, language = [score["reference"] for score in scores], scores[1]["language"]
    if remark := _why_not(names):
        return Tested(remark=remark)
    inputs = load(logs, reference_of(scores[1]), TextForm(language))
    own = {"lang": language, "samples": drawn.samples, "seed": drawn.seed, "names": (metric,)}
    (one,) = paired_bootstrap(inputs.systems, inputs.reference, **own)
    return Tested(one.p_value, one.difference, "sentences")


def _why_not(references: Sequence[str]) -> str:
    """Say why runs with these references cannot be compared over sentences; empty if they can."""
    own = [is_own(name) for name in references]
    if any(own):
        return "" if all(own) else "untested: unlike references"
    first, *others = paths = list(map(Path, references))
    for path in paths:
        if not path.is_file():
            return f"untested: the reference {path.name} is missing"
    same = all(first.samefile(path) or first.read_bytes() == path.read_bytes() for path in others)
    return "" if same else "untested: unlike references"
