"""The grids of the examples: they fit their datasets, and are the papers'."""

from __future__ import annotations

import re
from pathlib import Path

from fairseq.models import ARCH_MODEL_REGISTRY
from for_each import for_each
from lab.example_datasets import dataset_of

from fairseq_plugins.corpora.datasets import DATASETS
from fairseq_plugins.evaluation.metrics import NAMES
from fairseq_plugins.lab.plan.experiment_file import read_experiment
from fairseq_plugins.lab.plan.grid import read_grid
from fairseq_plugins.lab.plan.grid_selection import (
    choose,
    contrast,
    preset,
    read_choices,
    resize,
    select,
    select_systems,
)
from fairseq_plugins.lab.results.bertqa import ENSEMBLE
from fairseq_plugins.lab.results.layouts import PLAIN, labels, layouts
from fairseq_plugins.lab.results.paper_tables import Row
from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.nn.fusion import ABLATIONS

EXAMPLES = Path(__file__).parents[2] / "examples"
BERTQA = EXAMPLES / "bertqa_squad"
ALL_CONFIGS = sorted(EXAMPLES.glob("*/configs/*.yaml"))
FOREIGN = [p for p in ALL_CONFIGS if p.parts[-3].endswith("_en_de")]
TRANSLATED = [p for p in FOREIGN if p.stem == p.parts[-3]]  # the grids of the paper's features
CONFIGS = [p for p in ALL_CONFIGS if p not in FOREIGN]
SLA, DABERT = ([p for p in CONFIGS if p.parts[-3] == kind] for kind in ("sla", "dabert"))
OWN_NAMES = {
    "demo",
    "ewt_errors",
    "wnut17_layers",
    "wnut17_questions",
    "chinese_gsd",
    "cola_released",
}  # grids that are not called by their dataset

PAPER = ("pos", "case", "subword")  # the features of the paper


@for_each(CONFIGS)
def test_every_example_grid_fits_its_dataset_and_our_architectures(path):
    grid = read_grid(path)
    dataset = dataset_of(grid.dataset)
    if path.parts[-3] != "bertqa_squad":
        assert path.stem in {grid.dataset, *OWN_NAMES}
    assert grid.metric in NAMES[dataset.target]
    assert grid.validation in dataset.splits
    scratch = path.parts[-3] == "matching"  # which has no sizes but the small one
    for size in ("tiny",) if scratch else ("tiny", "minilm", "base", "large"):
        for one in (grid, resize(grid, size)):
            assert {options["arch"] for options in one.systems.values()} <= set(ARCH_MODEL_REGISTRY)
    own = {path.parts[-3]} - {"sla", "dabert", "bertqa_squad", "matching"}
    assert own <= {"tagging" if dataset.target == "word_labels" else "glue"}
    assert not grid.evaluate or grid.evaluate in dataset.splits


@for_each(TRANSLATED)
def test_translation_grids_have_every_combination_of_features_and_the_same_widths(path):
    grid = read_grid(path)
    assert {options["arch"] for options in grid.systems.values()} <= set(ARCH_MODEL_REGISTRY)
    fixed = {
        name: tuple(options["features"].replace("none", "").split(","))
        for name, options in grid.systems.items()
        if not any(isinstance(value, list) for value in options.values())
    }
    assert len(set(fixed.values())) == len(fixed) == 2 ** len(PAPER)
    assert {name for names in fixed.values() for name in names if name} == set(PAPER)
    widths = grid.systems["sum"]["feature-embed-dim"]
    parts = [text.split(",") for text in grid.systems["concat"]["feature-embed-dims"]]
    assert (min(widths), max(widths), 20 in widths) == (8, 64, True)
    assert [sum(map(int, part)) for part in parts] == widths
    assert (grid.prepare["trainpref"], grid.prepare["source-lang"]) == ("train", "en")


@for_each(FOREIGN)
def test_translation_systems_read_what_their_folder_holds(path):
    grid = read_grid(path)
    held = grid.prepare.get("layers", ",".join(PAPER)).split(",")
    read = {name for one in grid.systems.values() for name in one["features"].split(",")}
    assert read <= {"none", *held}
    for options in grid.systems.values():
        for widths in [options.get("feature-embed-dims", [])]:
            for text in [widths] if isinstance(widths, str) else widths:
                assert len(text.split(",")) == len(options["features"].split(","))


@for_each(SLA)
def test_sla_grids_are_the_papers(path):
    grid = read_grid(path)
    if path.stem in ("demo", "cola_released"):
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
    assert "bert_sla" in found or grid.prepare["annotations"] == "none"
    short = ("cola", "rte", "mrpc", "sts_b")  # an epoch is less than 500 updates
    assert grid.validate_every == (0 if path.stem in short else 500)
    longest = {"cola": 47, "sst2": 66, "sts_b": 125}  # wordpieces
    assert path.stem in longest or grid.options["max-positions"] == 128


@for_each(DABERT)
def test_dabert_grids_are_the_papers_and_its_preset_comes_first(path):
    grid = read_grid(path)
    if path.stem == "demo":
        return
    dataset = DATASETS[grid.dataset]
    assert {*grid.learning_rates} == {8e-6, 1e-5, 2e-5, 3e-5}
    assert (grid.epochs, len(grid.seeds)) == ((5,), 5)
    assert (grid.warmup_ratio, grid.weight_decay) == (0.1, 0.01)
    assert grid.options["batch-size"] == [32, 16, 64]
    assert grid.options["clip-norm"] == [10.0, 7.5, 15.0]
    assert grid.options["dropout"] == [0.1, 0.2, 0.3]
    kinds = [name.removesuffix("_minilm") for name in grid.systems]
    assert kinds == ["bert_plain", "bert_syntax_masks", "bert_uer", "dabert", "dabert_literal"]
    assert grid.metric == ("pearson" if dataset.target == "score" else "accuracy")
    assert "similarity" in grid.prepare["annotations"]
    first = [*preset(grid).cells()]
    assert len(first) == 5 * len(grid.systems)
    assert {
        (cell.setting.learning_rate, dict(cell.setting.choice)["batch-size"]) for cell in first
    } == {(2e-5, 32)}
    assert ("valid" in dataset.splits) or "valid-fraction" in grid.prepare


@for_each(["base", "large"])
def test_bertqa_grids_are_the_papers_recipes(name):
    grid = read_grid(BERTQA / "configs" / f"{name}.yaml")
    accumulated = grid.options.get("update-freq", 1)
    assert grid.batch_size * accumulated == 6
    assert (grid.epochs, grid.metric) == ((2,), "f1")
    assert (grid.warmup_ratio, grid.weight_decay, grid.options["dropout"]) == (0.1, 0.01, 0.1)
    rates = {options.get("lr", grid.learning_rates[0]) for options in grid.systems.values()}
    assert rates == ({3e-5} if name == "base" else {1.5e-5, 1.2e-5, 1.1e-5})
    assert accumulated == (1 if name == "base" else 3)
    known = vars(BertConfig())
    for system, options in grid.systems.items():
        row = Row(name, system.removesuffix(f"_{name}"))
        assert row.kind in labels()
        wiring = "query" if system.startswith("query_") else "literal"
        given = {key.replace("-", "_") for key in options} - {"arch", "data", "lr"}
        assert given <= set(known)
        if row.kind != PLAIN:
            assert (
                options["arch"]
                == {"query": "bertqa", "literal": "bertqa_literal"}[wiring] + f"_{name}"
            )
            assert ("joint" in options.values()) == (name == "base")
    table = layouts()["bertqa2" if name == "base" else "bertqa3"]
    kinds = {system.removesuffix(f"_{name}") for system in grid.systems}
    assert table.paper[name].keys() - {ENSEMBLE} <= kinds


def test_bertqa_readme_counts_the_runs_of_its_commands():
    readme = (BERTQA / "README.md").read_text()
    for table in ("table2", "table3"):
        (part,) = read_experiment(BERTQA / f"{table}.yaml").parts
        runs = len([*part.grid.cells()])
        assert re.search(rf"run\.sh {table} .*: {runs} runs$", readme, re.MULTILINE)


def test_there_is_a_grid_for_every_official_dataset():
    own = {"plain", "plain_scores", "tokens", "token_errors"}
    no_training = {"ax"}
    same_files = {"sick_r", "fce_typed"}
    covered = {path.stem for path in CONFIGS}
    assert set(DATASETS) - own - no_training - same_files <= covered


def test_dabert_readme_counts_the_runs_of_its_commands():
    readme = (EXAMPLES / "dabert" / "README.md").read_text()
    grid = read_grid(EXAMPLES / "dabert" / "configs" / "rte.yaml")
    assert f"whole grid: {len([*grid.cells()])} runs" in readme
    assert f"dropout 0.1: {len([*preset(grid).cells()])} runs" in readme
    whole = preset(select_systems(grid, ["dabert_minilm"]))
    ablations = contrast(whole, {"ablate": ABLATIONS[1:]})
    assert f"Table 5: {len([*ablations.cells()])} runs" in readme


def test_the_grid_of_slas_program_has_its_preparation_and_its_rival():
    grid = read_grid(EXAMPLES / "sla" / "configs" / "cola_released.yaml")
    assert grid.prepare == {"parse-text": "as-tokenised", "tokenize": "whitespace"}
    assert {"bert_sla_minilm", "bert_sla_released_minilm"} < {*grid.systems}
    assert (grid.batch_size, grid.epochs, grid.validate_every) == (16, (2,), 100)
    assert len([*grid.cells()]) == 5 * len(grid.systems)


def test_sla_readme_counts_the_runs_of_its_commands():
    readme = (EXAMPLES / "sla" / "README.md").read_text()
    grid = read_grid(EXAMPLES / "sla" / "configs" / "cola.yaml")
    assert f"whole grid: {len([*grid.cells()])} runs" in readme
    command = re.search(r"sh cola (--learning-rates.*?) # (\d+) runs", readme, re.DOTALL)
    words = command[1].replace("\\", "").split()
    choices = words[words.index("--choices") + 1 :]
    part = select(grid, learning_rates=[5e-5], epochs=[3], seeds=[1, 2, 3])
    assert len([*choose(part, read_choices(choices)).cells()]) == int(command[2])
