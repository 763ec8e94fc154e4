"""What several comparisons tell together: two tests that agree, corrected, and what they see."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lab.finished_runs import finish
from lab.translated_runs import translated

from fairseq_plugins.evaluation.seed_statistics import holm
from fairseq_plugins.lab.results.compare import EITHER, Significance, interval
from fairseq_plugins.lab.results.frame import read_runs
from fairseq_plugins.lab.results.layouts import part_layouts
from fairseq_plugins.lab.results.part_tables import part_table
from fairseq_plugins.lab.results.seed_report import make_report

TEST = Significance(EITHER)

PLAIN, POS, SLA = "bert_plain_tiny", "bert_pos_tiny", "bert_sla_tiny"
RIGHT = {PLAIN: [30, 31, 32, 30], POS: [40, 44, 42, 41], SLA: [31, 33, 30, 32]}


def compared(root, right, **options):
    """Return the rows of systems whose runs have so many right of 50; None for no predictions."""
    for system, counts in right.items():
        for seed, count in enumerate(counts, 1):
            value = count / 50 if count is not None else 0.6 + 0.01 * seed
            finish(root, system, 5e-5, seed, value, right=count)
    return make_report(root, baseline=PLAIN, **options).comparisons.set_index("system")


def test_the_larger_p_decides_and_is_corrected(tmp_path):
    found = compared(tmp_path, {**RIGHT, "bert_wla_tiny": [48, 31, 49, 47]}, samples=200)
    larger = [max(row.t_p, row.bootstrap_p) for row in found.itertuples()]
    assert list(found.corrected_p) == holm(larger)
    assert {row.t_p > row.bootstrap_p for row in found.itertuples()} == {True, False}
    assert list(found.level) == [0.05 / 3] * 3
    assert found.corrected_p[POS] < 0.05 < found.corrected_p[SLA]


def test_systems_without_answers_are_not_tested_beside_others_that_have_them(tmp_path):
    found = compared(tmp_path, {**RIGHT, SLA: [None] * 4}, samples=50)
    assert not math.isnan(found.t_p[SLA])
    assert math.isnan(found.corrected_p[SLA])
    assert found.untested[SLA] == "nothing tells examples of its runs"
    assert found.corrected_p[POS] == max(found.t_p[POS], found.bootstrap_p[POS])


def test_without_any_answers_the_t_test_decides(tmp_path):
    for seed in (1, 2, 3):
        finish(tmp_path, PLAIN, 5e-5, seed, 0.5)
        finish(tmp_path, POS, 5e-5, seed, 0.6)
        finish(tmp_path, SLA, 5e-5, seed, 0.6 + 0.01 * seed)
    found = compared(tmp_path, {})
    assert found.corrected_p[SLA] == found.t_p[SLA]  # one test, as the other row has none
    assert found.untested[POS] == "all differences equal"


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


@pytest.mark.parametrize("number", range(12))
def test_what_is_not_seen_is_less_than_what_would_be(tmp_path, number):
    """Else a page would call a larger difference unseen than one that it says it sees."""
    dice = np.random.default_rng(number)
    names = [PLAIN, *(f"bert_{name}" for name in range(4))]
    middles = dice.integers(20, 40, len(names))
    right = {name: dice.integers(m - 4, m + 5, 4).tolist() for name, m in zip(names, middles)}
    for row in compared(tmp_path, right, samples=200).itertuples():
        if math.isnan(row.corrected_p):
            continue
        if row.corrected_p >= 0.05:
            assert abs(row.difference) < row.detectable


def test_the_interval_is_that_of_the_tests_that_decide(tmp_path):
    found = compared(tmp_path, RIGHT, samples=50).loc[POS]
    low, high = interval(found)
    assert low == min(found.t_low, found.low) < found.difference < high
    alone = found.copy()
    alone["bootstrap_p"] = math.nan  # as of a single example
    assert interval(alone) == (found.t_low, found.t_high)


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
    (table,) = part_table(read_runs(tmp_path), part_layouts()["fractions"], TEST)
    ((*_, cell),) = table.rows
    assert (cell.mark, "floor" in cell.detail) == ("↑" * is_tested, not is_tested)
