"""Rows as a frame; the setting of each system that validation chooses; what is shown of it."""

from __future__ import annotations

import math

import pytest
from lab.finished_runs import finish

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.results.choice import chosen_at, chosen_by_share
from fairseq_plugins.lab.results.frame import Shown, frame, read_experiments, read_runs
from fairseq_plugins.lab.results.seed_report import format_markdown, make_report
from fairseq_plugins.lab.results.setting_tables import every_setting

PLAIN, POS, SLA = "bert_plain_tiny", "bert_pos_tiny", "bert_sla_tiny"
ACCURACY = Shown("accuracy", "valid")


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


def chosen_in(root, metric=""):
    runs = read_runs(root)
    return chosen_at(runs, runs.system, metric)


def rates(chosen):
    return {name: runs.learning_rate.iloc[0] for name, runs in chosen.items()}


@pytest.mark.parametrize(
    ("metric", "more", "expected"),
    [
        ("", {}, {PLAIN: 5e-5, POS: 2e-5}),
        ("loss", {}, {PLAIN: 5e-5, POS: 2e-5}),  # lower is better
        ("", {(PLAIN, 3e-5): [0.99]}, {PLAIN: 5e-5}),  # one lucky seed
        ("", {(POS, 3e-5): [math.nan, 0.99, 0.99]}, {POS: 2e-5}),
        ("", {(POS, 3e-5): [math.inf, 0.99, 0.99]}, {POS: 2e-5}),
    ],
)
def test_every_system_gets_its_best_rate_on_the_mean(root, metric, more, expected):
    for (system, rate), values in more.items():
        for seed, value in enumerate(values, 1):
            finish(root, system, rate, seed, value)
    assert rates(chosen_in(root, metric)).items() >= expected.items()


def test_settings_are_told_with_mean_deviation_best_and_last(root):
    rows = [row for row in make_report(root).settings.rows if row[4].text == "✓"]
    cell = next(row[-1] for row in rows if row[0].text == POS)
    assert (cell.text, cell.detail) == ("74.00 ± 2.00", "3 seeds · best 76.00 · last 64.00")
    text = format_markdown(make_report(root, samples=20))
    assert f"Against {PLAIN}" in text
    assert "(50 examples, 200 samples)" in text


def test_choices_are_settings_of_their_own_and_chosen_like_rates(root):
    for seed in (1, 2, 3):
        finish(root, SLA, 5e-5, seed, 0.60 + 0.01 * seed, choice={"tree-threshold": 3})
        finish(root, SLA, 5e-5, seed, 0.70 + 0.01 * seed, choice={"tree-threshold": 4})
        finish(root, SLA, 2e-5, seed, 0.65 + 0.01 * seed, choice={"tree-threshold": 4})
    chosen = chosen_in(root)[SLA]
    assert chosen.setting.iloc[0][:4] == (SLA, 5e-5, 3, (("tree-threshold", 4),))
    assert ACCURACY.values(chosen) == pytest.approx([0.71, 0.72, 0.73])
    rows = [row[0] for row in make_report(root).settings.rows if row[0].text == SLA]
    assert sorted(row.detail for row in rows) == [f"tree-threshold {n}" for n in (3, 4, 4)]


def test_of_equal_settings_the_same_is_chosen_in_whatever_order(tmp_path):
    for rate in (5e-5, 2e-5):
        finish(tmp_path, PLAIN, rate, 1, 0.5)
    runs = read_runs(tmp_path)
    for some in (runs, runs.iloc[::-1]):
        assert rates(chosen_at(some, some.system)) == {PLAIN: 2e-5}


def test_every_share_has_its_chosen_setting(tmp_path):
    own = {5e-5: (0.6, 1), 2e-5: (0.5, 1), 4e-5: (0.4, 0.05), 3e-5: (0.3, 0.05)}
    for rate, (value, share) in own.items():
        finish(tmp_path, PLAIN, rate, 1, value, share=share)
    chosen = chosen_by_share(read_runs(tmp_path), ACCURACY)
    assert rates(chosen) == {(0.05, PLAIN): 4e-5, (1, PLAIN): 5e-5}


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


def test_what_is_compared_is_the_split_that_chose_nothing(tmp_path):
    """The validation set chooses each system's rate; scores and tests are of the evaluation."""
    for seed in (1, 2, 3):
        spread = 0.01 * seed
        finish(tmp_path, PLAIN, 5e-5, seed, 0.5 + spread, evaluation={"accuracy": 0.7 + spread})
        finish(tmp_path, POS, 2e-5, seed, 0.6 + spread, evaluation={"accuracy": 0.65 + spread})
        finish(tmp_path, POS, 5e-5, seed, 0.5 + spread, evaluation={"accuracy": 0.9 + spread})
    report = make_report(tmp_path)
    assert report.shown == Shown("accuracy", "test")
    (pos,) = report.comparisons.itertuples()
    assert pos.difference == pytest.approx(-0.05)  # of the rate that validation chose
    assert report.scores[PLAIN] == pytest.approx([0.71, 0.72, 0.73])
    assert "accuracy in % on split 'test'" in format_markdown(report)
    assert make_report(tmp_path, metric="loss").shown.split == "valid"  # the evaluation lacks it


def test_a_report_says_that_it_shows_the_validation_set_for_want_of_the_other(tmp_path):
    for seed in (1, 2):
        finish(tmp_path, PLAIN, 5e-5, seed, 0.5, evaluation={"accuracy": 0.7})
        finish(tmp_path, POS, 5e-5, seed, 0.6, evaluation={"accuracy": 0.7} if seed < 2 else None)
    said = "Not every run has been evaluated on test: accuracy in % on the validation set"
    assert said in format_markdown(make_report(tmp_path))
    assert said not in format_markdown(make_report(tmp_path, systems=[PLAIN], baseline=PLAIN))


def test_a_choice_among_more_settings_is_said_where_it_chose(root, tmp_path):
    said = "Systems have 2 to 3 settings"
    assert said not in format_markdown(make_report(root, samples=20))
    finish(root, POS, 1e-5, 1, 0.1)
    assert said in format_markdown(make_report(root, samples=20))


def test_frames_without_a_run_keep_their_columns_and_make_no_table():
    assert {"setting", "counts"} <= {*frame([]).columns}
    assert every_setting("None", frame([])) == []


def test_of_an_experiment_the_folder_of_a_part_is_asked_for(tmp_path):
    for part in ("cola", "rte"):
        finish(tmp_path / part, PLAIN, 5e-5, 1, 0.5, dataset=part, home=tmp_path)
    with pytest.raises(InputError, match=r"rows.jsonl:2: key 'dataset': .*name the folder of a"):
        read_runs(tmp_path)
    assert list(read_runs(tmp_path / "rte").part) == ["rte"]


def test_reading_names_what_is_wrong(root, tmp_path):
    (tmp_path / "empty").mkdir()
    for name, said in (("none", "no such file or folder"), ("empty", "no runs")):
        with pytest.raises(FileNotFoundError, match=f"{name}: {said}"):
            read_runs(tmp_path / name)
    for options, said in (
        ({"baseline": "x"}, "--baseline 'x': choices are bert_plain_tiny"),
        ({"metric": "mcc"}, "no metric 'mcc'; choices: accuracy, loss"),
    ):
        with pytest.raises(InputError, match=said):
            make_report(root, **options)
    finish(root, PLAIN, 1e-5, 1, 0.5, data="other")
    with pytest.raises(InputError, match="rows.jsonl:13: key 'data': 'other', of rows before"):
        read_runs(root)
    (root / "rows.jsonl").write_text("{")
    with pytest.raises(InputError, match="rows.jsonl:1: no row"):
        read_runs(root)


def test_a_run_twice_is_no_further_seed(root):
    """The later one would stand for both."""
    file, lines = root / "rows.jsonl", (root / "rows.jsonl").read_text().splitlines(True)
    file.write_text("".join([*lines, lines[4]]))
    with pytest.raises(InputError, match=r"rows.jsonl:13: the run of \S+rows.jsonl:5 again"):
        read_runs(root)
    (found,) = read_experiments(root)[0]
    assert (len(found.runs), len(found.faults)) == (12, 1)
    file.write_text("".join([*lines, lines[4].replace(f'"{root.name}"', '"another"')]))
    with pytest.raises(InputError, match=r"rows.jsonl:13: has the setting and seed of .*:5, of"):
        read_runs(root)


@pytest.mark.parametrize("order", [(1000, 10_000), (10_000, 1000)])
def test_how_long_runs_by_updates_trained_is_told_by_its_size(tmp_path, order):
    for updates in order:
        length = {"epochs": 0, "updates": updates, "home": tmp_path}
        finish(tmp_path / str(updates), PLAIN, 5e-5, 1, 0.5, **length)
    assert [*read_runs(tmp_path).updates] == [1000, 10_000]
    found = [row[2].text for row in make_report(tmp_path).settings.rows]
    assert found == ["1,000 updates", "10,000 updates"]
