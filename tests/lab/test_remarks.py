"""Runs that were cut short and invented corpora say so in tables, and short runs are not tested."""

from __future__ import annotations

from html import unescape

import pytest
from lab.filled_tables import fill

from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.grid_selection import smoke
from fairseq_plugins.lab.report.making import ReportOptions, write_report
from fairseq_plugins.lab.results.experiment_tables import lay_out

SYSTEMS = {"bert_plain_tiny": (0.5, 0.51, 0.52), "bert_sla_tiny": (0.8, 0.83, 0.81)}


@pytest.mark.parametrize(
    ("marks", "said"),
    [({}, ""), ({"trial": "smoke"}, "Smoke test"), ({"trial": "quick"}, "Quick trial")],
)
def test_only_whole_runs_have_arrows_and_p_values(tmp_path, marks, said):
    fill(tmp_path, "cola", "mcc", SYSTEMS, note="All made up.", **marks)
    (table,) = lay_out([tmp_path], ["sla1"])
    page, *_ = write_report(tmp_path, options=ReportOptions(samples=20))
    for text in (table, unescape(page.read_text())):
        assert "All made up." in text
        assert said in text
        assert ("· p < 0.001" in text or "p 0.0" in text or "↑ (" in text) == (not marks)


def test_tables_say_how_text_became_words(tmp_path):
    fill(tmp_path / "cola", "cola", "mcc", SYSTEMS, made_of={"words": "spacy"})
    fill(tmp_path / "rte", "rte", "accuracy", SYSTEMS, made_of={"words": "whitespace"})
    (table, *_) = lay_out([tmp_path])
    assert "Words: spacy (cola); whitespace (rte)." in table
    fill(tmp_path / "sst2", "sst2", "accuracy", SYSTEMS)  # of an older release
    (table, *_) = lay_out([tmp_path])
    assert "Words: spacy (cola); whitespace (rte); not said (sst2)." in table
    (table, *_) = lay_out([tmp_path / "sst2"])
    assert "Words:" not in table


def test_smoke_marks_what_it_cuts_short():
    grid = Grid("toy", {"a": {"arch": "a_tiny"}}, epochs=(3,))
    assert (grid.trial, smoke(grid).trial) == ("", "smoke")
