"""Is a difference more than chance: two tests that agree, corrected, and what they would see."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from lab.finished_runs import finish
from lab.translated_runs import translated
from scipy import stats

from fairseq_plugins.evaluation.seed_statistics import holm
from fairseq_plugins.lab.results.compare import interval, paired, welch
from fairseq_plugins.lab.results.frame import Shown
from fairseq_plugins.lab.results.seed_report import format_markdown, make_report

PLAIN, POS, SLA = "bert_plain_tiny", "bert_pos_tiny", "bert_sla_tiny"
RIGHT = {PLAIN: [30, 31, 32, 30], POS: [40, 44, 42, 41], SLA: [31, 33, 30, 32]}


def over_seeds(one, other):
    """Compare scores by seed."""
    frames = []
    for values in (one, other):
        rows = [SimpleNamespace(metrics={"valid": {"mcc": value}}) for value in values.values()]
        frames.append(pd.DataFrame({"seed": [*values], "row": rows}))
    return paired(*frames, Shown("mcc", "valid"))


def compared(root, right, **options):
    """Return the rows of systems whose runs have so many right of 50; None for no predictions."""
    for system, counts in right.items():
        for seed, count in enumerate(counts, 1):
            value = count / 50 if count is not None else 0.6 + 0.01 * seed
            finish(root, system, 5e-5, seed, value, right=count)
    return make_report(root, baseline=PLAIN, **options).comparisons.set_index("system")


def test_comparison_is_paired_over_shared_seeds():
    one, other = {1: 0.62, 2: 0.62, 3: 0.64}, {3: 0.76, 2: 0.74, 1: 0.72, 9: 0.1}
    found, back = over_seeds(one, other), over_seeds(other, one)
    assert (found.n, found.difference) == (3, pytest.approx((0.1 + 0.12 + 0.12) / 3))
    expected = stats.ttest_rel([0.72, 0.74, 0.76], [0.62, 0.62, 0.64])
    assert found.t_p == pytest.approx(float(expected.pvalue))
    assert (found.wins, found.losses, back.wins) == (3, 0, 0)
    assert back.difference == pytest.approx(-found.difference)
    assert (found.t_low, back.t_low) == (pytest.approx(-back.t_high), pytest.approx(-found.t_high))
    assert (found.t_low > 0) == (found.t_p < 0.05)
    single = over_seeds({1: 0.5}, {1: 0.6})
    assert (math.isnan(single.t_p), math.isnan(single.se), single.untested) == (
        True,
        True,
        "one seed",
    )


@pytest.mark.parametrize("scale", [1e-9, 1.0, 30.0])
def test_equal_differences_make_no_t_test(scale):
    """Neither p = 0 nor the 1e-29 that rounding makes of it."""
    scores = {seed: scale * (0.5 + seed / 7) for seed in range(1, 6)}
    better = {seed: value + 0.013 * scale for seed, value in scores.items()}
    exact = {better[seed] - scores[seed] for seed in scores}
    assert (len(exact) > 1) == (scale != 30.0)  # rounding, or not
    found = over_seeds(scores, better)
    assert math.isnan(found.t_p)
    assert (found.untested, found.wins, found.losses) == ("all differences equal", 5, 0)
    better[1] += scale * 1e-6
    assert over_seeds(scores, better).t_p < 1e-6
    rounded = {seed: value * (1 + 2e-16) for seed, value in scores.items()}
    assert over_seeds(scores, rounded).wins == 0


def test_welchs_test_needs_two_seeds_a_side_and_some_deviation():
    one, other = [0.5, 0.52, 0.54, 0.5], [0.6, 0.64]
    found = welch(one, other)
    expected = float(stats.ttest_ind(other, one, equal_var=False).pvalue)
    assert found.p_value == pytest.approx(expected)
    assert found.difference == pytest.approx(0.105)
    assert found.p_value == welch(other, one).p_value
    for pair, said in (
        ((one, [0.6]), ""),
        (([0.5], other), ""),
        (([0.5, 0.5], [0.6, 0.6]), "untested: no deviation between seeds"),
        (([0.5, 0.5], [0.1 + 0.2, 0.3]), "untested: no deviation between seeds"),
        ((one, [0.5, math.nan]), "untested: a score is no number"),
        ((one, [0.5, -math.inf]), "untested: a score is no number"),
    ):
        found = welch(*pair)
        assert (math.isnan(found.p_value), found.untested) == (True, said)


def test_the_larger_p_decides_and_is_corrected(tmp_path):
    found = compared(tmp_path, {**RIGHT, "bert_wla_tiny": [48, 31, 49, 47]}, samples=200)
    larger = [max(row.t_p, row.bootstrap_p) for row in found.itertuples()]
    assert list(found.corrected_p) == holm(larger)
    assert {row.t_p > row.bootstrap_p for row in found.itertuples()} == {True, False}
    assert found.corrected_p[POS] < 0.05 < found.corrected_p[SLA]
    low, high = interval(found.loc[POS])
    assert low == min(found.t_low[POS], found.low[POS]) < found.difference[POS] < high
    alone = found.loc[POS].copy()
    alone["bootstrap_p"] = math.nan  # as of a single example
    assert interval(alone) == (alone.t_low, alone.t_high)


def test_systems_without_answers_are_not_tested_beside_others_that_have_them(tmp_path):
    found = compared(tmp_path, {**RIGHT, SLA: [None] * 4}, samples=50)
    assert not math.isnan(found.t_p[SLA])
    assert math.isnan(found.corrected_p[SLA])
    assert found.untested[SLA] == "nothing tells examples of its runs"
    assert found.corrected_p[POS] == max(found.t_p[POS], found.bootstrap_p[POS])


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_without_any_answers_the_t_test_decides_where_there_is_one(tmp_path, broken):
    for seed in (1, 2, 3):
        finish(tmp_path, PLAIN, 5e-5, seed, 0.5)
        finish(tmp_path, POS, 5e-5, seed, 0.6)
        finish(tmp_path, SLA, 5e-5, seed, 0.6 + 0.01 * seed)
        finish(tmp_path, "bert_wla_tiny", 5e-5, seed, broken if seed == 2 else 0.9)
        finish(tmp_path, "apart", 5e-5, seed + 5, 0.6)
    found = compared(tmp_path, {})
    assert found.corrected_p[SLA] == found.t_p[SLA]  # one test, as no other row has any
    assert found.untested[POS] == "all differences equal"
    assert found.untested["bert_wla_tiny"] == "a score is no number"
    assert math.isnan(found.detectable["bert_wla_tiny"])
    report = make_report(tmp_path)
    assert "| a score is no number |" in format_markdown(report)
    assert f"No seed in common with {PLAIN}: apart." in format_markdown(report)


@pytest.mark.parametrize("seeds", [1, 2])
def test_few_seeds_have_no_p_that_decides(tmp_path, seeds):
    found = compared(tmp_path, {name: counts[:seeds] for name, counts in RIGHT.items()})
    assert found.corrected_p.isna().all()
    assert found.detectable.isna().all()
    assert set(found.untested) == {"one seed" if seeds == 1 else "2 seeds"}


def test_many_rows_take_samples_enough_to_stand_their_correction(tmp_path):
    right = {PLAIN: RIGHT[PLAIN], **{f"bert_{number}": [48, 49, 47, 50] for number in range(6)}}
    found = compared(tmp_path, right, samples=20)
    assert set(found.samples) == {1200}
    smallest = 2 / 1201
    assert (found.bootstrap_p == smallest).all()
    assert 6 * smallest < 0.05


@pytest.mark.parametrize("number", range(6))
def test_what_is_not_seen_is_less_than_what_would_be(tmp_path, number):
    """Else a page would call a larger difference unseen than one that it says it sees."""
    dice = np.random.default_rng(number)
    names = [PLAIN, *(f"bert_{name}" for name in range(4))]
    middles = dice.integers(20, 40, len(names))
    right = {name: dice.integers(m - 4, m + 5, 4).tolist() for name, m in zip(names, middles)}
    found = compared(tmp_path, right, samples=200)
    unseen = found[found.corrected_p >= 0.05]
    assert (unseen.difference.abs() < unseen.detectable).all()


@pytest.mark.parametrize("name", ["loss", "tuned_f1"])
def test_what_no_example_adds_to_is_tested_over_seeds(tmp_path, name):
    for system, counts in RIGHT.items():
        for seed, count in enumerate(counts, 1):
            finish(tmp_path, system, 5e-5, seed, count / 50, right=count, metric=name)
    found = make_report(tmp_path, baseline=PLAIN).comparisons
    assert found.bootstrap_p.isna().all()
    assert found.corrected_p.notna().all()


@pytest.mark.parametrize(("scores", "is_tested"), [((0.2, 0.9), False), ((0.2, 1.2), True)])
def test_systems_that_have_learnt_nothing_are_not_tested(tmp_path, scores, is_tested):
    """BLEU 0.9 against 0.2 is a difference of nothing: no p, and no arrow."""
    for system, bleu in zip(("baseline", "syntax"), scores):
        for seed, luck in enumerate((0.0, 0.01, 0.03), 1):
            translated(tmp_path, system, bleu + luck * bleu, seed=seed, features="none")
    found = make_report(tmp_path, baseline="baseline").comparisons.iloc[0]
    assert math.isnan(found.t_p) != is_tested
    assert found.untested == ("" if is_tested else "at the floor")
