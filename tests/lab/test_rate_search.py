"""Searching for the learning rate: spacing, running, and what is reported."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lab.fake_runs import work_here
from lab.toy_grids import MANIFEST

from fairseq_plugins.lab.execution.rate_search import search, spaced
from fairseq_plugins.lab.execution.run import Run
from fairseq_plugins.lab.figures.plots import plot_rates
from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.prepared_data import PreparedData
from fairseq_plugins.lab.results import rate_trials
from fairseq_plugins.lab.results.rate_trials import RateTrial, best_trial, verdict

RATES = (1e-5, 1e-4, 1e-3)
# Stands for fairseq-train: the middle rate is best, the highest breaks down.
TRAIN = """
cp {made} {folder}/checkpoint_last.pt
cp {made} {folder}/checkpoint_best.pt
echo trained >> {folder}/count
if [ {rate} = 0.001 ]; then echo 'FloatingPointError: gradients are Nan/Inf'; exit 1; fi
echo 'x | valid | {{"valid_mcc": "{score}", "valid_loss": "0.7", "valid_num_updates": "{last}"}}'
exit {status}
"""


@dataclass(frozen=True)
class FakeRun(Run):
    """A run whose training is a shell script."""

    status: int = 0

    def train_command(self):
        rate, made = self.cell.learning_rate, self.root / "made"
        values = {"folder": self.folder, "made": made, "rate": rate, "last": self.updates}
        score = 0.8 if rate == 1e-4 else 0.5
        return ["bash", "-c", TRAIN.format(**values, score=score, status=self.status)]

    def shown_command(self):
        return "fairseq-train"


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Return a function that makes the runs of a search, which this process works off."""
    work_here(monkeypatch)

    def runs(status=0, epochs=1, **given):
        grid = Grid(
            "toy",
            {"a": {"arch": "a"}},
            learning_rates=given.get("rates", RATES),
            epochs=(epochs,),
            seeds=(1,),
        )
        data = PreparedData(tmp_path / "data", MANIFEST, "abc")
        cells = [*grid.cells()]
        found = [FakeRun(grid, cell, data, tmp_path, status=status) for cell in cells]
        state = {"optimizer_history": [{"num_updates": found[0].updates}], "model": {}}
        torch.save(state, tmp_path / "made")
        return found

    return runs


def trained(run):
    path = run.folder / "count"
    return len(path.read_text().split()) if path.exists() else 0


def test_every_rate_is_reported_and_a_breakdown_is_a_row(make):
    told = []
    trials, failures = search(make(), told.append)
    assert failures == []
    assert [trial.rate for trial in trials] == [*RATES]
    assert sorted(told, key=lambda trial: trial.rate) == trials
    assert [trial.score for trial in trials[:2]] == [0.5, 0.8]
    assert (trials[2].problem, trials[2].is_whole) == ("diverged", False)
    assert best_trial(trials).rate == 1e-4
    for run in make():
        assert not list(run.folder.glob("*.pt"))


def test_a_search_goes_on_and_repeats_nothing(make):
    search(make()[:1], lambda trial: None)
    told = []
    trials, _ = search(make(), told.append)
    assert told[0].rate == RATES[0]  # at once
    again, _ = search(make(), told.append)
    assert [repr(trial) for trial in again] == [repr(trial) for trial in trials]
    assert [trained(run) for run in make()] == [1, 1, 1]


def test_checkpoints_are_kept_if_wanted(make):
    search(make(), lambda trial: None, keep=True)
    assert (make()[1].folder / "checkpoint_best.pt").is_file()


def test_another_failure_is_told_and_tried_again(make):
    trials, failures = search(make(status=3)[:1], lambda trial: None)
    assert "exit status 3" in failures[0]
    assert trials[0].problem == "failed"
    trials, failures = search(make()[:1], lambda trial: None)
    assert (failures, trials[0].score) == ([], 0.5)


def test_other_settings_are_refused_before_anything_runs(make):
    search(make(epochs=1)[:1], lambda trial: None)
    runs = make()
    settings = runs[0].folder / "settings.json"
    settings.write_text(settings.read_text().replace('"seed": 1', '"seed": 2'))
    with pytest.raises(ValueError, match="other settings"):
        search(runs, lambda trial: None)
    assert not trained(runs[1])


@given(st.floats(1e-9, 1e-2), st.floats(1.5, 1e6), st.integers(2, 12))
def test_rates_are_evenly_spaced_in_their_logarithm(low, factor, count):
    rates = spaced(low, low * factor, count)
    assert len(rates) == count
    assert rates[0] == pytest.approx(low, rel=6e-3)
    assert rates[-1] == pytest.approx(low * factor, rel=6e-3)
    assert rates == sorted(rates)
    steps = [math.log(b / a) for a, b in zip(rates, rates[1:])]
    assert steps == pytest.approx([math.log(factor) / (count - 1)] * (count - 1), abs=0.011)


@pytest.mark.parametrize("bad", [(0, 1, 3), (1e-4, 1e-5, 3), (1e-5, 1e-4, 1), (1, math.nan, 3)])
def test_ranges_that_are_none_are_refused(bad):
    with pytest.raises(ValueError, match="expected 0 < low < high"):
        spaced(*bad)


def trial(rate, score=math.nan, loss=1.0, **more):
    return RateTrial("a", rate, more.pop("metric", "f1"), score, loss, score, 3, **more)


def test_the_best_rate_is_that_of_the_metric_then_of_the_loss():
    assert best_trial([trial(1, 0.5), trial(2, 0.7), trial(3, 0.6)]).rate == 2
    assert best_trial([trial(1, 0.5, 0.9), trial(2, 0.5, 0.8)]).rate == 2
    assert best_trial([trial(2, 0.5), trial(1, 0.5)]).rate == 1
    assert best_trial([trial(1, 0.5, metric="mse"), trial(2, 0.4, metric="mse")]).rate == 2
    assert best_trial([trial(1, 0.9, math.nan), trial(2, 0.1)]).rate == 2
    assert best_trial([trial(1, problem="diverged")]) is None


def test_a_best_rate_at_the_end_of_the_range_is_remarked():
    low, middle, high = trial(1e-5, 0.4), trial(1e-4, 0.6), trial(1e-3, 0.5)
    assert verdict([low, middle, high]) == "Best learning rate: 0.0001."
    assert "the highest that was tried" in verdict([low, middle])
    assert "the lowest that was tried" in verdict([middle, high])
    assert verdict([middle]) == "Best learning rate: 0.0001."
    assert "try lower ones" in verdict([trial(1.0, problem="diverged")])


def test_reports_say_the_same(tmp_path):
    trials = [trial(1e-5, 0.4), trial(1e-4, 0.6), trial(1e-3, problem="diverged")]
    text = rate_trials.format_summary(trials, 1234)
    order = [text.index(part) for part in ("| 0.0001 |", "| 1e-05 |", "| 0.001 | diverged |")]
    assert order == sorted(order)
    assert "1,234 training examples" in text
    found = json.loads(rate_trials.to_json(trials, 1234))
    assert (found["best"], found["trials"][2]["score"]) == ({"a": 1e-4}, None)
    rows = list(csv.DictReader(io.StringIO(rate_trials.to_csv(trials))))
    assert [row["score"] for row in rows] == ["0.4", "0.6", ""]
    paths: list[Path] = plot_rates(trials, tmp_path / "curve")
    svg = paths[1].read_text()
    assert "learning rate" in svg
    assert "0.0001" in svg
    assert "diverged" in rate_trials.format_trial(trials[2])
    with pytest.raises(ValueError, match="no trials"):
        plot_rates([], tmp_path / "none")
