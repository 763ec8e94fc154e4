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
        title: Both
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
    assert (found.name, found.title, found.tables) == ("sla_table1", "Both", ("sla1",))
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
    assert {(cell.epochs, cell.updates) for cell in grid.cells()} == {(2, 0)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("parts: []", "expected a list of grids"),
        ("parts: [cola]", "part 1: 'cola' is no mapping"),
        ("parts: [{grid: configs/none.yaml}]", "none.yaml: no such file"),
        ("parts: [{grid: configs/cola.yaml, seed: 1}]", "part 1: unknown key 'seed'; choices: "),
        ("parts: [{grid: configs/cola.yaml, seeds: x}]", "part 1: seeds: "),
        ("parts: [{grid: configs/cola.yaml, systems: [other]}]", "no system 'other'; choices: b"),
        ("parts: [{grid: configs/cola.yaml, size: huge}]", "size: 'huge' is not one of tiny, "),
        ("parts: [{grid: configs/cola.yaml, name: ../x}]", "part 1: name: '../x' is not a name"),
        ("parts: [{grid: configs/cola.yaml}]\nrows: 1", "unknown key 'rows'; choices: name, "),
        ("parts: [{grid: configs/cola.yaml}]\ntables: sla1", "tables: 'sla1': .* valid list"),
        (
            "parts: [{grid: configs/cola.yaml}]\nafter: [x]",
            "after: step 1: 'x' is no mapping of name, command, options",
        ),
        (
            "parts: [{grid: configs/cola.yaml}, {grid: configs/cola.yaml}]",
            "two are called the same",
        ),
        ("systems: [a]", "key 'dataset' is missing"),
        (GRID + "fractions: [0]", "fractions: .* greater than 0"),
        (GRID + "fractions: [1.5]", "fractions: .* less than or equal to 1"),
        (GRID + "seeds: .inf", "seeds: "),
        (GRID + "epochs: [.nan]", "epochs: "),
        ("dataset: cola\nsystems: []", "systems: there is none"),
        ("dataset: cola\nsystems: [{name: data, arch: a_tiny}]", "'data' is named twice, or no"),
        ("dataset: cola\nsystems: [{name: .., arch: a_tiny}]", "'..' is named twice, or no name"),
        (GRID.replace("dropout: 0.1", "lr: 0.1"), "'lr': say so by 'learning_rates'"),
        (GRID.replace("dropout: 0.1", "seed: 1"), "'seed': say so by 'seeds'"),
        (
            GRID.replace("dropout: 0.1", "user-dir: /x"),
            "'user-dir': it is the same for all runs",
        ),
        (
            TRANSLATION + "generate: {user-dir: /x}",
            "'user-dir': not among those that a file may give",
        ),
        (GRID.replace("dropout: 0.1", "user-dir=/x: null"), "'user-dir=/x': not among those"),
        (
            GRID.replace("dropout: 0.1", "fp16: --user-dir=/x"),
            "'--user-dir=/x' is not true or false",
        ),
        (GRID.replace("dropout: 0.1", "adam-betas: '(exec(1), 2)'"), "is not numbers such as"),
        (GRID.replace("dropout: 0.1", "adam-betas: ['(1)', f(x)]"), "is not numbers such as"),
        (TRANSLATION + "generate: {model-overrides: '{}'}", "'model-overrides': not among those"),
        (GRID.replace("dropout: 0.1", "x: 2020-01-01"), "option 'x': not among those"),
        (
            "parts: [{grid: configs/cola.yaml, name: jobs}]",
            "'jobs' is not a name for a folder: .* none of after, data, jobs",
        ),
    ],
)
def test_bad_files_are_explained(folder, text, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        experiment(folder, text)
