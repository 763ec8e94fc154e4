"""What scores over seeds can tell, against independent loops and simulated runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from fairseq_plugins.evaluation.seed_statistics import (
    Noise,
    detectable,
    holm,
)

P_VALUES = some.lists(some.floats(0, 1), min_size=1, max_size=8)
NORMAL = 1.959964 + 1.281552  # deviations that are seen nine times in ten, at a level of 5 %


@given(P_VALUES)
def test_holm_rejects_what_his_steps_reject(values) -> None:
    """Step by step from the smallest: go on as long as it is at most level / (m - i)."""
    corrected = holm(values)
    for level in (0.01, 0.05, 0.3):
        rejected, order = set(), sorted(range(len(values)), key=values.__getitem__)
        for i, number in enumerate(order):
            if values[number] * (len(values) - i) > level:
                break
            rejected.add(number)
        assert rejected == {i for i, value in enumerate(corrected) if value <= level}


def test_holm_leaves_a_single_value_and_passes_over_none() -> None:
    assert holm([0.03]) == [0.03]
    assert holm([]) == []
    found = holm([0.02, math.nan, 0.03])
    assert found[::2] == [0.04, 0.04]
    assert math.isnan(found[1])


@pytest.mark.parametrize(("count", "power"), [(3, 0.8), (5, 0.8), (10, 0.5), (20, 0.9)])
def test_so_many_runs_show_the_difference_as_often_as_is_asked(count, power) -> None:
    dice = np.random.default_rng(count)
    effect = detectable(Noise(2.0), count, power=power)
    drawn = dice.normal(effect, 2.0, (20_000, count))
    shown = np.mean(stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.05)
    assert shown == pytest.approx(power, abs=0.02)
    assert detectable(Noise(4.0), count, power=power) == pytest.approx(2 * effect)


def test_a_single_run_shows_nothing() -> None:
    assert math.isnan(detectable(Noise(1.0), 1))
    assert math.isnan(detectable(Noise(math.nan), 5))
    assert detectable(Noise(0.0), 5) == 0


def test_only_what_runs_share_is_left_whatever_the_seeds() -> None:
    many = 10**6
    assert detectable(Noise(1.0, 1.0, 0.0), many) < 0.01
    assert detectable(Noise(1.0, 1.0, 2.0), many) == pytest.approx(2 * NORMAL, rel=1e-3)
    assert detectable(Noise(1.0), 5) < detectable(Noise(1.0), 5, level=0.01)


def test_where_two_tests_have_to_agree_more_is_needed() -> None:
    alone = detectable(Noise(1.0), 5)
    for noise in (Noise(1.0, 0.01), Noise(1.0, 0.0, 0.01)):
        assert alone * 1.1 < detectable(noise, 5) < alone * 1.3


def test_corrected_p_values_are_at_most_one() -> None:
    assert holm([0.9, 0.8, 0.01]) == [1.0, 1.0, 0.03]
