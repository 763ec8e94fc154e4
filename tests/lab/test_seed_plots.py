"""Every seed a dot: as many as there are runs, and where they stand in a report."""

from __future__ import annotations

import math
import re
from itertools import combinations

import pytest
from lab.report_runs import PLAIN, SLA, part_of

from fairseq_plugins.lab.figures.seed_plots import plot_seeds, spread
from fairseq_plugins.lab.report.making import ReportOptions, write_report
from fairseq_plugins.lab.results.seeds import Shown

SCORES = {SLA: [0.4, 0.45, 0.41], PLAIN: [0.3, 0.36, 0.31], "bert_pos_tiny": [0.33]}
VALID = Shown("mcc", "valid")


def dots_in(path):
    """Return how many dots each row of an SVG has, from the top."""
    groups = re.findall(r'<g id="PathCollection_\d+">(.*?)</g>\s*</g>', path.read_text(), re.S)
    return [group.count("<use ") for group in groups]


def rows_in(path):
    """Return what the rows of an SVG are called, from the top."""
    return re.findall(
        r">([^<>]*)</(?:text|tspan)>\s*<(?:text|tspan)[^>]*>\d+ seeds?", path.read_text()
    )


@pytest.mark.parametrize("scores", [SCORES, {"one": [0.5]}, {"a": [0.5] * 12, "b": [0.5, 0.6]}])
def test_there_are_as_many_dots_as_runs(tmp_path, scores):
    _, path = plot_seeds(scores, tmp_path / "seeds", VALID)
    assert dots_in(path) == list(map(len, scores.values()))
    text = path.read_text()
    assert rows_in(path) == list(scores)
    assert ">MCC × 100, valid</text>" in text
    assert ("the mean of the seeds" in text) == (max(map(len, scores.values())) > 1)


def test_a_score_that_is_no_number_is_told_of(tmp_path):
    _, path = plot_seeds({"a": [0.5, math.nan], "b": [math.inf]}, tmp_path / "x", VALID)
    assert sum(dots_in(path)) == 1
    assert path.read_text().count("1 without a number") == 2
    with pytest.raises(ValueError, match="no scores"):
        plot_seeds({}, tmp_path / "y", VALID)


@pytest.mark.parametrize("values", [[0.5] * 10, [0.1, 0.1, 0.9], [3, 1, 2.05, 2, 2.1, 1]])
def test_dots_that_would_cover_each_other_stand_apart(values):
    places = list(zip(values, spread(values, 0.2)))
    assert len(set(places)) == len(values)
    assert not any(
        level == other and abs(one - two) <= 0.2
        for (one, level), (two, other) in combinations(places, 2)
    )
    assert spread([1, 2, 3], 0.2) == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "drawn"),
    [(SCORES, True), ({PLAIN: [0.3], SLA: [0.4]}, False), ({PLAIN: [0.3, 0.4]}, False)],
)
def test_the_report_shows_seeds_where_several_systems_have_several(tmp_path, scores, drawn):
    for split, baseline in (("valid", ""), ("test", SLA)):
        root = tmp_path / split
        tested = {"evaluation": {"mcc": 0.2}} if split == "test" else {}
        part_of(root, "cola", "mcc", scores, **tested)
        _, report = write_report(root, options=ReportOptions(samples=10, baseline=baseline * drawn))
        found = [one for one in report.chapters[0].figures if one.title.endswith(": seeds")]
        assert len(found) == drawn
        for figure in found:
            dots = dict(zip(rows_in(figure.path), dots_in(figure.path)))
            assert dots == {name: len(values) for name, values in scores.items()}
            assert next(iter(dots)) == (SLA if baseline else PLAIN)
            assert figure.caption.startswith(f"mcc, {split}: every seed a dot")
        assert report.remarks == []
