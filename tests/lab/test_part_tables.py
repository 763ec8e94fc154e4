"""Tables of one dataset: by share of the data, or by source features."""

from __future__ import annotations

import json
import re

import pytest
from lab.filled_tables import cells, fill
from lab.finished_runs import finish
from lab.translated_runs import SENTENCES, translated

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.results.compare import EITHER, Significance
from fairseq_plugins.lab.results.experiment_tables import lay_out
from fairseq_plugins.lab.results.frame import read_runs
from fairseq_plugins.lab.results.layouts import part_layouts
from fairseq_plugins.lab.results.part_tables import part_table, share_curves

TEST = Significance(EITHER, samples=200)
ALL = "pos,case,subword"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "multi30k"


def table_of(root, name="fractions"):
    (table,) = part_table(read_runs(root), part_layouts()[name], TEST)
    return table


def last(root):
    """Return the last cell of the last row."""
    return table_of(root).rows[-1][-1]


def gains(root, name="fractions", place=-1):
    return [row[place].detail.split(" · ")[1:2] for row in table_of(root, name).rows]


def test_shares_rise_by_number_and_the_gain_is_over_the_system_without_features(root):
    for share, (baseline, syntax) in {1.0: (20, 21), 0.05: (8, 10.5), 0.5: (15, 15)}.items():
        translated(root, "syntax", syntax, fraction=share, features=ALL, more={"examples": 1450})
        translated(root, "zero", baseline, fraction=share)  # no features, whatever it is called
    assert cells(table_of(root)) == [
        ["share", "examples", "zero (bleu, test)", "syntax (bleu, test)"],
        ["5 %", "1,450", "8.00 (1 seed)", "10.50 (1 seed · +2.50)"],
        ["50 %", "1,450", "15.00 (1 seed)", "15.00 (1 seed · +0.00)"],
        ["100 %", "1,450", "20.00 (1 seed)", "21.00 (1 seed · +1.00)"],
    ]
    assert table_of(root).title == "multi30k: bleu by share of the training data"


@pytest.mark.parametrize(
    ("name", "told"), [("wmt14_en_de", True), ("wmt14_demo", False), ("multi30k", False)]
)
def test_the_papers_figures_stand_beside_its_systems_on_its_data(tmp_path, name, told):
    root = tmp_path / name
    paper = part_layouts()["fractions"].paper
    for share in paper:
        translated(root, "baseline", 9.0, fraction=share)
        translated(root, "syntax", 9.0, fraction=share, features=ALL)
    translated(root, "pos", 9.0, features="pos")
    (text, *_) = lay_out([root], ["fractions"])
    assert ("newstest2014" in text) == told
    assert text.count("· paper ") == told * 2 * len(paper)
    assert ("28.94" in text) == ("paper 1.67" in text) == told
    assert "· paper " not in lay_out([root], ["fractions"], paper=False)[0]


def test_what_was_not_run_is_left_open(root):
    translated(root, "baseline", 8.51, fraction=0.05)
    translated(root, "syntax", 10.5, fraction=0.05, features=ALL)
    translated(root, "baseline", 16.0, fraction=0.1)
    found = [[cell.text for cell in row] for row in table_of(root).rows]
    assert found == [["5 %", "–", "8.51", "10.50"], ["10 %", "–", "16.00", "–"]]


def test_one_seed_is_tested_over_sentences_and_several_against_each_other(root):
    for seed, luck in enumerate((0.0, 0.1, 0.2), start=1):
        translated(root, "baseline", 10 + luck, seed=seed)
        translated(root, "syntax", 12 + luck, seed=seed, features=ALL)
        translated(root, "baseline", 20, seed=seed, fraction=0.7)
        translated(root, "syntax", 30, seed=seed, fraction=0.7, features=ALL)
    translated(root, "baseline", 5, fraction=0.1, wrong=20)
    translated(root, "syntax", 7, fraction=0.1, features=ALL, wrong=4)
    translated(root, "baseline", 5, fraction=0.5)
    translated(root, "syntax", 7, fraction=0.5, features=ALL)
    few, untested, equal, many = (row[-1] for row in table_of(root).rows)
    assert ("over sentences" in few.detail, few.mark) == (True, "↑")
    assert ("· p < 0.001" in many.detail, many.mark) == (True, "↑")
    assert (untested.detail, untested.mark) == ("1 seed · +2.00", "")
    assert equal.detail.endswith("untested: no deviation between seeds")


def test_the_difference_of_the_one_seed_that_was_tested_is_told(root):
    for seed, wrong in ((1, 5), (2, 39)):
        translated(root, "baseline", 5.0, seed=seed, wrong=wrong)
    translated(root, "syntax", 30.0, features=ALL, wrong=15)
    assert re.search(
        r"\+\d+\.\d+ · p .* over sentences of the seeds of both \(-\d", last(root).detail
    )
    assert last(root).mark == "↓"  # of the seed that was tested, whatever the others are
    translated(root, "pos", 15.0, seed=3, wrong=0, features="pos")
    assert table_of(root).rows[0][3].detail.endswith(" · untested: no seed of both")


@pytest.mark.parametrize(
    ("other", "remark"), [("copy.de", ""), ("other.de", "untested: other examples"), ("", "")]
)
def test_sentences_are_compared_with_one_reference(root, tmp_path, other, remark):
    for name in ("here.de", "copy.de", "other.de"):
        first = SENTENCES[0].replace("vielen", "wenigen" if name == "other.de" else "vielen")
        lines = [first, *SENTENCES[1:]]  # which no system has right
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    folders = [translated(root, "baseline", 5.0, wrong=30)]
    folders.append(translated(root, "syntax", 30.0, wrong=2, features=ALL))
    for folder, name in zip(folders, ("here.de", other)):
        path = folder / "score.test.json"
        about = json.loads(path.read_text()) | ({"reference": str(tmp_path / name)} if name else {})
        path.write_text(json.dumps(about))
    assert last(root).mark == ("" if remark else "↑")
    assert (remark or "over sentences") in last(root).detail


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
    found = [[cell.text for cell in row[2:]] for row in table_of(tmp_path).rows]
    assert found == [["50.00", "60.00"], ["70.00", "80.00"]]


def test_features_come_few_first_and_gain_over_none(root):
    translated(root, "all", 12.0, features=ALL, wrong=2)
    translated(root, "both", 9.5, features="pos,case", wrong=15)
    translated(root, "plain", 8.0, wrong=20)
    translated(root, "one", 7.0, features="subword", wrong=21)
    for features, loss in (("pos", 3.9), ("pos", 3.5)):
        own = {"features": features, "choice": {"dropout": loss}}
        translated(root, "chooses", 10 - loss, loss=loss, **own)
    rows = table_of(root, "features").rows
    names = ["none", "pos", "subword", "pos, case", "pos, case, subword"]
    assert [row[0].text for row in rows] == names
    assert [gain[0] for (gain,) in gains(root, "features")[1:]] == ["-", "-", "+", "+"]
    assert rows[-1][-1].mark == "↑"
    assert "over sentences · loss 4.000" in rows[-1][-1].detail
    assert "loss 3.500" in rows[1][-1].detail  # the best on validation


def test_without_runs_on_all_of_the_data_the_shares_are_named(root):
    for share in (0.5, 0.05):
        translated(root, "baseline", 8.0, fraction=share)
    with pytest.raises(InputError, match=r"multi30k: .* 100 % .*; these are on 5 %, 50 %$"):
        table_of(root, "features")


def test_all_that_fits_is_laid_out_unasked(tmp_path):
    scores = {"bert_plain_minilm": [0.5], "bert_pos_minilm": [0.6]}
    fill(tmp_path / "rte", "rte", "accuracy", scores)
    translated(tmp_path / "multi30k", "baseline", 8.0, fraction=0.5)
    translated(tmp_path / "multi30k", "baseline", 9.0)
    texts = lay_out([tmp_path])
    assert [text.partition("\n")[0].partition(" (")[0] for text in texts] == [
        "**BERT and BERT + POS on GLUE",
        "**multi30k: bleu by share of the training data**",
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sla9", "'sla9': choices are sla1"),
        ("features", "a table of features is of translation, not of rte"),
    ],
)
def test_unknown_and_unfitting_tables_are_refused(tmp_path, name, message):
    fill(tmp_path, "rte", "accuracy", {"bert_plain_minilm": [0.5]})
    with pytest.raises(InputError, match=message):
        lay_out([tmp_path], [name])
