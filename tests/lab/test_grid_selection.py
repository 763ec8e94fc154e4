"""Parts of grids, and choices: what the command line asks for."""

from __future__ import annotations

import pytest
from lab.toy_grids import OPEN, SYSTEMS

from fairseq_plugins.lab.plan.grid import Cell, Grid
from fairseq_plugins.lab.plan.grid_selection import (
    choose,
    contrast,
    preset,
    quick,
    read_assignments,
    read_choices,
    resize,
    select,
    select_systems,
    smoke,
    with_options,
)
from fairseq_plugins.lab.plan.prepared_data import read_prepared
from fairseq_plugins.lab.plan.recipes import total_updates, train_options
from fairseq_plugins.lab.rows import Setting


def test_select_takes_values_systems_and_any_architecture():
    grid = Grid("toy", SYSTEMS)
    some = select_systems(grid, ["zero", "bert_pos_tiny"])
    chosen = select(some, seeds=[7], learning_rates=[1e-4])
    assert chosen.systems == {"zero": SYSTEMS["zero"], "bert_pos_tiny": {"arch": "bert_pos_tiny"}}
    assert (chosen.seeds, chosen.learning_rates, chosen.epochs) == ((7,), (1e-4,), grid.epochs)
    assert select(select_systems(grid, [])) == grid
    assert len(list(quick(grid).cells())) == 4


def test_smoke_takes_two_updates_of_one_seed_and_looks_at_nothing_between():
    grid = Grid("toy", SYSTEMS, seeds=(3, 4), fractions=(1.0, 0.5), validate_every=7, average=2)
    small = smoke(grid)
    assert (small.updates, small.seeds, small.fractions) == (2, (3,), (0.5,))
    assert (small.validate_every, small.average, small.trial) == (0, 0, "smoke")


def test_systems_are_known_with_and_without_their_size():
    grid = Grid("toy", {"pos_minilm": {"arch": "bert_plain_minilm", "features": "pos"}})
    assert select_systems(grid, ["pos"]) == select_systems(grid, ["pos_minilm"]) == grid
    assert select_systems(grid, ["pos_base"], "base") == grid
    assert select_systems(grid, ["pos_base"]).systems == {"pos_base": {"arch": "pos_base"}}
    with pytest.raises(ValueError, match=r"--archs 'typo': no system of this grid \(pos_minilm\)"):
        select_systems(grid, ["typo"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fractions": [1.5]}, "fractions: .* less than or equal to 1"),
        ({"fractions": [0.0]}, "fractions: .* greater than 0"),
        ({"seeds": [1, 1]}, "seeds: .* twice"),
        ({"seeds": [-1]}, "seeds: "),
        ({"updates": -5}, "updates: "),
        ({"learning_rates": [float("nan")]}, "learning_rates: "),
        ({"updates": 5, "epochs": [3]}, "give one of them"),
    ],
)
def test_values_of_the_command_line_are_checked_like_those_of_files(given, message):
    with pytest.raises(ValueError, match=message):
        select(Grid("toy", SYSTEMS), **given)


def test_quick_of_fixed_updates_takes_a_tenth_and_two_shares():
    grid = Grid("toy", SYSTEMS, updates=300, fractions=(0.1, 0.5, 1.0), seeds=(1, 2, 3))
    found = quick(grid)
    assert (found.updates, found.fractions, found.seeds) == (30, (0.1, 1.0), (1, 2))


def test_a_systems_own_rates_come_in_place_of_the_grids():
    systems = {"one": {"arch": "a", "lr": 1e-2}, "two": {"arch": "a", "lr": [1e-3, 1e-4]}}
    grid = Grid("toy", {"none": {"arch": "a"}, **systems}, (1.0, 2.0, 3.0), seeds=(1,))
    rates = {
        name: [cell.setting.learning_rate for cell in grid.cells() if cell.system == name]
        for name in grid.systems
    }
    assert rates == {"none": [1.0, 2.0, 3.0], "one": [1e-2], "two": [1e-3, 1e-4]}
    assert all(cell.setting.choice == () for cell in grid.cells())
    varied = contrast(Grid("toy", {"plain": {"arch": "a"}}, seeds=(1,)), {"lr": ["1e-5"]})
    assert {c.setting.learning_rate for c in varied.cells() if "lr" in c.system} == {1e-5}


def test_options_for_all_win_over_a_systems_own_and_owned_ones_are_refused():
    grid = Grid("toy", {"pos": {"arch": "a", "features": "pos"}})
    assert with_options(grid, {"features": "none"}).systems["pos"]["features"] == "none"
    for name in ("lr", "seed", "max-update", "save-dir", "user-dir"):
        with pytest.raises(ValueError, match=f"option '{name}': decided by"):
            with_options(grid, {name: 1})


def test_quick_takes_one_value_of_every_choice_and_still_names_it():
    cells = [*quick(Grid("toy", OPEN)).cells()]
    assert {cell.setting.choice for cell in cells} == {(), (("tree-threshold", 3),)}


def test_choices_are_narrowed_or_widened_where_they_are_open():
    grid = Grid("toy", {**OPEN, "fixed": {"arch": "c_tiny", "tree-threshold": 9}})
    chosen = choose(grid, read_choices(["tree-threshold=4,5"]))
    assert chosen.systems["sla"]["tree-threshold"] == [4, 5]
    assert chosen.systems["fixed"] == grid.systems["fixed"]
    assert choose(grid, {}) == grid
    with pytest.raises(ValueError, match="no system has a choice 'window'; choices: tree-thresh"):
        choose(grid, {"window": [3]})
    for words in (["window"], ["=3"], ["window="], ["window=3,3"], ["window=[,3"]):
        with pytest.raises(ValueError, match="NAME=VALUE|no list of different|not YAML"):
            read_choices(words)


def test_options_of_the_command_line_win_and_can_be_taken_away(folder):
    grid = Grid("toy", SYSTEMS, options={"max-positions": 128, "clip-norm": 2.0})
    given = read_assignments(["max-positions=", "fp16=true", "clip-norm=5.0", "dropout=0.2"])
    grid = with_options(grid, given)
    options = train_options(grid, next(grid.cells()), read_prepared(folder(), grid))
    assert "max-positions" not in options
    assert [options[name] for name in ("fp16", "clip-norm", "dropout")] == [True, 5.0, 0.2]
    with pytest.raises(ValueError, match="'--fp16=true' is not NAME=VALUE"):
        read_assignments(["--fp16=true"])


def test_resized_systems_have_other_architectures_and_folders():
    systems = {
        "bert_sla_minilm": {"arch": "bert_sla_minilm", "window": [3, 4]},
        "far": {"arch": "bert_wla_minilm", "window": 9},
    }
    assert resize(Grid("toy", systems), "base").systems == {
        "bert_sla_base": {"arch": "bert_sla_base", "window": [3, 4]},
        "far_base": {"arch": "bert_wla_base", "window": 9},
    }
    with pytest.raises(ValueError, match="--size 'huge': choices are tiny, minilm, base, large"):
        resize(Grid("toy", systems), "huge")
    with pytest.raises(ValueError, match="'bert_sla' does not end with its size"):
        resize(Grid("toy", {"a": {"arch": "bert_sla"}}), "large")


def test_a_choice_of_all_systems_is_made_in_each_unless_it_says_otherwise():
    options = {"batch-size": [8, 16], "dropout": 0.1}
    systems = {**OPEN, "fixed": {"arch": "c_tiny", "batch-size": 4}}
    grid = Grid("toy", systems, learning_rates=(1e-3,), seeds=(1,), options=options)
    assert [(cell.system, dict(cell.setting.choice)) for cell in grid.cells()] == [
        ("plain", {"batch-size": 8}),
        ("plain", {"batch-size": 16}),
        *(("sla", {"batch-size": size, "tree-threshold": t}) for size in (8, 16) for t in (3, 4)),
        ("fixed", {}),
    ]
    assert len({cell.folder for cell in grid.cells()}) == 7
    (one,) = [cell for cell in quick(grid).cells() if cell.system == "sla"]
    assert one.setting.choice == (("batch-size", 8), ("tree-threshold", 3))
    narrowed = choose(grid, read_choices(["batch-size=32"]))
    assert {dict(cell.setting.choice).get("batch-size") for cell in narrowed.cells()} == {32, None}
    assert narrowed.systems["fixed"]["batch-size"] == 4
    closed = with_options(grid, read_assignments(["batch-size=64"]))
    assert {cell.setting.choice for cell in closed.cells() if cell.system == "plain"} == {()}


def test_updates_follow_the_batch_size_of_the_run(folder):
    grid = Grid("toy", SYSTEMS, options={"batch-size": [32, 64]})
    data, found = read_prepared(folder(), grid), {}
    for cell in grid.cells():
        options = train_options(grid, cell, data)
        found[options["batch-size"]] = options["max-update"]
    assert found == {32: 3 * 3, 64: 3 * 2}
    for bad in (0, "x"):
        cell = Cell(Setting("plain", 1e-5, 3, (("batch-size", bad),)), 1)
        with pytest.raises(ValueError, match=f"'batch-size' of plain: {bad!r} is no number"):
            total_updates(grid, cell, data)


def test_preset_leaves_all_seeds():
    options = {"dropout": [0.2, 0.1]}
    grid = Grid("toy", OPEN, learning_rates=(2e-5, 1e-5), epochs=(5, 3), options=options)
    cells = [*preset(grid).cells()]
    assert {cell.seed for cell in cells} == {*grid.seeds}
    assert {
        (c.setting.learning_rate, c.setting.epochs, dict(c.setting.choice)["dropout"])
        for c in cells
    } == {(2e-5, 5, 0.2)}


def test_contrast_sets_systems_beside_each_with_one_change(folder):
    grid = contrast(Grid("toy", SYSTEMS), read_choices(["ablate=guide,affinity", "window=3"]))
    assert [*grid.systems][:2] == [*SYSTEMS]
    assert {*grid.systems} - {*SYSTEMS} == {
        f"{name}-{change}"
        for name in SYSTEMS
        for change in ("ablate-guide", "ablate-affinity", "window-3")
    }
    assert grid.systems["zero-ablate-guide"] == {**SYSTEMS["zero"], "ablate": "guide"}
    cell = Cell(Setting("plain-window-3", 1e-5, 3), 1)
    assert train_options(grid, cell, read_prepared(folder(), grid))["window"] == 3
    assert contrast(grid, {}) == grid
