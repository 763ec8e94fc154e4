"""Experiment files: parts, what replaces a grid's values, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairseq_plugins.lab.plan.experiment_file import read_experiment
from fairseq_plugins.lab.plan.grid import read_grid

GRID = """
dataset: cola
systems: [bert_plain_minilm, {arch: bert_sla_minilm, tree-threshold: [3, 4]}]
learning_rates: [2e-5, 3e-5]
options: {max-positions: 64, dropout: 0.1}
"""
TRANSLATION = """
dataset: translation
systems: [{name: baseline, arch: syntax_transformer_tiny, features: none}]
learning_rates: [1e-3]
updates: 10
fractions: [0.5, 1]
"""


@pytest.fixture
def folder(tmp_path):
    """A folder of examples with one grid."""
    (tmp_path / "sla" / "configs").mkdir(parents=True)
    (tmp_path / "sla" / "configs" / "cola.yaml").write_text(GRID)
    return tmp_path / "sla"


def experiment(folder, text, name="table1"):
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return read_experiment(path)


def test_a_grid_is_an_experiment_of_one_part_in_its_own_folder(folder):
    found = read_experiment(folder / "configs" / "cola.yaml")
    (part,) = found.parts
    assert (found.name, part.name, str(part.folder)) == ("cola", "cola", "data-bin/cola")
    assert part.grid == read_grid(folder / "configs" / "cola.yaml")
    assert found.runs_of(part, folder) == folder
    elsewhere = experiment(folder, GRID, "other")
    assert (elsewhere.name, elsewhere.parts[0].name) == ("sla_other", "cola")


def test_parts_replace_what_they_name_and_keep_the_rest(folder):
    found = experiment(
        folder,
        """
        title: 'Ünïcode: "x" (1, 2)'
        tables: [sla1]
        parts:
          - {grid: configs/cola.yaml}
          - grid: configs/cola.yaml
            name: base
            size: base
            systems: [bert_sla_minilm]
            seeds: [7]
            options: {max-positions: , weight-decay: 0.5}
            raw: CoLA
        """,
    )
    first, second = found.parts
    whole = read_grid(folder / "configs" / "cola.yaml")
    assert (found.name, found.tables) == ("sla_table1", ("sla1",))
    assert found.title == 'Ünïcode: "x" (1, 2)'
    assert first.grid == whole
    assert second.grid == replace(
        whole,
        systems={"bert_sla_minilm": whole.systems["bert_sla_minilm"]},
        seeds=(7,),
        options={"max-positions": None, "dropout": 0.1, "weight-decay": 0.5},
    )
    assert found.runs_of(second, folder) == folder / "base"
    sized = second.resized("")
    assert list(sized.grid.systems) == ["bert_sla_base"]
    assert str(sized.folder) == "data-bin/base_base"
    assert list(second.resized("tiny").grid.systems) == ["bert_sla_tiny"]
    assert first.resized("") == first


def test_what_is_left_empty_is_not_there(folder):
    part = "parts: [{grid: configs/cola.yaml, size: , data: , raw: }]"
    found = experiment(folder, f"{part}\ntitle:\ntables:\nafter:\n")
    assert replace(found, name="x") == replace(experiment(folder, part), name="x")
    assert (found.title, found.tables, found.after, found.parts[0].size) == ("", (), (), "")


def test_translation_has_no_size_and_wants_updates(folder):
    found = experiment(folder, TRANSLATION)
    assert found.parts[0].resized("base").grid == found.parts[0].grid
    with pytest.raises(ValueError, match="wants a number of updates"):
        experiment(folder, TRANSLATION.replace("updates: 10", "epochs: 3"))


def test_epochs_of_a_part_come_in_place_of_the_grids_updates(folder):
    (folder / "configs" / "cola.yaml").write_text(GRID + "updates: 5\n")
    text = "parts: [{grid: configs/cola.yaml, epochs: [2]}]"
    grid = experiment(folder, text).parts[0].grid
    assert {(cell.setting.epochs, cell.setting.updates) for cell in grid.cells()} == {(2, 0)}
