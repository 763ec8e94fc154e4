"""Runs on shares of the training data: the table of the paper, and points of a curve."""

from __future__ import annotations

import json
import re

import pytest
from lab.finished_runs import finish
from lab.translated_runs import SENTENCES, translated

from fairseq_plugins.lab.report.making import ReportOptions, tables_of
from fairseq_plugins.lab.results.compare import EITHER, EXAMPLES, SEEDS, Significance
from fairseq_plugins.lab.results.experiment_tables import lay_out
from fairseq_plugins.lab.results.frame import read_experiments, read_runs
from fairseq_plugins.lab.results.one_dataset import figures, fraction_table, share_curves

TEST = Significance(EITHER, samples=200)
ALL = "pos,case,subword"


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


@pytest.fixture
def root(tmp_path):
    return tmp_path / "multi30k"


def test_shares_rise_by_number_and_the_gain_is_over_the_system_without_features(root):
    for share, (baseline, syntax) in {1.0: (20, 21), 0.05: (8, 10.5), 0.5: (15, 15)}.items():
        translated(root, "syntax", syntax, fraction=share, features=ALL)
        translated(root, "zero", baseline, fraction=share)  # no features, whatever it is called
    table = fraction_table(read_runs(root), TEST)
    assert [row[0].value for row in table.rows] == [0.05, 0.5, 1.0]
    assert [row[-1].text for row in table.rows] == ["+2.50", "+0.00", "+1.00"]
    assert [heading.text for heading in table.headings[2:]] == ["zero", "syntax", "gain"]
    assert "multi30k: bleu" in table.title


def test_the_papers_figures_stand_beside_its_two_systems_at_its_shares(tmp_path):
    root = tmp_path / "wmt14"
    for share in figures().paper:
        translated(root, "baseline", 9.0, fraction=share)
        translated(root, "syntax", 9.0, fraction=share, features=ALL)
    translated(root, "pos", 9.0, features="pos")
    table = fraction_table(read_runs(root), TEST)
    for row, (baseline, syntax) in zip(table.rows, figures().paper.values()):
        assert f"paper, newstest2014: {baseline:.2f}" in row[2].detail
        assert any(f"paper, newstest2014: {syntax:.2f}" in cell.detail for cell in row[3:])
    assert sum("paper" in cell.detail for cell in table.rows[-1]) == 2
    assert "newstest2014" in table.caption
    gains = [round(syntax - baseline, 2) for baseline, syntax in figures().paper.values()]
    assert gains == [0.57, 1.99, 1.0, 0.52, 0.33, 0.7]  # as its text says


def test_the_papers_figures_can_be_left_out(tmp_path):
    for name, told in (("wmt14_en_de", True), ("wmt14_demo", False), ("multi30k", False)):
        root = tmp_path / name
        for share in (0.05, 1.0):
            translated(root, "baseline", 9.0, fraction=share)
        (text,), lines = lay_out([root], ["fractions"])
        assert ("paper" in text.lower(), "8.51" in text) == (told, told)
        assert (",8.51," in lines) == told
        (one,) = read_experiments(root)[0]
        for paper in (True, False):
            options = ReportOptions(paper=paper, samples=5)
            table, *_ = tables_of(one, [read_runs(root)], options, [])
            shown = any("paper" in cell.detail for row in table.rows for cell in row)
            assert shown == (told and paper)


def last_gain(root):
    """Return the gain of the last system on all of the data."""
    return fraction_table(read_runs(root), TEST).rows[-1][-1]


def test_one_seed_is_compared_with_the_same_seed(root):
    translated(root, "baseline", 10.0, seed=2, wrong=20)
    for seed, (bleu, wrong) in enumerate(((30, 0), (5, 38), (31, 0)), start=1):
        translated(root, "syntax", bleu, seed=seed, wrong=wrong, features=ALL)
    found = last_gain(root)
    assert found.text == "+12.00"
    assert found.mark == "↓"  # of seed 2, whatever the others are
    assert re.search(r"^p .* over sentences of one seed \(-\d", found.detail)


def test_other_seeds_are_not_compared_over_sentences(root):
    translated(root, "baseline", 5.0, seed=1, wrong=38)
    translated(root, "syntax", 30.0, seed=2, wrong=0, features=ALL)
    found = last_gain(root)
    assert (found.text, found.mark, found.detail) == ("+25.00", "", "untested: no seed of both")


def test_the_test_over_examples_is_made_where_it_is_asked_for(root):
    for seed in (1, 2):
        translated(root, "baseline", 10.0 + seed, seed=seed, wrong=20 + seed)
        translated(root, "syntax", 30.0 - seed, seed=seed, wrong=2, features=ALL)
    tables = {
        over: lay_out([root], ["fractions"], test=Significance(over, samples=100))
        for over in (SEEDS, EXAMPLES)
    }
    assert "Welch" in tables[SEEDS][0][0]
    assert "Welch" not in tables[EXAMPLES][0][0]
    assert "bootstrap over examples" in tables[EXAMPLES][0][0]
    assert tables[SEEDS][1] != tables[EXAMPLES][1]


@pytest.mark.parametrize(
    ("names", "remark"),
    [
        (("here.de", "here.de"), ""),
        (("here.de", "copy.de"), ""),
        (("here.de", "other.de"), "untested: unlike references"),
        (("here.de", ""), ""),
    ],
)
def test_sentences_are_compared_with_one_reference(root, tmp_path, names, remark):
    for name in ("here.de", "copy.de", "other.de"):
        lines = SENTENCES if name != "other.de" else SENTENCES[::-1]
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    folders = [translated(root, "baseline", 5.0, wrong=30)]
    folders.append(translated(root, "syntax", 30.0, wrong=2, features=ALL))
    for folder, name in zip(folders, names):
        path = folder / "score.test.json"
        about = json.loads(path.read_text()) | ({"reference": str(tmp_path / name)} if name else {})
        path.write_text(json.dumps(about))
    found = last_gain(root)
    assert found.mark == ("" if remark else "↑")
    assert found.detail == remark if remark else "over sentences" in found.detail


def test_seeds_without_deviation_are_not_tested(root):
    """Equal scores of all seeds would give p = 0 over seeds."""
    for seed in (1, 2):
        translated(root, "baseline", 20, seed=seed, fraction=0.5, features="none")
        translated(root, "syntax", 30, seed=seed, fraction=0.5, features="pos")
    found = fraction_table(read_runs(root), TEST).rows[0][-1]
    assert (found.mark, found.detail) == ("", "untested: no deviation between seeds")


def test_several_seeds_are_tested_against_each_other_and_one_over_sentences(root):
    for seed, luck in enumerate((0.0, 0.1, 0.2), start=1):
        translated(root, "baseline", 10 + luck, seed=seed)
        translated(root, "syntax", 12 + luck, seed=seed, features=ALL)
    translated(root, "baseline", 5, fraction=0.1, wrong=20)
    translated(root, "syntax", 7, fraction=0.1, features=ALL, wrong=4)
    translated(root, "baseline", 5, fraction=0.5)
    translated(root, "syntax", 7, fraction=0.5, features=ALL)
    few, untested, many = (row[-1] for row in fraction_table(read_runs(root), TEST).rows)
    assert ("over sentences" in few.detail, few.mark) == (True, "↑")
    assert ("over seeds" in many.detail, many.mark) == (True, "↑")
    assert (untested.detail, untested.mark) == ("", "")


def test_what_was_not_run_is_left_open(root):
    translated(root, "baseline", 8.51, fraction=0.05)
    translated(root, "syntax", 10.5, fraction=0.05, features=ALL)
    translated(root, "baseline", 16.0, fraction=0.1)
    assert texts(fraction_table(read_runs(root), TEST)) == [
        ["5 %", "–", "8.51", "10.50", "+1.99"],
        ["10 %", "–", "16.00", "–", "–"],
    ]


def test_the_setting_of_every_share_is_chosen_on_validation(root):
    for share, better in ((0.1, 8), (1.0, 20)):
        for width in (8, 20):
            own = {"choice": {"feature-embed-dim": width}, "features": ALL, "fraction": share}
            loss = 3.0 if width == better else 4.0
            translated(root, "syntax", 10 + width, loss=loss, **own)
    curves, what = share_curves(read_runs(root))
    assert curves == {"syntax": {0.1: [18], 1.0: [30]}}
    assert (what.metric, what.split) == ("bleu", "test")


def test_tasks_of_text_have_their_own_metric_in_percent(tmp_path):
    for share, value in ((0.1, 0.5), (1.0, 0.7)):
        for system, more in (("bert_plain_tiny", 0.0), ("bert_pos_tiny", 0.1)):
            own = {"options": {"arch": system}, "share": share, "choice": {"share": share}}
            finish(tmp_path, system, 2e-5, 1, value + more, **own)
    table = fraction_table(read_runs(tmp_path), TEST)
    assert texts(table) == [
        ["10 %", "–", "50.00", "60.00", "+10.00"],
        ["100 %", "–", "70.00", "80.00", "+10.00"],
    ]


def test_sizes_of_training_sets_are_told(root):
    translated(root, "baseline", 8.0, fraction=0.05, more={"examples": 1450})
    assert fraction_table(read_runs(root), TEST).rows[0][1].text == "1,450"


def test_every_score_is_a_line_and_compared_with_the_baseline_on_its_share(root):
    for share, seeds in ((0.5, (8.0, 8.1)), (1.0, (9.0, 9.1))):
        for seed, bleu in enumerate(seeds, start=1):
            translated(root, "baseline", bleu, seed=seed, fraction=share)
            translated(root, "syntax", bleu + 5 * seed, seed=seed, fraction=share, features=ALL)
    found = fraction_table(read_runs(root), TEST).scores
    told = [(line["system"], line["fraction"], line["p"] == line["p"]) for line in found]
    assert told == [
        (name, share, name == "syntax") for share in (0.5, 1.0) for name in ("baseline", "syntax")
    ]
