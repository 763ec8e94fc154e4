"""Parts of grids, and choices: what the command line asks for."""

from __future__ import annotations

import pytest
from for_each import for_each
from lab.toy_grids import OPEN, SYSTEMS

from fairseq_plugins.lab.plan.grid import Grid
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
from fairseq_plugins.lab.plan.recipes import train_options

POS = Grid("toy", {"pos_minilm": {"arch": "bert_plain_minilm", "features": "pos"}})


def test_select_takes_values_systems_and_any_architecture():
    grid = Grid("toy", SYSTEMS)
    chosen = select(select_systems(grid, ["zero", "bert_pos_tiny"]), seeds=[7], updates=4)
    assert chosen.systems == {"zero": SYSTEMS["zero"], "bert_pos_tiny": {"arch": "bert_pos_tiny"}}
    assert (chosen.seeds, chosen.updates, chosen.learning_rates) == ((7,), 4, grid.learning_rates)
    assert select(chosen, epochs=[2]).updates == 0
    assert select(select_systems(grid, [])) == choose(contrast(grid, {}), {}) == grid


def test_systems_are_known_with_and_without_their_size():
    assert select_systems(POS, ["pos"]) == select_systems(POS, ["pos_minilm"]) == POS
    assert select_systems(POS, ["pos_base"], "base") == POS
    assert select_systems(POS, ["pos_base"]).systems == {"pos_base": {"arch": "pos_base"}}


def test_resized_systems_have_other_architectures_and_folders():
    systems = {
        "bert_sla_minilm": {"arch": "bert_sla_minilm", "window": [3, 4]},
        "far": {"arch": "bert_wla_minilm", "window": 9},
    }
    assert resize(Grid("toy", systems), "base").systems == {
        "bert_sla_base": {"arch": "bert_sla_base", "window": [3, 4]},
        "far_base": {"arch": "bert_wla_base", "window": 9},
    }
    assert resize(Grid("toy", {"esim": {"arch": "esim"}}), "tiny").systems == {
        "esim_tiny": {"arch": "esim_tiny"}
    }


@for_each(
    [
        (lambda: select(POS, fractions=[1.5]), "fractions: .* less than or equal to 1"),
        (lambda: select(POS, fractions=[0.0]), "fractions: .* greater than 0"),
        (lambda: select(POS, seeds=[1, 1]), "seeds: .* twice"),
        (lambda: select(POS, seeds=[-1]), "seeds: "),
        (lambda: select(POS, updates=-5), "updates: "),
        (lambda: select(POS, learning_rates=[float("nan")]), "learning_rates: "),
        (lambda: select(POS, updates=5, epochs=[3]), "give one of them"),
        (lambda: select_systems(POS, ["typo"]), r"--archs 'typo': .* grid \(pos_minilm\)"),
        (lambda: resize(POS, "huge"), "--size 'huge': choices are tiny, minilm, base, large"),
        (lambda: resize(Grid("toy", {"a": {"arch": "esim"}}), "large"), "'esim' does not end with"),
        (lambda: choose(Grid("toy", OPEN), {"window": [3]}), "choice 'window'; choices: tree-thr"),
        *((lambda word=w: read_choices([word]), "NAME=VALUE") for w in ("window", "=3")),
        *((lambda word=w: read_choices([word]), "no list of") for w in ("window=", "window=3,3")),
        (lambda: read_choices(["window=[,3"]), "'window': not YAML"),
        (lambda: read_assignments(["--fp16=true"]), "'--fp16=true' is not NAME=VALUE"),
        (lambda: read_assignments(["x=--y"]), "'--y' is no single value"),
        *(
            (lambda name=n: with_options(POS, {name: 1}), f"option '{n}': decided by")
            for n in ("lr", "seed", "max-update", "save-dir", "user-dir")
        ),
    ]
)
def test_what_cannot_be_asked_for_is_refused(case):
    asked, message = case
    with pytest.raises(ValueError, match=message):
        asked()


def test_trials_are_small_and_say_so():
    grid = Grid("toy", {**OPEN, "far": {"arch": "c_tiny", "freeze-layers": 2}}, seeds=(3, 4, 5))
    short = quick(grid)
    assert (short.epochs, short.seeds, short.trial) == ((1,), (3, 4), "quick")
    assert {cell.setting.choice for cell in short.cells()} == {(), (("tree-threshold", 3),)}
    shares = Grid("toy", OPEN, updates=300, fractions=(0.1, 0.5, 1.0))
    assert (quick(shares).updates, quick(shares).fractions) == (30, (0.1, 1.0))
    small = smoke(Grid("toy", grid.systems, fractions=(1.0, 0.5), validate_every=7, average=2))
    assert (small.updates, small.seeds, small.fractions) == (2, (1,), (0.5,))
    assert (small.validate_every, small.average, small.trial) == (0, 0, "smoke")
    assert small.systems["far_tiny"]["freeze-layers"] is None


def test_preset_leaves_all_seeds():
    options = {"dropout": [0.2, 0.1]}
    grid = Grid("toy", OPEN, learning_rates=(2e-5, 1e-5), epochs=(5, 3), options=options)
    cells = [*preset(grid).cells()]
    assert {cell.seed for cell in cells} == {*grid.seeds}
    found = {(s.learning_rate, s.epochs, dict(s.choice)["dropout"]) for s, _ in cells}
    assert found == {(2e-5, 5, 0.2)}


def test_choices_are_narrowed_or_widened_where_they_are_open():
    fixed = {"arch": "c_tiny", "tree-threshold": 9}
    grid = Grid("toy", {**OPEN, "fixed": fixed}, options={"batch-size": [8, 16]})
    chosen = choose(grid, read_choices(["tree-threshold=4,5", "batch-size=32"]))
    assert chosen.systems["sla"]["tree-threshold"] == [4, 5]
    assert (chosen.systems["fixed"], chosen.options) == (fixed, {"batch-size": [32]})


def test_options_of_the_command_line_win_and_can_be_taken_away(folder):
    grid = Grid("toy", SYSTEMS, options={"max-positions": 128, "clip-norm": [2.0, 3.0]})
    words = ["max-positions=", "fp16=true", "clip-norm=5.0", "dropout=0.2", "feature-init=none"]
    grid = with_options(grid, read_assignments(words))
    for cell in grid.cells():
        options = train_options(grid, cell, read_prepared(folder(), grid))
        found = [options[name] for name in ("fp16", "clip-norm", "dropout", "feature-init")]
        assert found == [True, 5.0, 0.2, "none"]
        assert "max-positions" not in options


def test_contrast_sets_systems_beside_each_with_one_change():
    grid = contrast(Grid("toy", SYSTEMS), read_choices(["ablate=guide,affinity", "lr=1e-5"]))
    assert [*grid.systems][:2] == [*SYSTEMS]
    assert {*grid.systems} - {*SYSTEMS} == {
        f"{name}-{change}"
        for name in SYSTEMS
        for change in ("ablate-guide", "ablate-affinity", "lr-1e-05")
    }
    assert grid.systems["zero-ablate-guide"] == {**SYSTEMS["zero"], "ablate": "guide"}
    assert grid.rates_of("plain-lr-1e-05") == (1e-5,)
