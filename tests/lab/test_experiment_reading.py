"""Experiment files: parts, and what replaces a grid's values. What is refused: tests/frozen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.plan.experiment_file import read_experiment
from fairseq_plugins.lab.plan.grid import read_grid

GRID = """
dataset: cola
systems: [bert_plain_minilm, {arch: bert_sla_minilm, tree-threshold: [3, 4]}]
learning_rates: [2e-5, 3e-5]
options: {max-positions: 64, dropout: 0.1}
updates: 5
"""
PARTS = """
title: 'Ünïcode: "x" (1, 2)'
tables: [sla1]
after:
parts:
  - {grid: configs/cola.yaml, size: , data: , raw: }
  - grid: configs/cola.yaml
    name: base
    size: base
    systems: [bert_sla_minilm]
    seeds: [7]
    epochs: [2]
    options: {max-positions: , weight-decay: 0.5}
    raw: CoLA
"""
TRANSLATION = """
dataset: translation
systems: [{name: baseline, arch: syntax_transformer_tiny, features: none}]
learning_rates: [1e-3]
updates: 10
"""


@pytest.fixture
def experiment(tmp_path):
    """Reads an experiment in a folder of examples with one grid."""
    folder = tmp_path / "sla"
    (folder / "configs").mkdir(parents=True)
    (folder / "configs" / "cola.yaml").write_text(GRID)

    def read(text, name="table1"):
        (folder / f"{name}.yaml").write_text(text)
        return read_experiment(folder / f"{name}.yaml")

    return read


def test_a_grid_is_an_experiment_of_one_part_in_its_own_folder(experiment, tmp_path):
    for name, called, part in (("configs/cola", "cola", "cola"), ("other", "sla_other", "cola")):
        found = experiment(GRID, name)
        assert (found.name, found.parts[0].name) == (called, part)
        assert str(found.parts[0].folder) == "data-bin/cola"
        assert found.parts[0].grid == read_grid(found.file)
        assert found.runs_of(found.parts[0], tmp_path) == tmp_path


def test_parts_replace_what_they_name_and_keep_the_rest(experiment, tmp_path):
    found = experiment(PARTS)
    first, second = found.parts
    whole = read_grid(found.file.parent / "configs" / "cola.yaml")
    assert (found.name, found.tables, found.after) == ("sla_table1", ("sla1",), ())
    assert found.title == 'Ünïcode: "x" (1, 2)'
    assert (first.name, first.grid) == ("cola", whole)
    assert first.resized("") == first
    assert (second.name, second.raw) == ("base", "CoLA")
    assert second.grid == replace(
        whole,
        systems={"bert_sla_minilm": whole.systems["bert_sla_minilm"]},
        seeds=(7,),
        epochs=(2,),
        updates=0,
        options={"max-positions": None, "dropout": 0.1, "weight-decay": 0.5},
    )
    assert found.runs_of(second, tmp_path) == tmp_path / "base"
    assert [*second.resized("").grid.systems] == ["bert_sla_base"]
    assert str(second.resized("").folder) == "data-bin/base_base"
    assert [*second.resized("tiny").grid.systems] == ["bert_sla_tiny"]


def test_translation_has_no_size_and_wants_updates(experiment):
    (part,) = experiment(TRANSLATION).parts
    assert part.resized("base").grid == part.grid
    with pytest.raises(InputError, match="wants a number of updates"):
        experiment(TRANSLATION.replace("updates: 10", "epochs: 3"))
