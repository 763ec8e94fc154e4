"""Parts of grids, and choices: what the command line asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from for_each import for_each
from lab.example_runs import parsed
from lab.toy_grids import OPEN, SYSTEMS

from fairseq_plugins.cli import run as run_command
from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.grid_selection import resize, select_systems, selected_grid
from fairseq_plugins.lab.plan.prepared_data import read_prepared
from fairseq_plugins.lab.plan.recipes import train_options

TOY = Grid("toy", SYSTEMS)
POS = Grid("toy", {"pos_minilm": {"arch": "bert_plain_minilm", "features": "pos"}})


def asked(grid, words):
    return selected_grid(grid, parsed(run_command, ["x.yaml", *words.split()]))


def test_values_come_in_place_of_the_grids():
    found = asked(TOY, "--seeds 7 --updates 4 --evaluate test --generate beam=2")
    assert (found.seeds, found.updates, found.learning_rates) == ((7,), 4, TOY.learning_rates)
    assert (found.evaluate, found.generate) == ("test", {"beam": 2})
    assert asked(found, "--epochs 2").updates == 0
    assert asked(TOY, "--options valid-subset=").validation == "valid"  # taken away
    assert asked(TOY, "") == TOY
    held = replace(TOY, select_fraction=0.1)
    with pytest.raises(InputError, match="command line: select_fraction and option 'valid-subset'"):
        asked(held, "--options valid-subset=dev")
    assert asked(held, "--options valid-subset=").validation == "select"


def test_systems_are_named_with_and_without_their_size():
    assert select_systems(POS, ["pos"]) == select_systems(POS, ["pos_minilm"]) == POS
    assert select_systems(POS, ["pos_base"], "base") == select_systems(POS, []) == POS
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
    esim = {"esim_tiny": {"arch": "esim_tiny"}}
    assert resize(Grid("toy", {"esim": {"arch": "esim"}}), "tiny").systems == esim


@for_each(
    [
        ("--fractions 1.5", "fractions: .* less than or equal to 1"),
        ("--fractions 0", "fractions: .* greater than 0"),
        ("--seeds 1 1", "seeds: .* twice"),
        ("--seeds -1", "seeds: "),
        ("--updates -5", "updates: "),
        ("--learning-rates nan", "learning_rates: "),
        ("--updates 5 --epochs 3", "give one of them"),
        ("--choices tree-threshold=3", "choice 'tree-threshold'; choices: none in this grid"),
        ("--choices window", "'window' is not NAME=VALUE"),
        ("--choices =3", "'=3' is not NAME=VALUE"),
        ("--contrast window=", "'window': .* no list of different values"),
        ("--contrast window=3,3", "'window': .* no list of different values"),
        ("--contrast window=[,3", "'window': not YAML"),
        ("--options x=--y", "'--y' is no single value"),
        *((f"--options {n}=1", f"{n}': decided by") for n in ("lr", "seed", "save-dir", "task")),
    ]
)
def test_what_cannot_be_asked_for_is_refused(case):
    words, message = case
    with pytest.raises(InputError, match=message):
        asked(POS, words)


def test_systems_and_sizes_that_there_are_not_are_refused():
    with pytest.raises(InputError, match=r"--archs 'typo': no system of this grid \(pos_minilm\)"):
        select_systems(POS, ["typo"])
    with pytest.raises(InputError, match="--size 'huge': choices are tiny, minilm, base, large"):
        resize(POS, "huge")
    two = {"a_tiny": {"arch": "a_tiny"}, "a_base": {"arch": "a_base", "dropout": 0.2}}
    with pytest.raises(InputError, match="--size base: 'a_base' and another system would be"):
        resize(Grid("toy", two), "base")  # neither is lost
    with pytest.raises(InputError, match="'esim' does not end with its size"):
        resize(Grid("toy", {"a": {"arch": "esim"}}), "large")


def test_trials_are_small_and_say_so():
    systems = {**OPEN, "far": {"arch": "c_tiny", "freeze-layers": 2}}
    short = asked(Grid("toy", systems, epochs=(2, 3)), "--preset")
    assert (short.epochs, short.trial) == ((2,), "")
    assert {cell.setting.choice for cell in short.cells()} == {(), (("tree-threshold", 3),)}
    whole = Grid("toy", systems, fractions=(1.0, 0.5), validate_every=7, average=2)
    small = asked(whole, "--smoke")
    assert (small.updates, small.seeds, small.fractions) == (2, (1,), (0.5,))
    assert (small.validate_every, small.average, small.trial) == (0, 0, "smoke")
    assert small.systems["far"]["freeze-layers"] is None


def test_a_preset_takes_the_first_of_everything_but_seeds():
    options = {"dropout": [0.2, 0.1]}
    grid = Grid("toy", OPEN, learning_rates=(2e-5, 1e-5), epochs=(5, 3), options=options)
    cells = [*asked(grid, "--preset").cells()]
    assert {cell.seed for cell in cells} == {*grid.seeds}
    found = {(s.learning_rate, s.epochs, dict(s.choice)["dropout"]) for s, _ in cells}
    assert found == {(2e-5, 5, 0.2)}


def test_choices_are_narrowed_or_widened_where_they_are_open():
    fixed = {"arch": "c_tiny", "tree-threshold": 9}
    grid = Grid("toy", {**OPEN, "fixed": fixed}, options={"batch-size": [8, 16]})
    chosen = asked(grid, "--choices tree-threshold=4,5 batch-size=32")
    assert chosen.systems["sla"]["tree-threshold"] == [4, 5]
    assert (chosen.systems["fixed"], chosen.options) == (fixed, {"batch-size": [32]})


def test_options_of_the_command_line_win_and_can_be_taken_away(folder):
    grid = Grid("toy", SYSTEMS, options={"max-positions": 128, "clip-norm": [2.0, 3.0]})
    words = "max-positions= fp16=true clip-norm=5.0 dropout=0.2 feature-init=none"
    grid = asked(grid, f"--options {words}")
    for cell in grid.cells():
        options = train_options(grid, cell, read_prepared(folder(), grid))
        found = [options[name] for name in ("fp16", "clip-norm", "dropout", "feature-init")]
        assert found == [True, 5.0, 0.2, "none"]
        assert "max-positions" not in options


def test_contrast_sets_systems_beside_each_with_one_change():
    grid = asked(TOY, "--contrast ablate=guide,affinity lr=1e-5")
    assert [*grid.systems][:2] == [*SYSTEMS]
    assert {*grid.systems} - {*SYSTEMS} == {
        f"{name}-{change}"
        for name in SYSTEMS
        for change in ("ablate-guide", "ablate-affinity", "lr-1e-05")
    }
    assert grid.systems["zero-ablate-guide"] == {**SYSTEMS["zero"], "ablate": "guide"}
    assert {s.learning_rate for s, _ in grid.cells() if "lr" in s.system} == {1e-5}
