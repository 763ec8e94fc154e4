"""Combinations of source features, and their widths, as tables."""

from __future__ import annotations

import pytest
from lab.translated_runs import translated

from fairseq_plugins.lab.results.compare import EITHER, Significance
from fairseq_plugins.lab.results.frame import read_runs
from fairseq_plugins.lab.results.one_dataset import (
    feature_table,
    width_table,
)

TEST = Significance(EITHER, samples=200)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "multi30k"


def test_features_come_few_first_and_gain_over_none(root):
    translated(root, "all", 12.0, features="pos,case,subword", wrong=2)
    translated(root, "both", 9.5, features="pos,case", wrong=15)
    translated(root, "plain", 8.0, wrong=20)
    translated(root, "one", 7.0, features="subword", wrong=21)
    table = feature_table(read_runs(root), TEST)
    assert [row[0].text for row in table.rows] == [
        "none",
        "subword",
        "pos, case",
        "pos, case, subword",
    ]
    gains = [row[4] for row in table.rows]
    assert [cell.text for cell in gains] == ["–", "-1.00", "+1.50", "+4.00"]
    assert gains[-1].mark == "↑"
    assert "over sentences" in gains[-1].detail


def test_a_system_that_chooses_its_features_stands_once_with_the_best_on_validation(root):
    translated(root, "plain", 8.0, loss=4.0)
    for features, bleu, loss in (("pos", 12.0, 3.9), ("pos,case", 10.0, 3.5)):
        own = {"features": features, "choice": {"features": features}}
        translated(root, "syntax", bleu, loss=loss, **own)
    table = feature_table(read_runs(root), TEST)
    assert [row[0].text for row in table.rows] == ["none", "pos, case"]
    assert [row[4].text for row in table.rows] == ["–", "+2.00"]


def test_every_width_stands_with_its_gain_and_the_best_on_validation_is_named(root):
    translated(root, "baseline", 8.0)
    for width, loss in ((8, 3.9), (20, 3.5), (64, 3.7)):
        own = {"features": "pos,case,subword", "choice": {"feature-embed-dim": width}}
        translated(root, "sum", 8 + width / 10, loss=loss, **own)
    for widths, loss in (("4,2,2", 3.4), ("12,4,4", 3.6)):
        own = {"features": "pos,case,subword", "choice": {"feature-embed-dims": widths}}
        translated(root, "concat", 9.0, loss=loss, feature_combine="concat", **own)
    table = width_table(read_runs(root), TEST)
    found = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert [*found] == ["–", "8", "20", "64"]
    assert found["20"] == ["10.00", "+2.00", "3.500", "9.00", "+1.00", "3.600"]
    assert found["64"][3:] == ["–"] * 3
    assert found["–"][0] == found["–"][3] == "8.00"
    assert [note.rpartition(" ")[2] for note in table.notes] == ["20", "8"]
    assert len(table.scores) == 6


def test_without_a_system_that_has_no_features_nothing_is_gained(root):
    translated(root, "sum", 9.0, features="pos", choice={"feature-embed-dim": 8})
    (row,) = width_table(read_runs(root), TEST).rows
    assert [cell.text for cell in row] == ["8", "9.00", "–", "4.000"]


def test_a_width_stands_with_the_setting_that_is_best_on_validation(root):
    translated(root, "baseline", 8.0)
    for dropout, (bleu, loss) in {0.1: (9.0, 4.0), 0.2: (11.0, 3.0), 0.3: (10.0, 3.5)}.items():
        own = {"choice": {"feature-embed-dim": 8, "dropout": dropout}, "features": "pos"}
        translated(root, "sum", bleu, loss=loss, **own)
    table = width_table(read_runs(root), TEST)
    assert [row[1].text for row in table.rows] == ["8.00", "11.00"]
    assert len(table.scores) == 2


@pytest.mark.parametrize("make", [feature_table, width_table])
def test_without_runs_on_all_of_the_data_the_shares_are_named(make, root):
    for share in (0.5, 0.05):
        translated(root, "baseline", 8.0, fraction=share)
    with pytest.raises(ValueError, match=r"multi30k: .* 100 % .*; these are on 5 %, 50 %$"):
        make(read_runs(root), TEST)
