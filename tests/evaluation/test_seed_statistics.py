"""What scores over seeds can tell, against independent loops and simulated runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from fairseq_plugins.evaluation.seed_statistics import (
    QUANTILES,
    Noise,
    almost_order,
    detectable,
    floor,
    holm,
    needed,
    violation,
)

P_VALUES = some.lists(some.floats(0, 1), min_size=1, max_size=8)
NORMAL = 1.959964 + 1.281552  # deviations that are seen nine times in ten, at a level of 5 %
SCORES = some.lists(some.floats(-10, 10), min_size=2, max_size=6)


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


@given(SCORES, SCORES)
def test_violation_is_what_a_loop_over_quantiles_finds(one, other) -> None:
    below = whole = 0.0
    for i in range(QUANTILES):
        at = (i + 0.5) / QUANTILES
        first, second = (sorted(side)[int(at * len(side))] for side in (one, other))
        whole += (first - second) ** 2
        below += (first - second) ** 2 if first < second else 0
    found = violation(np.sort(one), np.sort(other))
    assert found == pytest.approx(below / whole if whole else 0.5)
    if whole:
        assert found + violation(np.sort(other), np.sort(one)) == pytest.approx(1)


def test_order_is_sure_of_what_is_above_everywhere_and_of_nothing_else() -> None:
    low, high = [0.1, 0.2, 0.3, 0.25], [1.1, 1.2, 1.4, 1.3]
    assert almost_order(high, low) == 0
    assert almost_order(low, high) == 1
    assert almost_order(low, low) > 0.5
    assert math.isnan(almost_order([1.0], low))
    assert math.isnan(almost_order([1.0, math.inf], low))
    mixed = [0.0, 0.2, 1.4, 1.3]
    assert 0 < almost_order(mixed, low) < 1
    assert almost_order(mixed, low) == almost_order(mixed, low)
    assert almost_order(mixed, low, level=0.5) < almost_order(mixed, low, level=0.05)


@pytest.mark.long
@pytest.mark.parametrize("count", [5, 20])
def test_order_is_seldom_sure_where_there_is_none(count) -> None:
    """Both systems are drawn alike: below 0.2 falls about one in twenty, below 0.5 more."""
    dice = np.random.default_rng(0)
    pairs = dice.normal(size=(2000, 2, count))
    bounds = [almost_order(*pair, samples=60, seed=i) for i, pair in enumerate(pairs)]
    assert np.mean(np.array(bounds) < 0.2) < 0.09


NOISES = some.builds(Noise, *[some.floats(0.01, 10), some.floats(0, 5), some.floats(0, 5)])


@given(NOISES, some.floats(0.05, 20), some.integers(2, 5))
def test_needed_is_the_least_number_that_shows_the_difference(noise, effect, least) -> None:
    count = needed(noise, effect, least=least)
    if count is None:
        assert detectable(noise, 1000) > effect
        return
    assert detectable(noise, count) <= effect
    assert count == least or detectable(noise, count - 1) > effect


def test_only_what_runs_share_is_left_whatever_the_seeds() -> None:
    many = 10**6
    assert detectable(Noise(1.0, 1.0, 0.0), many) < 0.01
    assert detectable(Noise(1.0, 1.0, 2.0), many) == pytest.approx(2 * NORMAL, rel=1e-3)
    assert needed(Noise(1.0, 1.0, 0.0), 0.5) is not None
    assert needed(Noise(1.0, 1.0, 2.0), 1.99 * NORMAL) is None
    assert needed(Noise(1.0, 1.0, 2.0), 2.01 * NORMAL) is not None
    for power, level in ((0.8, 0.05), (0.5, 0.01)):
        about = {"power": power, "level": level}
        lasts = detectable(Noise(1.0, 1.0, 2.0), many, **about)
        assert floor(Noise(1.0, 1.0, 2.0), **about) == pytest.approx(lasts, rel=1e-3)
    assert floor(Noise(1.0, 1.0)) == 0
    assert detectable(Noise(1.0), 5) < detectable(Noise(1.0), 5, level=0.01)


def test_where_two_tests_have_to_agree_more_is_needed() -> None:
    alone = detectable(Noise(1.0), 5)
    for noise in (Noise(1.0, 0.01), Noise(1.0, 0.0, 0.01)):
        assert alone * 1.1 < detectable(noise, 5) < alone * 1.3


def test_corrected_p_values_are_at_most_one() -> None:
    assert holm([0.9, 0.8, 0.01]) == [1.0, 1.0, 0.03]


def test_needed_hangs_on_power_level_and_the_most_pairs() -> None:
    count = needed(Noise(1.0), 0.5)
    assert needed(Noise(1.0), 0.5, most=count) == count
    assert needed(Noise(1.0), 0.5, most=count - 1) is None
    assert needed(Noise(1.0), 0.5, power=0.5) < count < needed(Noise(1.0), 0.5, level=0.01)


def test_needed_refuses_what_no_number_shows() -> None:
    assert needed(Noise(0.0), 1.0) == 2
    assert needed(Noise(1.0), 1e-300) is None
    broken = (1.0, 0.0), (1.0, math.nan), (1.0, math.inf), (math.nan, 1.0), (math.inf, 1.0)
    for deviation, effect in broken:
        with pytest.raises(ValueError, match="no number of pairs"):
            needed(Noise(deviation), effect)
