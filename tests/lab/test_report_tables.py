"""Tables of a report: what their cells say, what is chosen, what is compared."""

from __future__ import annotations

import pytest
from lab.finished_runs import finish
from lab.report_runs import PLAIN, SLA, experiment, part_of

from fairseq_plugins.lab.report.making import ReportOptions, all_tables, comparison_tables
from fairseq_plugins.lab.results.choice import chosen_finished
from fairseq_plugins.lab.results.compare import Significance
from fairseq_plugins.lab.results.frame import read_experiments, read_runs
from fairseq_plugins.lab.results.setting_tables import every_setting
from fairseq_plugins.lab.results.tables import (
    ResultTable,
    TableCell,
    headings,
    table_lines,
)

DRAWN = Significance(samples=20)
BASE = {PLAIN.replace("tiny", "base"): [0.5, 0.51, 0.52], SLA.replace("tiny", "base"): [0.6] * 3}


def column_of(table, title):
    place = [head.text for head in table.headings].index(title)
    return {row[0].text: row[place] for row in table.rows}


def records_of(root):
    (one,) = read_experiments(root)[0]
    return one.runs


def chosen_of(root):
    """Return system -> its runs at the chosen setting."""
    return chosen_finished(records_of(root))


@pytest.mark.parametrize("paper", [True, False])
def test_the_papers_figures_can_be_left_out(tmp_path, paper):
    part_of(tmp_path / "cola", "cola", "mcc", BASE)
    (one,) = read_experiments(tmp_path)[0]
    found = [read_runs(tmp_path)]
    table = all_tables(one, found, ReportOptions(paper=paper), [])[0]
    assert any("paper" in cell.detail for row in table.rows for cell in row) == paper


def test_one_seed_a_side_is_tested_over_examples(tmp_path):
    scores = {name: values[:1] for name, values in BASE.items()}
    part_of(tmp_path / "sst2", "sst2", "accuracy", scores)
    (one,) = read_experiments(tmp_path)[0]
    found = [read_runs(tmp_path)]
    table = all_tables(one, found, ReportOptions(samples=20), [])[0]
    assert "bootstrap over examples (20 samples" in table.caption
    assert " · p " in column_of(table, "SST-2")["+ SLA"].detail


def test_every_setting_has_a_line_and_each_system_one_choice(tmp_path):
    part_of(tmp_path / "cola", "cola", "mcc", {PLAIN: [0.5], SLA: [0.6]})
    part_of(tmp_path / "cola", "cola", "mcc", {SLA: [0.7, 0.7]}, choice={"window": 4})
    (table,) = every_setting("all", records_of(tmp_path))
    told = [(row[0].text, row[0].detail, row[4].text) for row in table.rows]
    assert sorted(told) == [(PLAIN, "", "✓"), (SLA, "", ""), (SLA, "window 4", "✓")]


def test_every_split_that_runs_were_tried_on_has_its_own_column(tmp_path):
    """A mean over two splits would be of nothing."""
    for seed, tested in enumerate(("test", "hard", "test", ""), start=1):
        own = {"evaluation": {"accuracy": 0.1 * seed}, "tested": tested} if tested else {}
        finish(tmp_path, PLAIN, 2e-5, seed, 0.5, **own)
    (table,) = every_setting("all", records_of(tmp_path))
    shown = dict(zip(((head.text, head.detail) for head in table.headings), table.rows[0]))
    assert shown["accuracy", "test"].value == pytest.approx(20)  # of seeds 1 and 3
    assert shown["accuracy", "hard"].value == pytest.approx(20)  # of seed 2
    assert "2 seeds" in shown["accuracy", "test"].detail
    assert "1 seed" in shown["accuracy", "hard"].detail


def test_names_from_elsewhere_stay_within_their_cell():
    rows = [[TableCell("a|b"), TableCell("<img src=x>"), TableCell("bert_plain [1](x)")]]
    (_, _, line) = table_lines(ResultTable("t", headings(*"abc"), rows, ""))
    assert line == r"| a\|b | \<img src=x> | bert_plain [1]\(x) |"


def test_systems_are_compared_with_the_baseline(tmp_path):
    part_of(tmp_path / "cola", "cola", "accuracy", {PLAIN: [0.5, 0.52], SLA: [0.6, 0.62]})
    found = read_runs(tmp_path)
    (table,) = comparison_tables(found, "", DRAWN)
    assert [row[0].text for row in table.rows] == [SLA]
    assert table.rows[0][1].value == pytest.approx(10)
    (turned,) = comparison_tables(found, SLA, DRAWN)
    assert turned.rows[0][1].value == pytest.approx(-10)
    assert comparison_tables(found, "nothing", DRAWN) == []


def test_a_table_that_nobody_knows_is_a_remark(tmp_path):
    root, remarks = experiment(tmp_path / "toy"), []
    text = (root / "experiment.json").read_text()
    (root / "experiment.json").write_text(text.replace('"sla1"', '"sla1", "tabel9"'))
    (one,) = read_experiments(root)[0]
    found = [read_runs(root / name) for name in one.parts]
    tables = all_tables(one, found, ReportOptions(samples=20), remarks)
    assert any("tabel9" in remark for remark in remarks)
    assert tables
