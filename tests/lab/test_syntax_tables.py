"""Tables of BERT + POS on GLUE, and of the papers' parts together."""

from __future__ import annotations

import csv

import pytest
from lab.filled_tables import OVER_SEEDS, cells, fill, parts_of, table_of
from lab.finished_runs import finish
from lab.translated_runs import translated

from fairseq_plugins.lab.results.experiment_tables import lay_out
from fairseq_plugins.lab.results.layouts import labels, layouts
from fairseq_plugins.lab.results.paper_tables import Row, make_tables
from fairseq_plugins.lab.results.table_names import check_names, table_names

PLAIN, POS = "bert_plain_minilm", "bert_pos_minilm"
KINDS = layouts()["composition"].own
PARTS = ("pos", "sla", "dual", "coattention")


def test_papers_averages_are_what_it_prints():
    layout = layouts()["syntax2"]
    means = [round(layout.paper_average("base", kind), 1) for kind in ("bert_plain", "bert_pos")]
    assert means == [79.6, 79.7]  # MNLI counts twice
    better = [
        column.title
        for column in layout.columns
        if list(layout.figures("base", "bert_pos", column).values())[-1]
        > list(layout.figures("base", "bert_plain", column).values())[-1]
    ]
    assert better == ["QQP", "SST-2", "CoLA", "RTE"]  # four of eight, as the text says


def test_bert_and_pos_stand_in_a_table_of_their_own_and_in_those_of_others(tmp_path):
    fill(
        tmp_path, "rte", "accuracy", {PLAIN: [0.5, 0.51], POS: [0.6, 0.61], "dabert_minilm": [0.7]}
    )
    found = {
        table.layout.title: table for table in make_tables(parts_of([tmp_path]), "", OVER_SEEDS)
    }
    kinds = {title: [row.kind for row in table.rows] for title, table in found.items()}
    assert kinds[layouts()["syntax2"].title] == ["bert_plain", "bert_pos"]
    assert kinds[layouts()["dabert1"].title] == ["bert_plain", "bert_pos", "dabert"]
    assert cells(found[layouts()["syntax2"].title])[-1] == [
        "+ POS",
        "–",
        "60.50 (0.71) ↑ [66.9]",
        "2",
    ]


def composed(root, **scores):
    """Write runs of systems called after their parts."""
    for name, values in scores.items():
        for seed, value in enumerate(values, start=1):
            own = {"dataset": "rte", "options": {"arch": "bert_plain_minilm"}, "parameters": 10**7}
            own["parameters"] += 1000 * name.count("_")
            finish(root, f"{name}_minilm", 5e-5, seed, value, metric="accuracy", **own)


def test_every_combination_has_its_row_and_is_compared_with_the_plain_one(tmp_path):
    scores = {name: (0.5, 0.51) for name in KINDS if "coattention" not in name}
    composed(tmp_path, **{**scores, "pos_sla_dual": (0.7, 0.71)})
    (table,) = make_tables(parts_of([tmp_path]), "", OVER_SEEDS)
    assert table.layout is layouts()["composition"]
    found = {row[0]: row for row in cells(table)[1:]}
    assert len(found) == 8
    assert "↑" in found["+ POS, SLA, dual attention"][2]
    assert found["+ POS, SLA, dual attention"][1] == "+0.0020M"
    assert not any("↑" in row[2] for label, row in found.items() if label.count(",") < 2)


def test_a_name_of_parts_means_them_only_in_a_plain_architecture(tmp_path):
    finish(tmp_path, "sla_minilm", 5e-5, 1, 0.5, dataset="rte", options={"arch": "bert_sla_minilm"})
    (row,) = table_of([tmp_path], "sla2").rows
    assert row == Row("minilm", "bert_sla", "sla_minilm")


def test_names_of_combinations_are_all_subsets_and_take_no_other_kinds_name():
    assert len(KINDS) == 2 ** len(PARTS)
    kinds = {kind for one in layouts().values() for kind in one.own} - set(KINDS)
    assert not kinds & set(KINDS)
    for kind in KINDS[1:]:
        assert labels()[kind].count(",") == kind.count("_")


def test_runs_on_a_share_of_the_data_stand_in_no_papers_table(tmp_path):
    fill(tmp_path, "rte", "accuracy", {PLAIN: [0.5]})
    for share in (0.1, 0.5):
        own = {"dataset": "rte", "share": share, "choice": {"x": share}}
        finish(tmp_path, POS, 5e-5, 1, 0.9, options={"arch": POS}, **own)
    assert [row.kind for row in table_of([tmp_path], "syntax2").rows] == ["bert_plain"]


def test_all_that_fits_is_laid_out_unasked(tmp_path):
    fill(tmp_path / "rte", "rte", "accuracy", {PLAIN: [0.5], POS: [0.6]})
    translated(tmp_path / "multi30k", "baseline", 8.0, fraction=0.5)
    translated(tmp_path / "multi30k", "baseline", 9.0)
    texts, table = lay_out([tmp_path])
    assert len(texts) == 2
    assert "GLUE" in texts[0]
    assert "| 50 % |" in texts[1]
    rows = list(csv.reader(table.splitlines()))
    assert len(rows) == 1 + 2 + 2
    assert all(len(row) == len(rows[0]) for row in rows)


def test_a_demo_has_no_figures_of_papers(tmp_path):
    root = tmp_path / "glue_demo"
    fill(root, "rte", "accuracy", {PLAIN: [0.5], POS: [0.6]})
    texts, _ = lay_out([root])
    assert "[66" not in texts[0]


def test_unknown_and_unfitting_tables_are_refused(tmp_path):
    fill(tmp_path, "rte", "accuracy", {PLAIN: [0.5]})
    with pytest.raises(ValueError, match="'sla9': choices are bertqa1, sla1"):
        check_names(["sla9"])
    for name, message in (
        ("features", "is of translation; the runs are on rte"),
        ("sla3", "none of these runs stands in it"),
        ("bertqa1", "no run is called model1"),
    ):
        with pytest.raises(ValueError, match=message):
            lay_out([tmp_path], [name])
    check_names(table_names())


def test_nothing_is_tested_of_equal_seeds(tmp_path):
    translated(tmp_path, "baseline", 8.0)
    translated(tmp_path, "pos", 9.0, features="pos")
    (one,) = parts_of([tmp_path])
    texts, table = lay_out([tmp_path], ["features"])
    assert {*one.dataset} == {"translation"}
    assert "| +1.00 |" in texts[0]
    assert {row["p"] for row in csv.DictReader(table.splitlines())} == {""}
