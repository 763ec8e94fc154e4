"""Figures of the accelerator's benchmarks are kept as they come, and judged by their bars."""

from __future__ import annotations

import pytest

from benchmarks.gpu.figures import Figure, Recorder, read


@pytest.mark.parametrize(
    ("figure", "bar", "holds"),
    [(1.0, "<= 1.1", True), (1.2, "<= 1.1", False), (0.9, ">= 0.97", False), (None, "<= 1", None)],
)
def test_bar_decides_whether_a_figure_holds(figure, bar, holds):
    assert Figure("speed", "plain", figure, "ratio", bar=bar).holds is holds


def test_figures_are_added_to_what_a_file_holds(tmp_path):
    path = tmp_path / "new" / "figures.jsonl"
    for value in (1.0, 2.0):
        Recorder(path, "cpu").add(Figure("speed", "SLA", value, "ratio", (0.5, 2.5), "<= 1.1"))
    assert [line["figure"] for line in read(path)] == [1.0, 2.0]
    assert read(path)[0].keys() >= {"card", "torch", "commit", "python"}


def test_table_shows_a_missed_bar(tmp_path):
    recorder = Recorder(tmp_path / "figures.jsonl", "cpu")
    recorder.add(Figure("speed", "SLA", 1.3, "ratio", (1.2, 1.4), "<= 1.1"))
    assert "| speed | SLA | 1.3 ratio | 1.2 to 1.4 | <= 1.1 | **missed** |" in recorder.table()
