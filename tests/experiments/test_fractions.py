"""The table of a data-fraction sweep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairseq_plugins.experiments.fractions import format_table, read_scores


def _finish(folder: Path, percent: str, system: str, bleu: float, lines: int) -> None:
    run = folder / percent / system
    run.mkdir(parents=True)
    figures = {"bleu": bleu, "chrf": bleu + 20}
    system = {"figures": figures, "signatures": {"bleu": "sig"}, "sentences": 7}
    report = {"systems": [system], "reference": "test.de"}
    (run / "score.json").write_text(json.dumps(report))
    data = folder / percent / "data"
    data.mkdir(exist_ok=True)
    (data / "manifest.json").write_text(json.dumps({"splits": {"train": {"lines": lines}}}))


def test_read_scores_sorts_by_fraction_not_by_name(tmp_path):
    for percent in ("100", "5", "25"):
        _finish(tmp_path, percent, "baseline", 10.0, int(percent))
    rows = read_scores(tmp_path)
    assert [row["fraction"] for row in rows] == [0.05, 0.25, 1.0]
    assert [row["lines"] for row in rows] == [5, 25, 100]


def test_format_table_shows_gain_and_leaves_open_what_is_not_run(tmp_path):
    _finish(tmp_path, "5", "baseline", 8.51, 50)
    _finish(tmp_path, "5", "syntax", 10.5, 50)
    _finish(tmp_path, "10", "baseline", 16.0, 100)
    table = format_table(read_scores(tmp_path))
    assert "| 5 % | 50 | 8.51 | 10.50 | +1.99 |" in table
    assert "| 10 % | 100 | 16.00 | – | – |" in table
    assert "sig" in table
    assert "references: test.de" in table
    assert "7 sentences" in table


def test_read_scores_passes_over_folders_that_are_no_runs(tmp_path):
    _finish(tmp_path, "5", "baseline", 8.0, 50)
    _finish(tmp_path, "old", "baseline", 9.0, 50)
    _finish(tmp_path, "10", "notes", 9.0, 50)
    assert [row["fraction"] for row in read_scores(tmp_path)] == [0.05]


def test_read_scores_names_a_folder_without_runs(tmp_path):
    with pytest.raises(FileNotFoundError, match="no finished run"):
        read_scores(tmp_path)
