"""Grids: files, cells, options of fairseq-train."""

from __future__ import annotations

import json

import pytest
from lab.toy_grids import OPEN, SYSTEMS

import fairseq_plugins.tasks  # noqa: F401  registers everything
from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.plan.allowed import command_line
from fairseq_plugins.lab.plan.grid import Cell, Grid, read_grid
from fairseq_plugins.lab.plan.prepared_data import read_prepared
from fairseq_plugins.lab.plan.recipes import settings, total_updates, train_options
from fairseq_plugins.lab.rows import Setting


def test_grid_file_reads_numbers_systems_and_options(tmp_path):
    path = tmp_path / "grid.yaml"
    path.write_text(
        "dataset: cola\n"
        "systems: [bert_plain_tiny, {name: zero, arch: bert_plain_base, feature-init: zero}]\n"
        "learning_rates: [5e-5, 0.00002]\nepochs: 3\nseeds: [1]\n"
        "options: {max-positions: 99}\nmetric:\nprepare:\n"
    )
    assert read_grid(path) == Grid(
        "cola",
        {
            "bert_plain_tiny": {"arch": "bert_plain_tiny"},
            "zero": {"arch": "bert_plain_base", "feature-init": "zero"},
        },
        learning_rates=(5e-5, 2e-5),
        seeds=(1,),
        options={"max-positions": 99},
    )


def test_cells_are_the_whole_product_each_with_its_own_folder():
    grid = Grid("toy", OPEN, learning_rates=(5e-5, 1e-4), epochs=(3, 5), seeds=(1, 2))
    cells = [*grid.cells()]
    assert len(cells) == len({cell.folder for cell in cells}) == 3 * 2 * 2 * 2
    assert {cell.seed for cell in cells[:12]} == {1}  # whole comparisons come first
    assert [str(cell.folder) for cell in cells[:4]] == [
        "plain/lr5e-5-epochs3/seed1",
        "plain/lr0.0001-epochs3/seed1",
        "sla/lr5e-5-epochs3-tree-threshold3/seed1",
        "sla/lr5e-5-epochs3-tree-threshold4/seed1",
    ]


def test_a_choice_of_all_systems_is_made_in_each_unless_it_says_otherwise(folder):
    options = {"batch-size": [8, 16], "dropout": 0.1}
    systems = {**OPEN, "fixed": {"arch": "c_tiny", "batch-size": 4}}
    grid = Grid("toy", systems, learning_rates=(1e-3,), seeds=(1,), options=options)
    cells, data = [*grid.cells()], read_prepared(folder(), grid)
    assert [(cell.system, dict(cell.setting.choice)) for cell in cells] == [
        ("plain", {"batch-size": 8}),
        ("plain", {"batch-size": 16}),
        *(("sla", {"batch-size": size, "tree-threshold": t}) for size in (8, 16) for t in (3, 4)),
        ("fixed", {}),
    ]
    for cell in cells:
        made = train_options(grid, cell, data)
        assert made.items() >= dict(cell.setting.choice).items()
        assert made["max-update"] == -(-65 // made["batch-size"]) * 3  # whole epochs
        assert settings(grid, cell, data).get("choice", {}) == dict(cell.setting.choice)
    for bad in (0, "x"):
        cell = Cell(Setting("plain", 1e-5, 3, (("batch-size", bad),)), 1)
        with pytest.raises(InputError, match=f"'batch-size' of plain: {bad!r} is no number"):
            total_updates(grid, cell, data)


def test_a_systems_own_rates_come_in_place_of_the_grids():
    systems = {"one": {"arch": "a", "lr": 1e-2}, "two": {"arch": "a", "lr": [1e-3, "1e-4"]}}
    grid = Grid("toy", {"none": {"arch": "a"}, **systems}, (1.0, 2.0, 3.0), seeds=(1,))
    rates = {name: [] for name in grid.systems}
    for setting, _ in grid.cells():
        rates[setting.system].append(setting.learning_rate)
        assert setting.choice == ()
    assert rates == {"none": [1.0, 2.0, 3.0], "one": [1e-2], "two": [1e-3, 1e-4]}


def test_options_name_our_parts_and_a_systems_own_options_win(folder):
    grid = Grid("toy", SYSTEMS, options={"clip-norm": 7.5, "fp16": True}, validate_every=50)
    options = train_options(grid, Cell(Setting("zero", 2e-5, 1), 9), read_prepared(folder(), grid))
    assert (options["optimizer"], options["lr-scheduler"]) == ("bert_adamw", "linear_warmup")
    assert (options["feature-init"], options["clip-norm"]) == ("zero", 7.5)
    assert (options["seed"], options["lr"], options["max-update"]) == (9, 2e-5, 3)
    assert options["best-checkpoint-metric"] == "mcc"
    assert options["validate-interval-updates"] == options["save-interval-updates"] == 50
    words = command_line({**options, "cpu": False, "x": None})
    assert words[words.index("--lr") + 1] == "2e-05"
    assert {"--fp16", "--maximize-best-checkpoint-metric"} < {*words}
    assert not {"True", "--cpu", "--x"} & {*words}
    errors = Grid("toy", SYSTEMS, metric="mse")  # which fall
    data = read_prepared(folder(target="score", metric="pearson"), errors)
    assert not train_options(errors, next(errors.cells()), data)["maximize-best-checkpoint-metric"]


def test_settings_change_with_everything_that_decides_a_run(folder):
    grid = Grid("toy", SYSTEMS)
    cell, data = Cell(Setting("plain", 5e-5, 3), 1), read_prepared(folder(), grid)
    found = [
        settings(grid, cell, data),
        settings(Grid("toy", SYSTEMS, weight_decay=0.1), cell, data),
        settings(Grid("toy", SYSTEMS, options={"dropout": 0.2}), cell, data),
        settings(grid, cell._replace(seed=2), data),
        settings(grid, cell, read_prepared(folder(annotations=["pos"]), grid)),
    ]
    assert all(found.count(one) == 1 for one in found)
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"options": {"valid-subset": "dev"}}, "no labelled split 'dev'"),
        ({"options": {"valid-subset": "test"}}, "no labelled split 'test'"),
        ({"metric": "pearson"}, "'pearson' of toy: choices are accuracy, f1"),
    ],
)
def test_prepared_folders_that_do_not_fit_are_refused(keys, message, folder):
    grid = Grid("toy", SYSTEMS, **keys)
    with pytest.raises(InputError, match=message):
        settings(grid, next(grid.cells()), read_prepared(folder(), grid))


def test_folder_that_was_not_prepared_is_told_how(tmp_path):
    with pytest.raises(FileNotFoundError, match="prepare text --dataset toy .* --x y$"):
        read_prepared(tmp_path, Grid("toy", SYSTEMS, prepare={"x": "y"}))


def test_a_system_with_questions_of_labels_is_trained_by_their_task(folder):
    asked = {"arch": "bert_mrc_tiny", "label-questions": "questions.tsv"}
    grid = Grid("toy", {"plain": {"arch": "bert_plain_tiny"}, "asked": asked}, metric="entity_f1")
    data = read_prepared(folder(target="word_labels"), grid)
    plain, other = (train_options(grid, Cell(Setting(n, 1e-4, 1), 1), data) for n in grid.systems)
    assert (plain["task"], plain["criterion"]) == ("sequence_labeling",) * 2
    assert (other["task"], other["criterion"]) == ("mrc_ner",) * 2
    assert other["label-questions"] == "questions.tsv"
