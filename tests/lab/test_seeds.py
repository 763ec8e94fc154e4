"""Results over seeds: summaries, choice of settings, comparisons, tables."""

from __future__ import annotations

import csv
import math
import statistics
from types import SimpleNamespace

import pandas as pd
import pytest
from lab.finished_runs import finish
from scipy import stats

from fairseq_plugins.lab.report.making import comparison_tables
from fairseq_plugins.lab.results.choice import chosen_at
from fairseq_plugins.lab.results.compare import Significance, paired, welch
from fairseq_plugins.lab.results.frame import Shown, frame, read_experiments, read_runs
from fairseq_plugins.lab.results.seed_report import csv_files, format_markdown, make_report
from fairseq_plugins.lab.results.setting_tables import every_setting

PLAIN, POS, SLA = "bert_plain_tiny", "bert_pos_tiny", "bert_sla_tiny"


@pytest.fixture
def root(tmp_path):
    """Two systems, two rates, three seeds; the second rate suits POS better."""
    for seed in (1, 2, 3):
        right = (31, 31, 32)[seed - 1]
        finish(tmp_path, PLAIN, 5e-5, seed, right / 50, right=right)
        finish(tmp_path, PLAIN, 2e-5, seed, 0.50 + 0.01 * seed)
        finish(tmp_path, POS, 5e-5, seed, 0.55 + 0.02 * seed)
        finish(tmp_path, POS, 2e-5, seed, 0.70 + 0.02 * seed, right=35 + seed)
    return tmp_path


ACCURACY = Shown("accuracy", "valid")


def runs_of(values):
    rows = (SimpleNamespace(metrics={"valid": {"accuracy": one}}) for one in values.values())
    return pd.DataFrame({"seed": [*values], "row": [*rows]})


def chosen_in(root, metric="accuracy"):
    runs = read_runs(root)
    return chosen_at(runs, runs.system, metric)


def rates_of(root, metric="accuracy"):
    return {name: runs.learning_rate.iloc[0] for name, runs in chosen_in(root, metric).items()}


def test_every_system_gets_its_best_rate_on_the_mean(root):
    assert rates_of(root) == {PLAIN: 5e-5, POS: 2e-5}
    rows = [row for row in make_report(root).settings.rows if row[4].text == "✓"]
    cell = next(row[-1] for row in rows if row[0].text == POS)
    assert (cell.text, cell.detail) == ("74.00 ± 2.00", "3 seeds · best 76.00 · last 64.00")


def test_lower_is_better_for_losses(root):
    assert rates_of(root, "loss") == {PLAIN: 5e-5, POS: 2e-5}
    assert "best 0.2400" in str(make_report(root, metric="loss").settings)


def test_one_lucky_seed_does_not_choose_the_rate(root):
    finish(root, PLAIN, 3e-5, 1, 0.99)
    assert rates_of(root)[PLAIN] == 5e-5


def test_comparison_is_paired_over_shared_seeds(root):
    finish(root, POS, 2e-5, 9, 0.1)  # a seed that the baseline lacks
    chosen = chosen_in(root)
    found = paired(chosen[PLAIN], chosen[POS], ACCURACY)
    pairs = [0.72, 0.74, 0.76], [0.62, 0.62, 0.64]
    assert found.n == 3
    assert found.difference == pytest.approx(
        statistics.fmean(pairs[0]) - statistics.fmean(pairs[1])
    )
    assert found.t_p == pytest.approx(float(stats.ttest_rel(*pairs).pvalue))
    assert (found.wins, found.losses) == (3, 0)
    back = paired(chosen[POS], chosen[PLAIN], ACCURACY)
    assert (back.difference, back.wins) == (pytest.approx(-found.difference), 0)


def test_comparison_of_one_seed_or_of_equals_claims_nothing(tmp_path):
    finish(tmp_path, PLAIN, 5e-5, 1, 0.5)
    finish(tmp_path, POS, 5e-5, 1, 0.6)
    chosen = chosen_in(tmp_path)
    single = paired(chosen[PLAIN], chosen[POS], ACCURACY)
    assert math.isnan(single.t_p)
    assert math.isnan(single.se)
    finish(tmp_path, PLAIN, 5e-5, 2, 0.6)
    chosen = chosen_in(tmp_path)
    equal = paired(chosen[PLAIN], chosen[PLAIN], ACCURACY)
    assert math.isnan(equal.t_p)
    assert (equal.untested, equal.wins) == ("all differences equal", 0)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 30.0])
def test_equal_differences_make_no_t_test(scale):
    """Neither p = 0 nor the 1e-29 that rounding makes of it."""
    scores = {seed: scale * (0.5 + seed / 7) for seed in range(1, 6)}
    better = {seed: value + 0.013 * scale for seed, value in scores.items()}
    exact = {better[seed] - scores[seed] for seed in scores}
    assert (len(exact) > 1) == (scale != 30.0)  # rounding, or not
    pair = runs_of(scores), runs_of(better)
    found = paired(*pair, ACCURACY)
    assert math.isnan(found.t_p)
    assert (found.untested, found.wins, found.losses) == ("all differences equal", 5, 0)
    better[1] += scale * 1e-6
    assert paired(pair[0], runs_of(better), ACCURACY).t_p < 1e-6
    rounded = {seed: value * (1 + 2e-16) for seed, value in scores.items()}
    assert paired(pair[0], runs_of(rounded), ACCURACY).wins == 0


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_scores_that_are_no_numbers_are_never_chosen_or_tested(root, broken):
    finish(root, POS, 3e-5, 1, broken)
    for seed in (2, 3):
        finish(root, POS, 3e-5, seed, 0.99)
    assert rates_of(root)[POS] == 2e-5
    for seed in (1, 2, 3):
        finish(root, SLA, 5e-5, seed, broken if seed == 2 else 0.9)
    report = make_report(root, baseline=PLAIN, samples=20)
    found = report.comparisons.set_index("system").loc[SLA]
    assert math.isnan(found.t_p)
    assert math.isnan(found.detectable)
    text = format_markdown(report)
    assert "| a score is no number |" in text
    row = list(csv.DictReader(csv_files(report)["comparisons.csv"].splitlines()))[-1]
    assert (row["t_p"], row["untested"]) == ("", "a score is no number")
    (table,) = comparison_tables(read_runs(root), "", Significance(samples=20))
    assert "a score is no number" in {cell.text for cell in table.rows[-1]}


def test_choices_are_settings_of_their_own_and_chosen_like_rates(root):
    for seed in (1, 2, 3):
        finish(root, SLA, 5e-5, seed, 0.60 + 0.01 * seed, choice={"tree-threshold": 3})
        finish(root, SLA, 5e-5, seed, 0.70 + 0.01 * seed, choice={"tree-threshold": 4})
        finish(root, SLA, 2e-5, seed, 0.65 + 0.01 * seed, choice={"tree-threshold": 4})
    chosen = chosen_in(root)[SLA]
    assert chosen.setting.iloc[0][:4] == (SLA, 5e-5, 3, (("tree-threshold", 4),))
    assert ACCURACY.values(chosen) == pytest.approx([0.71, 0.72, 0.73])
    text = format_markdown(make_report(root, baseline=PLAIN))
    assert f"| {SLA} (tree-threshold 4) | 5e-5 | 3 epochs | – | ✓ | 72.00" in text
    assert f"| {SLA} (tree-threshold 3) | 5e-5 | 3 epochs | – |  | 62.00" in text


def test_welchs_test_needs_two_seeds_a_side_and_some_deviation():
    one, other = [0.5, 0.52, 0.54, 0.5], [0.6, 0.64]
    found = welch(one, other)
    expected = float(stats.ttest_ind(other, one, equal_var=False).pvalue)
    assert found.p_value == pytest.approx(expected)
    assert found.difference == pytest.approx(0.105)
    assert found.p_value == welch(other, one).p_value
    assert welch(one, [value + 0.001 for value in one]).p_value > 0.5
    for pair, remark in (
        ((one, [0.6]), ""),
        (([0.5], other), ""),
        (([0.5, 0.5], [0.6, 0.6]), "untested: no deviation between seeds"),
        (([0.5, 0.5], [0.1 + 0.2, 0.3]), "untested: no deviation between seeds"),
        ((one, [0.5, math.nan]), "untested: a score is no number"),
        ((one, [0.5, -math.inf]), "untested: a score is no number"),
    ):
        found = welch(*pair)
        assert (math.isnan(found.p_value), found.untested) == (True, remark)


def test_report_shows_settings_choice_and_significance(root):
    report = make_report(root, samples=200)
    text = format_markdown(report)
    assert f"| {POS} | 2e-5 | 3 epochs | – | ✓ | **74.00 ± 2.00** (3 seeds" in text
    assert f"| {PLAIN} | 2e-5 | 3 epochs | – |  | 52.00" in text
    assert f"Against {PLAIN}" in text
    assert "(50 examples, 200 samples)" in text
    (comparison,) = report.comparisons.itertuples()
    assert comparison.low < comparison.difference < comparison.high
    assert f"| {POS} | 3 | +11.33 ± " in text
    rows = list(csv.DictReader(csv_files(report)["settings.csv"].splitlines()))
    assert float(rows[-1]["mean"]) == pytest.approx(0.59)
    (row,) = csv.DictReader(csv_files(report)["comparisons.csv"].splitlines())
    assert float(row["bootstrap_p"]) == comparison.bootstrap_p < 0.05


def test_of_equal_settings_the_same_is_chosen_in_whatever_order(tmp_path):
    for rate in (5e-5, 2e-5):
        finish(tmp_path, PLAIN, rate, 1, 0.5)
    runs = read_runs(tmp_path)
    for some in (runs, runs.iloc[::-1]):
        assert chosen_at(some, some.system)[PLAIN].learning_rate.iloc[0] == 2e-5


@pytest.mark.parametrize(
    ("arches", "found"),
    [
        ({"plain": PLAIN, "pos": PLAIN}, "plain"),
        ({"mine": PLAIN, "sla": SLA}, "mine"),
        ({"mine": PLAIN, "pos": PLAIN}, ""),
        ({"plainer": SLA, PLAIN: PLAIN}, PLAIN),
    ],
)
def test_the_plain_system_is_known_by_its_name_or_alone_by_its_architecture(
    tmp_path, arches, found
):
    for name, arch in arches.items():
        finish(tmp_path, name, 5e-5, 1, 0.5, options={"arch": arch})
    report = make_report(tmp_path)
    assert report.baseline == found
    told = "none is compared: give --baseline mine | pos" in format_markdown(report)
    assert told == (not found)


def test_report_does_without_predictions_and_without_a_baseline(tmp_path):
    for seed in (1, 2):
        finish(tmp_path, "other", 5e-5, seed, 0.5)
        finish(tmp_path, POS, 5e-5, seed, 0.6)
    assert "Against" not in format_markdown(make_report(tmp_path))
    report = make_report(tmp_path, baseline="other")
    assert report.comparisons.examples.isna().all()
    assert "| – | – |" in format_markdown(report)


def test_systems_without_a_seed_in_common_are_named_not_compared(tmp_path):
    finish(tmp_path, PLAIN, 5e-5, 1, 0.5)
    finish(tmp_path, POS, 5e-5, 2, 0.6)
    finish(tmp_path, SLA, 5e-5, 1, 0.7)
    report = make_report(tmp_path)
    assert list(report.comparisons.system) == [SLA]
    assert f"No seed in common with {PLAIN}: {POS}." in format_markdown(report)


def test_frames_without_a_run_keep_their_columns_and_make_no_table():
    assert {"setting", "counts"} <= {*frame([]).columns}
    assert every_setting("None", frame([])) == []


def test_of_an_experiment_the_folder_of_a_part_is_asked_for(tmp_path):
    for part in ("cola", "rte"):
        finish(tmp_path / part, PLAIN, 5e-5, 1, 0.5, dataset=part, home=tmp_path)
    with pytest.raises(ValueError, match=r"rows.jsonl:2: key 'dataset': .*name the folder of a"):
        make_report(tmp_path)
    assert list(make_report(tmp_path / "rte").runs.part) == ["rte"]


def test_report_names_what_is_wrong(root, tmp_path):
    with pytest.raises(ValueError, match="--baseline 'x': choices are bert_plain_tiny"):
        make_report(root, baseline="x")
    with pytest.raises(ValueError, match="no metric 'mcc'; choices: accuracy, loss"):
        make_report(root, metric="mcc")
    with pytest.raises(FileNotFoundError, match="none: no such file or folder"):
        make_report(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="empty: no runs"):
        make_report(tmp_path / "empty")
    finish(root, PLAIN, 1e-5, 1, 0.5, data="other")
    with pytest.raises(ValueError, match="rows.jsonl:13: key 'data': 'other', of rows before"):
        make_report(root)
    (root / "rows.jsonl").write_text("{")
    with pytest.raises(ValueError, match="rows.jsonl:1: no row"):
        make_report(root)


def test_what_is_compared_is_the_split_that_chose_nothing(tmp_path):
    """The validation set chooses each system's rate; scores and tests are of the evaluation."""
    for seed in (1, 2, 3):
        spread = 0.01 * seed
        finish(tmp_path, PLAIN, 5e-5, seed, 0.5 + spread, evaluation={"accuracy": 0.7 + spread})
        finish(tmp_path, POS, 2e-5, seed, 0.6 + spread, evaluation={"accuracy": 0.65 + spread})
        finish(tmp_path, POS, 5e-5, seed, 0.5 + spread, evaluation={"accuracy": 0.9 + spread})
    report = make_report(tmp_path)
    assert (report.shown.metric, report.shown.split) == ("accuracy", "test")
    (pos,) = report.comparisons.itertuples()
    assert pos.difference == pytest.approx(-0.05)  # of the rate that validation chose
    assert report.scores[PLAIN] == pytest.approx([0.71, 0.72, 0.73])
    assert "accuracy in % on split 'test'" in format_markdown(report)
    with_loss = make_report(tmp_path, metric="loss")
    assert with_loss.shown.split == "valid"  # which the evaluation lacks


def test_a_report_says_that_it_shows_the_validation_set_for_want_of_the_other(tmp_path):
    for seed in (1, 2):
        finish(tmp_path, PLAIN, 5e-5, seed, 0.5, evaluation={"accuracy": 0.7})
        finish(tmp_path, POS, 5e-5, seed, 0.6, evaluation={"accuracy": 0.7} if seed < 2 else None)
    said = "Not every run has been evaluated on test: accuracy in % on the validation set"
    assert said in format_markdown(make_report(tmp_path))
    assert said not in format_markdown(make_report(tmp_path, systems=[PLAIN], baseline=PLAIN))


def test_every_share_has_its_chosen_setting(tmp_path):
    own = {5e-5: (0.6, 1), 2e-5: (0.5, 1), 4e-5: (0.4, 0.05), 3e-5: (0.3, 0.05)}
    for rate, (value, share) in own.items():
        finish(tmp_path, PLAIN, rate, 1, value, share=share)
    found = [row[1].value for row in make_report(tmp_path).settings.rows if row[5].text == "✓"]
    assert sorted(found) == [4e-5, 5e-5]


def test_a_choice_among_more_settings_is_said_where_it_chose(root, tmp_path):
    said = "Systems have 2 to 3 settings"
    assert said not in format_markdown(make_report(root))
    finish(root, POS, 1e-5, 1, 0.1)
    assert said in format_markdown(make_report(root))


def test_a_run_twice_is_no_further_seed(root):
    lines = (root / "rows.jsonl").read_text().splitlines()
    (root / "rows.jsonl").write_text("\n".join([*lines, lines[4]]) + "\n")
    with pytest.raises(ValueError, match=r"rows.jsonl:13: the run of \S+rows.jsonl:5 again"):
        read_runs(root)
    (found,) = read_experiments(root)[0]
    assert len(found.runs) == 12
    assert len(found.faults) == 1


def test_how_long_runs_by_updates_trained_is_told(tmp_path):
    for updates, value in ((1000, 0.5), (10_000, 0.6)):
        length = {"epochs": 0, "updates": updates, "choice": {"clip-norm": updates}}
        finish(tmp_path, PLAIN, 5e-5, 1, value, **length)
    report = make_report(tmp_path)
    assert "| 10,000 updates |" in format_markdown(report)
    rows = list(csv.DictReader(csv_files(report)["settings.csv"].splitlines()))
    assert [(row["epochs"], row["updates"]) for row in rows] == [("", "1000"), ("", "10000")]
    assert {row["deviation"] for row in rows} == {""}  # of one seed


def test_two_runs_of_one_setting_and_seed_are_refused_where_they_are_compared(root):
    """The later one would stand for both."""
    mine = (root / "rows.jsonl").read_text()
    (root / "rows.jsonl").write_text(mine + mine.replace(f'"{root.name}"', '"another"'))
    with pytest.raises(ValueError, match=r"rows.jsonl:\d+: has the setting and seed of .*:1, of"):
        read_runs(root)


@pytest.mark.parametrize("order", [(100, 200), (200, 100)])
def test_lengths_in_updates_stand_by_their_size_in_whatever_order(tmp_path, order):
    for seed in (1, 2):
        for updates in order:
            more = {"epochs": 0, "updates": updates}
            finish(tmp_path / f"{updates}", "plain", 1e-3, seed, 0.5, home=tmp_path, **more)
    found = read_runs(tmp_path)
    assert [*found.updates] == [100, 100, 200, 200]
