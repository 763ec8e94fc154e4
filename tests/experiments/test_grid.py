"""Grids: files, cells, options of fairseq-train."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.optim import OPTIMIZER_REGISTRY
from fairseq.optim.lr_scheduler import LR_SCHEDULER_REGISTRY

import fairseq_plugins  # noqa: F401
from fairseq_plugins.evaluation.metrics import NAMES
from fairseq_plugins.experiments.grid import (
    Cell,
    Grid,
    command_line,
    read_prepared,
    settings,
    total_updates,
    train_options,
)
from fairseq_plugins.experiments.grid_file import read_assignments, read_choices, read_grid
from fairseq_plugins.experiments.grid_selection import choose, quick, resize, select, with_options
from fairseq_plugins.prep.datasets import DATASETS

EXAMPLES = Path(__file__).parents[2] / "examples"
CONFIGS = sorted(EXAMPLES.glob("*/configs/*.yaml"))
SLA = [path for path in CONFIGS if path.parts[-3] == "sla"]
OWN_NAMES = {"demo", "ewt_errors"}  # grids that are not called by their dataset
MANIFEST = {
    "dataset": "toy",
    "task": "text_classification",
    "target": "classes",
    "positive": "yes",
    "metric": "mcc",
    "splits": {
        "train": {"examples": 65, "labelled": 65},
        "valid": {"examples": 9, "labelled": 9},
        "test": {"examples": 9, "labelled": 0},
    },
}
SYSTEMS = {"plain": {"arch": "bert_plain_tiny"}, "zero": {"arch": "a", "feature-init": "zero"}}
OPEN = {"plain": {"arch": "a_tiny"}, "sla": {"arch": "b_tiny", "tree-threshold": [3, 4], "x": 1}}


@pytest.fixture
def folder(tmp_path):
    def write(**changes):
        (tmp_path / "manifest.json").write_text(json.dumps({**MANIFEST, **changes}))
        return tmp_path

    return write


def written(tmp_path, text):
    path = tmp_path / "grid.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_every_example_grid_fits_its_dataset_and_our_architectures(path):
    grid = read_grid(path)
    dataset = DATASETS[grid.dataset]
    assert path.stem in {grid.dataset, *OWN_NAMES}
    assert grid.metric in NAMES[dataset.target]
    assert grid.validation in dataset.splits
    for size in ("tiny", "minilm", "base", "large"):
        for one in (grid, resize(grid, size)):
            assert {options["arch"] for options in one.systems.values()} <= set(ARCH_MODEL_REGISTRY)
    own = {path.parts[-3]} - {"sla"}
    assert own <= {"tagging" if dataset.target == "word_labels" else "glue"}
    assert not grid.evaluate or grid.evaluate in dataset.splits


@pytest.mark.parametrize("path", SLA, ids=lambda path: path.stem)
def test_sla_grids_are_the_papers(path):
    grid = read_grid(path)
    if path.stem == "demo":
        return
    entities = path.stem in ("conll2003", "wnut17")
    assert grid.learning_rates == ((5e-6, 1e-5, 2e-5) if entities else (2e-5, 3e-5))
    assert grid.epochs == ((30, 60) if entities else (3, 5, 10))
    assert (len(grid.seeds), grid.batch_size) == (5, 32)
    found = {
        name.rpartition("_")[0]: {key: v for key, v in options.items() if isinstance(v, list)}
        for name, options in grid.systems.items()
    }
    wanted = {
        "bert_plain": {},
        "bert_lisa": {"parent-loss-weight": [1.0, 0.1]},
        "bert_sgnet": {"ancestor-layers": [1, 3]},
        "bert_wla": {"window": [3, 4, 5]},
        "bert_sla": {"tree-threshold": [3, 4]},
    }
    assert found.items() <= wanted.items()
    if path.stem in ("cola", "sst2", "conll2003", "fce"):
        assert found == wanted
    assert "bert_sla" in found or "--annotations none" in grid.prepare
    short = ("cola", "rte", "mrpc", "sts_b")  # an epoch is less than 500 updates
    assert grid.validate_every == (0 if path.stem in short else 500)
    longest = {"cola": 47, "sst2": 66, "sts_b": 125}  # wordpieces
    assert path.stem in longest or grid.options["max-positions"] == 128


def test_there_is_a_grid_for_every_official_dataset():
    own = {"plain", "plain_scores", "tokens", "token_errors"}
    no_training = {"ax"}
    same_files = {"sick_r"}
    covered = {path.stem for path in CONFIGS}
    assert set(DATASETS) - own - no_training - same_files <= covered


def test_grid_file_reads_numbers_systems_and_options(tmp_path):
    grid = read_grid(
        written(
            tmp_path,
            "dataset: cola\nsystems: [bert_plain_tiny, {name: zero, arch: a, feature-init: zero}]\n"
            "learning_rates: [5e-5, 0.00002]\nepochs: 3\nseeds: [1]\n"
            "options: {max-positions: 99}\n",
        )
    )
    assert grid.systems == {
        "bert_plain_tiny": {"arch": "bert_plain_tiny"},
        "zero": {"arch": "a", "feature-init": "zero"},
    }
    assert grid.learning_rates == (5e-5, 2e-5)
    assert (grid.epochs, grid.seeds, grid.options) == ((3,), (1,), {"max-positions": 99})
    assert (grid.batch_size, grid.warmup_ratio) == (32, 0.1)


GOOD = "dataset: cola\nsystems: [a]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "expected keys and values"),
        ("a: [", "not YAML"),
        ("systems: [a]", "'dataset' is missing"),
        (GOOD + "rates: [1]", "unknown key 'rates'; choices: dataset, systems"),
        (GOOD + "seeds: [x]", "seeds: invalid literal"),
        (GOOD + "seeds: [1, 1]", "holds a value twice"),
        (GOOD + "seeds: []", "is empty"),
        (GOOD + "epochs: 1.5", "epochs: 1.5 is no int from 1 on"),
        (GOOD + "epochs: 0", "epochs: 0 is no int from 1 on"),
        (GOOD + "learning_rates: [.inf]", "learning_rates: inf is no float"),
        (GOOD + "options: [1]", "options: .* is no mapping"),
        (GOOD + "options: {--lr: 1}", "options: option '--lr'"),
        ("dataset: c\nsystems: [{name: x}]", "neither an architecture nor a name"),
        ("dataset: c\nsystems: [a, a]", "'a' is named twice"),
        ("dataset: c\nsystems: [../a]", "no name for a folder"),
        ("dataset: c\nsystems: [{arch: a, window: []}]", "'window': .* no list of different"),
        ("dataset: c\nsystems: [{arch: a, window: [3, 3]}]", "'window': .* no list of different"),
        ("dataset: c\nsystems: [{arch: a, window: [[3]]}]", "'window': .* no list of different"),
        ("dataset: c\nsystems: [{arch: a, --window: [3]}]", "'--window': .* no list"),
        ("dataset: c\nsystems: [{arch: a, x: [b/c]}]", "'x': .* no name for a folder"),
        ("dataset: c\nsystems: [{arch: [a, b]}]", "neither an architecture"),
        (GOOD + "options: {window: [3, 4]}", "'window': .* is no single value"),
        (GOOD + "evaluate: [test]", r"evaluate: \['test'\] is no text"),
    ],
)
def test_grid_file_names_what_is_wrong(tmp_path, text, message):
    with pytest.raises(ValueError, match=message) as error:
        read_grid(written(tmp_path, text))
    assert "grid.yaml" in str(error.value)


def test_what_is_left_empty_is_not_there(tmp_path):
    empty = "".join(f"{key}:\n" for key in ("metric", "evaluate", "prepare"))
    assert read_grid(written(tmp_path, GOOD + empty)) == read_grid(written(tmp_path, GOOD))


def test_readme_counts_the_runs_of_its_commands():
    readme = (EXAMPLES / "sla" / "README.md").read_text()
    grid = read_grid(EXAMPLES / "sla" / "configs" / "cola.yaml")
    assert f"whole grid: {len([*grid.cells()])} runs" in readme
    command = re.search(r"sh cola (--learning-rates.*?) # (\d+) runs", readme, re.DOTALL)
    words = command[1].replace("\\", "").split()
    choices = words[words.index("--choices") + 1 :]
    part = select(grid, learning_rates=[5e-5], epochs=[3], seeds=[1, 2, 3])
    assert len([*choose(part, read_choices(choices)).cells()]) == int(command[2])


def test_grid_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.yaml: no such file"):
        read_grid(tmp_path / "none.yaml")


def test_cells_are_the_whole_product_each_with_its_own_folder():
    grid = Grid("toy", SYSTEMS, learning_rates=(5e-5, 2e-5, 1e-4), epochs=(3, 5), seeds=(1, 2))
    cells = list(grid.cells())
    assert len(cells) == len({cell.folder for cell in cells}) == 2 * 3 * 2 * 2
    assert {cell.seed for cell in cells[:12]} == {1}  # whole comparisons come first
    assert Cell("plain", 5e-5, 3, 1).folder == Path("plain/lr5e-5-epochs3/seed1")


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
    assert total_updates(grid, Cell("plain", 1e-5, 4, 1), data) == 3 * 4


def test_options_name_our_parts_and_a_systems_own_options_win(folder):
    grid = Grid("toy", SYSTEMS, options={"clip-norm": 7.5, "fp16": True}, validate_every=50)
    data = read_prepared(folder(), grid)
    options = train_options(grid, Cell("zero", 2e-5, 1, 9), data)
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
    cell, data = Cell("plain", 5e-5, 3, 1), read_prepared(folder(), grid)
    own = settings(grid, cell, data)
    assert json.loads(json.dumps(own)) == own
    others = [
        settings(Grid("toy", SYSTEMS, weight_decay=0.1), cell, data),
        settings(Grid("toy", SYSTEMS, options={"dropout": 0.2}), cell, data),
        settings(grid, Cell("plain", 5e-5, 3, 2), data),
        settings(grid, cell, read_prepared(folder(annotations=["pos"]), grid)),
    ]
    assert all(other != own for other in others)


def test_select_takes_values_systems_and_any_architecture():
    grid = Grid("toy", SYSTEMS)
    chosen = select(grid, systems=["zero", "bert_pos_tiny"], seeds=[7], learning_rates=[1e-4])
    assert chosen.systems == {"zero": SYSTEMS["zero"], "bert_pos_tiny": {"arch": "bert_pos_tiny"}}
    assert (chosen.seeds, chosen.learning_rates, chosen.epochs) == ((7,), (1e-4,), grid.epochs)
    assert select(grid) == grid
    assert len(list(quick(grid).cells())) == 4


def test_quick_takes_one_value_of_every_choice_and_still_names_it():
    cells = [*quick(Grid("toy", OPEN)).cells()]
    assert {cell.choice for cell in cells} == {(), (("tree-threshold", 3),)}


def test_choices_are_narrowed_or_widened_where_they_are_open():
    grid = Grid("toy", {**OPEN, "fixed": {"arch": "c_tiny", "tree-threshold": 9}})
    chosen = choose(grid, read_choices(["tree-threshold=4,5"]))
    assert chosen.systems["sla"]["tree-threshold"] == [4, 5]
    assert chosen.systems["fixed"] == grid.systems["fixed"]
    assert choose(grid, {}) == grid
    with pytest.raises(ValueError, match="no system has a choice 'window'; choices: tree-thresh"):
        choose(grid, {"window": [3]})
    for words in (["window"], ["=3"], ["window="], ["window=3,3"], ["window=[,3"]):
        with pytest.raises(ValueError, match="NAME=VALUE|no list of different|is no value"):
            read_choices(words)


def test_options_of_the_command_line_win_and_can_be_taken_away(folder):
    grid = Grid("toy", SYSTEMS, options={"max-positions": 128, "clip-norm": 2.0})
    given = read_assignments(["max-positions=", "fp16=true", "clip-norm=5.0", "dropout=0.2"])
    grid = with_options(grid, given)
    options = train_options(grid, next(grid.cells()), read_prepared(folder(), grid))
    assert "max-positions" not in options
    assert [options[name] for name in ("fp16", "clip-norm", "dropout")] == [True, 5.0, 0.2]
    with pytest.raises(ValueError, match="'--fp16': True"):
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
    with pytest.raises(ValueError, match="'bert_sla' does not end with its size, one of tiny"):
        resize(Grid("toy", {"a": {"arch": "bert_sla"}}), "large")


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
    with pytest.raises(FileNotFoundError, match="prepare_text.py --dataset toy .* --x y$"):
        read_prepared(tmp_path, Grid("toy", SYSTEMS, prepare="--x y"))


def test_metric_of_another_target_is_refused(folder):
    grid = Grid("toy", SYSTEMS, metric="pearson")
    with pytest.raises(ValueError, match="'pearson' of toy: choices are accuracy, f1"):
        settings(grid, next(grid.cells()), read_prepared(folder(), grid))
