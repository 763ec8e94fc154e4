"""Significance of the difference between two systems.

Over seeds: Student's paired t-test over common seeds; Welch's t-test over all seeds. Without
deviation between seeds (except rounding) there is no test. Over examples: a paired bootstrap; over
seeds and examples: the multi-bootstrap.

`Significance` tests one difference of a table. `against` compares every system with a baseline and
requires two tests to agree, the paired t-test and the multi-bootstrap: with few seeds the
multi-bootstrap is misled by lucky seeds (of three, one in nine equal systems; RESULTS.md), and the
t-test by a lucky test set. The larger p-value decides, with Holm's correction over all rows of at
least `FEWEST` seeds. Without counts of examples the t-test decides alone.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from ...evaluation.choices import SENTENCE_METRICS
from ...evaluation.example_bootstrap import bootstrap
from ...evaluation.metrics import LOWER_IS_BETTER, deviation
from ...evaluation.seed_statistics import Noise, detectable, holm
from .choice import chosen_by_share, scale_of
from .counts import counts_of_run
from .frame import Shown
from .layouts import SIGNIFICANT
from .squad_answers import TUNED

SEEDS, EXAMPLES, EITHER = "seeds", "examples", "either"  # what a test is over
FEWEST = 3  # seeds for a distribution
FLOOR = 1.0  # points of a system that has learnt something
ROUNDING = 1e-12  # as a share of the largest score
LEAST = 1e-150  # smallest number with a representable square
_SAMPLES = 200  # per row, at least; with fewer hardly any p-value passes Holm's correction
_NO_COUNTS = "nothing tells examples of its runs"


class Difference(NamedTuple):
    """A difference between two systems and its tests; nan for unknown values."""

    n: int = 0  # number of common seeds
    difference: float = math.nan  # mean of system minus baseline, over the tested runs
    se: float = math.nan  # standard error of that mean
    # t_p, t_low, t_high: p-value and 95 % interval of the t-test
    t_p: float = math.nan
    t_low: float = math.nan
    t_high: float = math.nan
    untested: str = ""  # reason for no test
    # wins, losses: number of seeds with a higher or lower score, beyond rounding
    wins: int = 0
    losses: int = 0
    # low, high, bootstrap_p, examples, samples, run_error, shared_error: see `Bootstrap`
    low: float = math.nan
    high: float = math.nan
    bootstrap_p: float = math.nan
    examples: float = math.nan
    samples: float = math.nan
    run_error: float = math.nan
    shared_error: float = math.nan
    p_value: float = math.nan  # two-sided, of the one test of a table
    over: str = ""  # what that test is over


COLUMNS = ["system", "title", *Difference._fields[:-2], "corrected_p", "detectable"]


def paired(baseline: pd.DataFrame, system: pd.DataFrame, shown: Shown) -> Difference:
    """Compare the runs of two settings over their common seeds, at least one."""
    runs = _shared(system, baseline)
    columns = [shown.values(one) for one in runs]
    differences, rounding = [one - other for one, other in zip(*columns)], _rounding(columns)
    wins, losses = (sum(sign * d > rounding for d in differences) for sign in (1, -1))
    untested = _why_untested([differences], rounding, "all differences equal")
    test = None if untested else stats.ttest_rel(*columns)
    low, high = test.confidence_interval(0.95) if test else (math.nan, math.nan)
    return Difference(
        len(differences),
        fmean(differences),
        deviation(differences) / math.sqrt(len(differences)),
        float(test.pvalue) if test else math.nan,
        float(low),
        float(high),
        untested,
        wins,
        losses,
    )


def welch(baseline: Sequence[float], system: Sequence[float]) -> Difference:
    """Compare scores over seeds by Welch's t-test; at least one per side."""
    difference, sides = fmean(system) - fmean(baseline), (baseline, system)
    if why := _why_untested(sides, _rounding(sides), "no deviation between seeds"):
        told = f"untested: {why}" if min(map(len, sides)) > 1 else ""  # one seed needs no remark
        return Difference(difference=difference, over=SEEDS, untested=told)
    with warnings.catch_warnings():  # scipy warns of nearly equal values
        warnings.simplefilter("ignore", RuntimeWarning)
        p_value = float(stats.ttest_ind(system, baseline, equal_var=False).pvalue)
    return Difference(difference=difference, p_value=p_value, over=SEEDS)


def _shared(one: pd.DataFrame, other: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    seeds = {*one.seed} & {*other.seed}
    one, other = (side[side.seed.isin(seeds)].sort_values("seed") for side in (one, other))
    return one, other


def _rounding(columns: Sequence[Sequence[float]]) -> float:
    """Return the largest difference that rounding can cause."""
    return max(LEAST, ROUNDING * max(abs(value) for column in columns for value in column))


def _why_untested(samples: Sequence[Sequence[float]], rounding: float, alike: str) -> str:
    """Return why a t-test is impossible; empty if possible.

    Args:
        rounding: largest difference of equal values.
        alike: the reason to give if the values of each sample are equal.
    """
    if not all(math.isfinite(value) for sample in samples for value in sample):
        return "a score is no number"
    if min(map(len, samples)) < 2:
        return "one seed"
    return alike if all(max(sample) - min(sample) <= rounding for sample in samples) else ""


def why_not(baseline: pd.DataFrame, system: pd.DataFrame, shown: Shown) -> str:
    """Return why two systems allow no conclusion; empty if they do.

    Runs were cut short, or neither system has learnt anything: BLEU 0.01 against 0.00.
    """
    if marks := sorted({*baseline.trial, *system.trial} - {""}):
        return ", ".join(marks)
    points = (scale_of(shown.metric) * fmean(shown.values(one)) for one in (baseline, system))
    at_floor = shown.metric not in LOWER_IS_BETTER and max(map(abs, points)) < FLOOR
    return "at the floor" if at_floor else ""


@dataclass(frozen=True)
class Significance:
    """A significance test: two systems and a metric -> `Difference`."""

    # `SEEDS`, `EXAMPLES`, or `EITHER`: seeds if both sides have two, else examples
    over: str = SEEDS
    # samples, seed: of the bootstrap
    samples: int = 1000
    seed: int = 12345

    @property
    def name(self) -> str:
        drawn = f"{self.samples:,} samples"
        return {
            SEEDS: "two-sided Welch's t-test over seeds",
            EXAMPLES: f"paired bootstrap over examples ({drawn}, seed {self.seed})",
            EITHER: "Welch's t-test over seeds, or, where a side has one seed, paired bootstrap "
            f"over the split's sentences ({drawn}), two-sided.",
        }[self.over]

    def __call__(self, baseline: pd.DataFrame, system: pd.DataFrame, shown: Shown) -> Difference:
        """Test a difference, except for tuned thresholds and the cases of `why_not`."""
        if why := why_not(baseline, system, shown):
            return Difference(untested=f"untested: {why}")
        several = min(len(baseline), len(system)) > 1
        if self.over == SEEDS or (self.over == EITHER and several):
            return welch(shown.values(baseline), shown.values(system))
        if shown.metric.startswith(TUNED):  # no examples to compare
            return Difference()
        baseline, system = _shared(baseline, system)
        if baseline.empty:
            return Difference(untested="untested: no seed of both")
        found = self.resampled(baseline, system, shown)
        if why := found.get("untested"):
            return Difference(untested=f"untested: {why}")
        over = "sentences" if shown.metric in SENTENCE_METRICS else EXAMPLES
        return Difference(**found, p_value=found["bootstrap_p"], over=over)

    def resampled(
        self,
        baseline: pd.DataFrame,
        system: pd.DataFrame,
        shown: Shown,
        *,
        over_seeds: bool = False,
    ) -> dict[str, Any]:
        """Return the result of `bootstrap` on runs with the same seeds, or why it is impossible."""
        runs = ([run for _, run in side.iterrows()] for side in (baseline, system))
        sides: list[Any] = [[counts_of_run(run, shown) for run in side] for side in runs]
        if None in sides[0] + sides[1]:
            return {"bootstrap_p": math.nan}
        if len({one.examples for one in sides[0] + sides[1]}) > 1:
            return {"bootstrap_p": math.nan, "untested": "other examples"}
        drawn = {"samples": self.samples, "seed": self.seed, "over_seeds": over_seeds}
        found = dict(vars(bootstrap(*sides, **drawn)))
        return {"bootstrap_p": found.pop("p_value"), **found}


def against(found: pd.DataFrame, shown: Shown, baseline: str, test: Significance) -> pd.DataFrame:
    """Compare every system with a baseline with which it shares a seed, at every shared share.

    Each system has its chosen setting.

    Args:
        found: finished runs.
        shown: metric; if of the split that chose checkpoints, it also chooses the settings.
        baseline: one of the systems.
        test: samples and seed of the bootstrap; many rows use more samples.

    Returns:
        One row per system and share, with the columns `COLUMNS`: the setting's title; the fields of
            `Difference` (with one seed the bootstrap is over examples alone); the corrected p-value
            that decides; and the smallest difference detectable with 80 % power if its row were the
            surest.
    """
    chosen, sides = chosen_by_share(found, shown), []
    for (share, name), other in chosen.items():
        first = chosen.get((share, baseline))
        if first is not None and name != baseline and {*first.seed} & {*other.seed}:
            sides.append((first, other))
    test = replace(test, samples=max(test.samples, _SAMPLES * len(sides)))
    rows = [_row(first, other, shown, test) for first, other in sides]
    return _decided(pd.DataFrame(rows, columns=COLUMNS, dtype=object))


def _row(
    baseline: pd.DataFrame, system: pd.DataFrame, shown: Shown, test: Significance
) -> dict[str, Any]:
    """Return the row of one system in `against`, without the joint columns."""
    found, resampled = paired(baseline, system, shown)._asdict(), {}
    if why := why_not(baseline, system, shown):
        found |= {"untested": why, **dict.fromkeys(("t_p", "t_low", "t_high"), math.nan)}
    else:
        first, other = _shared(baseline, system)
        resampled = test.resampled(first, other, shown, over_seeds=found["n"] > 1)
    setting = system.setting.iloc[0]
    seen = {"difference": found["difference"]}  # equal to the bootstrap's except for rounding
    return {"system": setting.system, "title": setting.title, **found, **resampled, **seen}


def _decided(table: pd.DataFrame) -> pd.DataFrame:
    """Add the columns that depend on all rows; see `against`."""
    p_values = table.t_p.astype(float).where(table.n >= FEWEST)
    if (table.bootstrap_p.notna() & (table.n >= FEWEST)).any():  # else the t-test decides alone
        p_values = np.maximum(p_values, table.bootstrap_p.astype(float))  # nan if one is nan
    untested = table.n.map("{} seeds".format).where(table.n < FEWEST, _NO_COUNTS)
    silent = p_values.isna() & ~table.untested.astype(bool)
    table["untested"] = table.untested.mask(silent, untested)
    table["corrected_p"] = holm(p_values)
    seeds = table.se * table.n.map(math.sqrt)
    noise = map(Noise, seeds, *(table[name].fillna(0.0) for name in ("run_error", "shared_error")))
    level = SIGNIFICANT / max(1, p_values.notna().sum())  # Holm's level of the surest row
    table["detectable"] = [
        math.nan if math.isnan(p) else detectable(one, n, level=level)
        for p, one, n in zip(p_values, noise, table.n)
    ]
    return table


def interval(one: Any) -> tuple[float, float]:
    """Return the 95 % interval of a row of `against` over both tests; nan for none."""
    if math.isnan(one.bootstrap_p):
        return one.t_low, one.t_high
    return float(np.fmin(one.t_low, one.low)), float(np.fmax(one.t_high, one.high))
