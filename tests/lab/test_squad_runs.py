"""Runs of question answering in grids: what decides them, what they leave, and their tables."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from lab.filled_tables import cells, column, table_of, tables_of
from lab.finished_questions import answered
from lab.toy_grids import manifest_of

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.example_answers import example_counts, read_answers
from fairseq_plugins.evaluation.example_bootstrap import bootstrap
from fairseq_plugins.lab.execution import training
from fairseq_plugins.lab.execution.machine import Machine
from fairseq_plugins.lab.execution.run import Run
from fairseq_plugins.lab.plan.grid import Grid, read_grid
from fairseq_plugins.lab.plan.prepared_data import PreparedData, read_folders, read_prepared
from fairseq_plugins.lab.plan.recipes import settings, total_updates, train_options
from fairseq_plugins.lab.results import squad_answers

COUNTS = dict.fromkeys(("train", "valid", "test"), (20, 20))
INPUTS = {"train": {"sha256": "t"}, "valid": {"sha256": "v"}}
MANIFEST = manifest_of("squad", "spans", COUNTS, metric="f1", inputs=INPUTS)
SYSTEMS = {
    "plain": {"arch": "bert_plain_tiny"},
    "more": {"arch": "bertqa_tiny", "data": "more", "lr": 2e-5},
}
# Stands for `answer`: answers "Lund" to everything.
PREDICT = """
import json, pathlib, sys
given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
lines = (pathlib.Path(given["--data"]) / (given["--split"] + ".examples.jsonl")).read_text()
folder = pathlib.Path(given["--output"])
folder.mkdir(parents=True, exist_ok=True)
ids = [json.loads(line)["id"] for line in lines.splitlines()]
(folder / "predictions.json").write_text(json.dumps(dict.fromkeys(ids, "Lund")))
metrics = {"exact": 50.0, "f1": 60.0, "best_f1": 70.0, "best_exact": 55.0, "best_f1_thresh": -1.5}
(folder / "metrics.json").write_text(json.dumps({"total": 2, **metrics}))
"""
QUESTIONS = [
    {"id": "one", "texts": ["Where?"], "answers": [{"text": "Lund", "answer_start": 0}]},
    {"id": "two", "texts": ["When?"], "answers": []},
]


def prepared(folder: Path, **changes) -> Path:
    """Write as much of a prepared folder as a grid reads."""
    folder.mkdir(parents=True)
    replace(MANIFEST, **changes).save(folder)
    for split in ("valid", "test"):
        lines = "".join(json.dumps(question) + "\n" for question in QUESTIONS)
        (folder / f"{split}.examples.jsonl").write_text(lines)
    return folder


def test_a_system_has_its_own_data_and_rate_and_fairseq_hears_of_neither(tmp_path):
    grid = Grid("squad", SYSTEMS, learning_rates=(1e-5, 2e-5, 3e-5), seeds=(1,))
    cells = [*grid.cells()]
    rates = [(cell.system, cell.setting.learning_rate) for cell in cells]
    assert rates.count(("more", 2e-5)) == 1
    assert sorted(rate for system, rate in rates if system == "plain") == [1e-5, 2e-5, 3e-5]
    more = next(cell for cell in cells if cell.system == "more")
    assert "lr2e-5" in str(more.folder)
    counts = manifest_of("squad", "spans", {**COUNTS, "train": (35, 35)}).splits
    prepared(tmp_path / "whole")
    prepared(tmp_path / "whole_more", splits=counts)
    data = read_folders(tmp_path / "whole", grid)
    own = data[grid.data_of("more")]
    assert (own.folder, own.examples) == (tmp_path / "whole_more", 35)
    assert data[grid.data_of("plain")].examples == 20
    path = str(tmp_path / "whole_more")
    named = replace(grid, systems={"more": {"arch": "a", "data": path}})
    assert read_folders(tmp_path / "whole", named)[path].examples == 35
    options = train_options(grid, more, own)
    assert options["lr"] == 2e-5
    assert "data" not in options
    first, second = (
        settings(grid, cell, data[grid.data_of(cell.system)]) for cell in (cells[0], more)
    )
    assert first["data"] != second["data"]
    assert first["validation_data"] == second["validation_data"] == "v"


def test_a_systems_rate_is_a_number_however_it_is_written(tmp_path):
    (tmp_path / "grid.yaml").write_text(
        "dataset: squad\nsystems: [{arch: bert_plain_tiny, lr: 2e-5}]\n"
    )
    grid = read_grid(tmp_path / "grid.yaml")
    assert {cell.setting.learning_rate for cell in grid.cells()} == {2e-5}
    (tmp_path / "grid.yaml").write_text(
        "dataset: squad\nsystems: [{arch: bert_plain_tiny, lr: high}]\n"
    )
    with pytest.raises(InputError, match="grid.yaml: systems: .*high"):
        read_grid(tmp_path / "grid.yaml")


def test_folders_with_other_validation_files_make_no_grid(tmp_path):
    prepared(tmp_path / "whole")
    prepared(tmp_path / "whole_more", inputs={"valid": {"sha256": "w"}})
    with pytest.raises(InputError, match=r"whole_more and .*whole have different files.*'valid'"):
        read_folders(tmp_path / "whole", Grid("squad", SYSTEMS))
    with pytest.raises(FileNotFoundError, match=r"fairseq-plugins prepare questions --raw-dir DIR"):
        read_prepared(tmp_path / "none", Grid("squad", SYSTEMS))


@pytest.mark.parametrize(
    ("size", "frequency", "updates"), [(6, 1, 8), (6, 3, 4), (2, 3, 8), (20, 2, 2), (3, 4, 4)]
)
def test_accumulated_batches_make_fewer_updates(size, frequency, updates):
    options = {"update-freq": frequency}
    grid = Grid("squad", SYSTEMS, batch_size=size, epochs=(2,), options=options)
    data = PreparedData(Path("x"), MANIFEST, "abc")
    assert total_updates(grid, next(grid.cells()), data) == updates
    for bad in (0, 1.5, "2"):
        grid = Grid("squad", SYSTEMS, options={"update-freq": bad})
        with pytest.raises(InputError, match="option 'update-freq' of plain"):
            total_updates(grid, next(grid.cells()), data)


class AnsweredRun(Run):
    """A run whose questions are answered by `PREDICT`."""

    def predictor(self):
        return [sys.executable, "-c", PREDICT]


@pytest.fixture
def run(tmp_path):
    """Return a run whose training is over but for its result."""
    data = PreparedData(prepared(tmp_path / "whole"), MANIFEST, "abc")
    grid = Grid("squad", SYSTEMS, learning_rates=(1e-5,), seeds=(1,), evaluate="test")
    return AnsweredRun(grid, next(grid.cells()), data, tmp_path, Machine(tmp_path / "jobs"))


def launch(command, log):
    subprocess.run(command, check=True)


def test_answers_become_rows_and_metrics(run):
    command = run.predict_command()
    assert command[-2:] == ["--output", str(run.folder / "predictions")]
    assert str(run.folder) in command
    launch([word for word in command if word != "--cpu"], None)
    rows = run.folder / "predictions.jsonl"
    squad_answers.write_rows(rows, run.data.folder / "valid.examples.jsonl")
    assert [json.loads(line) for line in rows.read_text().splitlines()] == [
        {"id": "one", "answer": "Lund", "gold": ["Lund"]},
        {"id": "two", "answer": "Lund", "gold": []},
    ]
    answers = read_answers(rows)
    counts = [example_counts(answers, "f1")]
    assert bootstrap(counts, counts, samples=5).difference == 0
    tuned = {"tuned_exact": 0.55, "tuned_f1": 0.7, "tuned_threshold": -1.5}
    assert squad_answers.tuned_metrics(rows) == tuned
    squad_answers.write_evaluation(rows, "test", run.folder / "evaluation.json")
    found = json.loads((run.folder / "evaluation.json").read_text())
    assert found == {"of": "test", "metrics": {"exact": 0.5, "f1": 0.6, **tuned}}
    (run.folder / "predictions" / "predictions.json").write_text('{"one": "Lund"}')
    with pytest.raises(InputError, match=r"valid.examples.jsonl, line 2: .*'two'"):
        squad_answers.write_rows(rows, run.data.folder / "valid.examples.jsonl")


def test_a_run_leaves_its_answers_and_the_tuned_metrics(run, monkeypatch):
    def train(command, log):
        if "--output" not in command:
            line = '"valid_f1": "0.6", "valid_best_f1": "0.6", "valid_num_updates": "3"'
            log.write_text(f"x | INFO | valid | {{{line}}}\n")
        else:
            launch([word for word in command if word != "--cpu"], log)

    done = iter((0, run.updates))
    monkeypatch.setattr(training, "updates_of", lambda path: next(done))
    monkeypatch.setattr(training, "strip", lambda path: None)
    training.execute(run, train)
    row = run.row()
    tuned = {"tuned_exact": 0.55, "tuned_f1": 0.7, "tuned_threshold": -1.5}
    assert row.best == {"f1": 0.6, **tuned}
    assert row.metrics["test"] == {"exact": 0.5, "f1": 0.6, **tuned}
    assert row.data == "v"
    assert len((run.folder / "evaluation.jsonl").read_text().splitlines()) == 2
    assert json.loads((run.folder / "evaluation.json").read_text())["of"] == "test"
    assert run.is_finished()


def test_table_2_has_the_papers_rows_with_its_figures_in_both_wirings(tmp_path):
    answered(tmp_path, "bert_plain_base", [0.74], "bert_plain_base")
    answered(tmp_path, "simple_skip_base", [0.75], "bertqa_literal_base")
    answered(tmp_path, "query_simple_skip_base", [0.76], "bertqa_base", tuned_exact=None)
    table = table_of([tmp_path], "bertqa2")
    assert column(table, "SQuAD (F1)") == {
        "BERT": "74.00 (1 seed · paper 74.15)",
        "Simple Skip": "75.00 (1 seed · +1.00 · paper 74.81)",
        "Simple Skip, query": "76.00 (1 seed · +2.00)",
    }
    assert column(table, "SQuAD (F1 tuned)")["Simple Skip"] == "77.00 (1 seed · +1.00)"
    assert "SQuAD (EM tuned)" not in cells(table)[0]  # which a run lacks
    assert "Chadha and Sood (2019), on 6,078 questions (half of" in table.caption


def test_table_3_compares_models_trained_on_other_data(tmp_path):
    answered(tmp_path, "bert_plain_large", [0.80, 0.81, 0.805], "bert_plain_large")
    answered(tmp_path, "model1_large", [0.9, 0.91, 0.905], "bertqa_literal_large", data="d")
    (table,) = tables_of([tmp_path])
    found = column(table, "SQuAD (F1)")["Model 1"]
    assert found == "90.50 ± 0.50 ↑ (3 seeds · +10.00 · p < 0.001 · paper 82.08)"
    assert "Table 3)" in table.title  # no system of Table 2 ran


def test_answers_are_made_up_for_without_training(run, monkeypatch):
    folder = run.folder
    folder.mkdir(parents=True)
    (folder / "checkpoint_best.pt").touch()
    (folder / "train.log").write_text('x | valid | {"valid_f1": "0.6", "valid_num_updates": "3"}\n')
    (folder / "settings.json").write_text(json.dumps(run.settings))
    (folder / "result.json").write_text("{}")  # of an earlier release: written anew
    silent = replace(run, predict=False)
    training.execute(silent, launch)
    assert silent.is_finished()
    assert not run.is_finished()
    training.execute(run, lambda command, log: launch([w for w in command if w != "--cpu"], log))
    assert run.is_finished()
    assert run.row().best["tuned_f1"] == 0.7
    assert (folder / "predictions.jsonl").is_file()
