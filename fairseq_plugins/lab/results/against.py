"""Every system against one of them: what was seen, what it says, what would have been seen.

A difference counts if two tests agree: the paired t-test over seeds and the multi-bootstrap over
seeds and examples. With few seeds the multi-bootstrap alone takes their luck for a difference
(of three, one in nine equal systems; RESULTS.md), and the t-test alone that of the test
set. So the larger p-value decides, corrected by Holm for all rows of at least `FEWEST` seeds. Where
nothing tells the examples of any run, the t-test decides alone.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ...evaluation.seed_statistics import Noise, detectable, holm
from .choice import chosen_by_share
from .comparisons import FEWEST, PairedSeeds, Significance, compare, over_examples, why_not
from .frame import Shown
from .layouts import SIGNIFICANT

COLUMNS = "system title".split() + [*PairedSeeds._fields]
COLUMNS += "low high bootstrap_p examples samples run_error shared_error".split()
COLUMNS += "corrected_p level detectable".split()
_SAMPLES = 200  # a row, at least: of fewer hardly any p-value stands Holm's correction
_NO_COUNTS = "nothing tells examples of its runs"


def against(found: pd.DataFrame, shown: Shown, baseline: str, drawn: Significance) -> pd.DataFrame:
    """Compare every system with a baseline with which it has a seed in common.

    Each stands at its chosen setting, on every share of the training data that both have.

    Args:
        found: finished runs.
        shown: what is compared; of the split that chose, it chooses the settings as well.
        baseline: a system of theirs.
        drawn: samples and seed of the bootstrap over examples; many rows take more samples.

    Returns:
        A row a system and share, with the columns of `COLUMNS`: its setting's title; the fields of
        `PairedSeeds`, where ``untested`` says why nothing is concluded; those of the bootstrap over
        seeds and examples (of one seed over examples alone), nan without predictions; the p-value
        that decides, corrected; the level at which the surest of so many rows is tested; and the
        difference that would have been seen at that level with 80 % power.
    """
    pairs = list(_pairs(found, shown, baseline))
    drawn = replace(drawn, samples=max(drawn.samples, _SAMPLES * len(pairs)))
    rows = [_row(*pair, shown, drawn) for pair in pairs]
    return _decided(pd.DataFrame(rows, columns=COLUMNS, dtype=object))


def interval(one: Any) -> tuple[float, float]:
    """Return the 95 % interval that both tests of a row leave; nan where there is none."""
    if math.isnan(one.bootstrap_p):
        return one.t_low, one.t_high
    return float(np.fmin(one.t_low, one.low)), float(np.fmax(one.t_high, one.high))


def _noise(one: Any) -> Noise:
    """Return what makes the differences of a row differ."""
    errors = (0.0 if math.isnan(error) else error for error in (one.run_error, one.shared_error))
    return Noise(one.se * math.sqrt(one.n), *errors)


def _pairs(
    found: pd.DataFrame, shown: Shown, baseline: str
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield the baseline and each system that shares a seed with it, for every share."""
    for sides in chosen_by_share(found, shown).values():
        first = sides.pop(baseline, None)
        for other in sides.values():
            if first is not None and {*first.seed} & {*other.seed}:
                yield first, other


def _row(
    baseline: pd.DataFrame, system: pd.DataFrame, shown: Shown, drawn: Significance
) -> dict[str, Any]:
    """Return what `against` tells of one system, but for what all rows decide."""
    paired, found = compare(baseline, system, shown), None
    if why := why_not(baseline, system, shown):
        none: dict[str, Any] = dict.fromkeys("t_p t_low t_high".split(), math.nan)
        paired = paired._replace(untested=why, **none)
    else:
        found = over_examples(baseline, system, shown, drawn, over_seeds=paired.n > 1)
    over = {**vars(found), "bootstrap_p": found.p_value} if found else {}
    setting = system.setting.iloc[0]
    return {**over, "system": setting.system, "title": setting.title, **paired._asdict()}


def _is_over_both(compared: pd.DataFrame) -> bool:
    """Tell whether rows of `against` are decided by both tests, or by the t-test alone."""
    return bool((compared.bootstrap_p.notna() & (compared.n >= FEWEST)).any())


def _decided(table: pd.DataFrame) -> pd.DataFrame:
    """Add what all rows decide together; see `against`."""
    p_values = table.t_p.astype(float).where(table.n >= FEWEST)
    if _is_over_both(table):
        p_values = np.maximum(p_values, table.bootstrap_p.astype(float))  # nan where one is
    untested = table.n.map("{} seeds".format).where(table.n < FEWEST, _NO_COUNTS)
    silent = p_values.isna() & ~table.untested.astype(bool)
    table["untested"] = table.untested.mask(silent, untested)
    table["corrected_p"] = holm(p_values)
    table["level"] = level = SIGNIFICANT / max(1, p_values.notna().sum())
    table["detectable"] = [
        math.nan if math.isnan(p) else detectable(_noise(one), one.n, level=level)
        for p, one in zip(p_values, table.itertuples())
    ]
    return table
