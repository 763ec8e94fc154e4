"""Grids: files, cells, options of fairseq-train."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fairseq.optim import OPTIMIZER_REGISTRY
from fairseq.optim.lr_scheduler import LR_SCHEDULER_REGISTRY
from lab.toy_grids import OPEN, SYSTEMS

import fairseq_plugins.tasks  # noqa: F401  registers everything
from fairseq_plugins.lab.plan.allowed import command_line
from fairseq_plugins.lab.plan.grid import Cell, Grid, read_grid
from fairseq_plugins.lab.plan.prepared_data import read_prepared
from fairseq_plugins.lab.plan.recipes import settings, total_updates, train_options
from fairseq_plugins.lab.rows import Setting


def written(tmp_path, text):
    path = tmp_path / "grid.yaml"
    path.write_text(text)
    return path


def test_grid_file_reads_numbers_systems_and_options(tmp_path):
    grid = read_grid(
        written(
            tmp_path,
            "dataset: cola\n"
            "systems: [bert_plain_tiny, {name: zero, arch: bert_plain_base, feature-init: zero}]\n"
            "learning_rates: [5e-5, 0.00002]\nepochs: 3\nseeds: [1]\n"
            "options: {max-positions: 99}\n",
        )
    )
    assert grid.systems == {
        "bert_plain_tiny": {"arch": "bert_plain_tiny"},
        "zero": {"arch": "bert_plain_base", "feature-init": "zero"},
    }
    assert grid.learning_rates == (5e-5, 2e-5)
    assert (grid.epochs, grid.seeds, grid.options) == ((3,), (1,), {"max-positions": 99})
    assert (grid.batch_size, grid.warmup_ratio) == (32, 0.1)


GOOD = "dataset: cola\nsystems: [bert_plain_tiny]\n"


def test_what_is_left_empty_is_not_there(tmp_path):
    empty = "".join(f"{key}:\n" for key in ("metric", "evaluate", "prepare"))
    assert read_grid(written(tmp_path, GOOD + empty)) == read_grid(written(tmp_path, GOOD))


def test_cells_are_the_whole_product_each_with_its_own_folder():
    grid = Grid("toy", SYSTEMS, learning_rates=(5e-5, 2e-5, 1e-4), epochs=(3, 5), seeds=(1, 2))
    cells = list(grid.cells())
    assert len(cells) == len({cell.folder for cell in cells}) == 2 * 3 * 2 * 2
    assert {cell.seed for cell in cells[:12]} == {1}  # whole comparisons come first
    assert Cell(Setting("plain", 5e-5, 3), 1).folder == Path("plain/lr5e-5-epochs3/seed1")


def test_every_value_of_a_choice_is_run_and_named():
    grid = Grid("toy", OPEN, learning_rates=(5e-5,), seeds=(1, 2))
    cells = [cell for cell in grid.cells() if cell.seed == 1]
    assert [str(cell.folder) for cell in cells] == [
        "plain/lr5e-5-epochs3/seed1",
        "sla/lr5e-5-epochs3-tree-threshold3/seed1",
        "sla/lr5e-5-epochs3-tree-threshold4/seed1",
    ]
    two = Grid("toy", {"s": {"arch": "a", "window": [3, 4], "gate-bias-init": [0.0, -4.0]}})
    assert len({cell.folder for cell in two.cells() if cell.seed == 1}) == 4 * 4


def test_a_choice_is_an_option_of_its_runs_and_stands_in_their_record(folder):
    grid = Grid("toy", OPEN)
    data = read_prepared(folder(), grid)
    plain, three, four = [*grid.cells()][:3]
    assert train_options(grid, four, data)["tree-threshold"] == 4
    assert train_options(grid, four, data)["x"] == 1
    assert "tree-threshold" not in train_options(grid, plain, data)
    found = settings(grid, three, data)
    assert (found["system"], found["choice"]) == ("sla", {"tree-threshold": 3})
    assert json.loads(json.dumps(found)) == found
    # what was run before there were choices is what it was
    assert "choice" not in settings(grid, plain, data)


def test_updates_are_whole_epochs_with_their_last_batches(folder):
    grid = Grid("toy", SYSTEMS, batch_size=32)
    data = read_prepared(folder(), grid)
    assert total_updates(grid, Cell(Setting("plain", 1e-5, 4), 1), data) == 3 * 4


def test_options_name_our_parts_and_a_systems_own_options_win(folder):
    grid = Grid("toy", SYSTEMS, options={"clip-norm": 7.5, "fp16": True}, validate_every=50)
    data = read_prepared(folder(), grid)
    options = train_options(grid, Cell(Setting("zero", 2e-5, 1), 9), data)
    assert options["optimizer"] in OPTIMIZER_REGISTRY
    assert options["lr-scheduler"] in LR_SCHEDULER_REGISTRY
    assert (options["feature-init"], options["clip-norm"]) == ("zero", 7.5)
    assert (options["seed"], options["lr"], options["max-update"]) == (9, 2e-5, 3)
    assert options["best-checkpoint-metric"] == "mcc"
    assert options["validate-interval-updates"] == options["save-interval-updates"] == 50
    words = command_line({**options, "cpu": False, "x": None})
    assert words[words.index("--lr") + 1] == "2e-05"
    assert "--fp16" in words
    assert "--maximize-best-checkpoint-metric" in words
    assert not {"True", "--cpu", "--x"} & set(words)


def test_a_metric_that_should_fall_is_not_maximized(folder):
    grid = Grid("toy", SYSTEMS, metric="mse")
    data = read_prepared(folder(target="score", metric="pearson"), grid)
    options = train_options(grid, next(grid.cells()), data)
    assert options["maximize-best-checkpoint-metric"] is False


def test_settings_change_with_everything_that_decides_a_run(folder):
    grid = Grid("toy", SYSTEMS)
    cell, data = Cell(Setting("plain", 5e-5, 3), 1), read_prepared(folder(), grid)
    own = settings(grid, cell, data)
    assert json.loads(json.dumps(own)) == own
    others = [
        settings(Grid("toy", SYSTEMS, weight_decay=0.1), cell, data),
        settings(Grid("toy", SYSTEMS, options={"dropout": 0.2}), cell, data),
        settings(grid, Cell(Setting("plain", 5e-5, 3), 2), data),
        settings(grid, cell, read_prepared(folder(annotations=["pos"]), grid)),
    ]
    assert all(other != own for other in others)


@pytest.mark.parametrize(
    ("changes", "grid", "message"),
    [
        ({"dataset": "rte"}, Grid("toy", SYSTEMS), "holds 'rte', expected 'toy'"),
        ({"target": None}, Grid("toy", SYSTEMS), "holds 'toy'"),
        ({}, Grid("toy", SYSTEMS, options={"valid-subset": "dev"}), "no labelled split 'dev'"),
        ({}, Grid("toy", SYSTEMS, options={"valid-subset": "test"}), "no labelled split 'test'"),
    ],
)
def test_prepared_folders_that_do_not_fit_are_refused(folder, changes, grid, message):
    with pytest.raises(ValueError, match=message):
        read_prepared(folder(**changes), grid)


def test_folder_that_was_not_prepared_is_told_how(tmp_path):
    with pytest.raises(FileNotFoundError, match="prepare text --dataset toy .* --x y$"):
        read_prepared(tmp_path, Grid("toy", SYSTEMS, prepare={"x": "y"}))


def test_metric_of_another_target_is_refused(folder):
    grid = Grid("toy", SYSTEMS, metric="pearson")
    with pytest.raises(ValueError, match="'pearson' of toy: choices are accuracy, f1"):
        settings(grid, next(grid.cells()), read_prepared(folder(), grid))


def test_a_system_with_questions_of_labels_is_trained_by_their_task(folder):
    asked = {"arch": "bert_mrc_tiny", "label-questions": "questions.tsv"}
    grid = Grid("toy", {"plain": {"arch": "bert_plain_tiny"}, "asked": asked}, metric="entity_f1")
    data = read_prepared(folder(task="sequence_labeling", target="word_labels"), grid)
    plain, other = (train_options(grid, Cell(Setting(n, 1e-4, 1), 1), data) for n in grid.systems)
    assert (plain["task"], plain["criterion"]) == ("sequence_labeling",) * 2
    assert (other["task"], other["criterion"]) == ("mrc_ner",) * 2
    assert other["label-questions"] == "questions.tsv"
