"""The grids of the examples: they fit their datasets, and are the papers'."""

from __future__ import annotations

import re
from pathlib import Path

from fairseq.models import ARCH_MODEL_REGISTRY
from for_each import for_each
from lab.example_datasets import dataset_of
from lab.example_runs import EXAMPLES, cells_of

from fairseq_plugins.corpora.datasets import DATASETS
from fairseq_plugins.evaluation.metrics import NAMES
from fairseq_plugins.lab.plan.grid import SIZES, read_grid
from fairseq_plugins.lab.plan.grid_selection import preset, resize
from fairseq_plugins.lab.results.layouts import PLAIN, labels, layouts
from fairseq_plugins.lab.results.paper_tables import Row
from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.nn.fusion import ABLATIONS

ALL = sorted(EXAMPLES.glob("*/configs/*.yaml"))
FOREIGN = [path for path in ALL if path.parts[-3].endswith("_en_de")]
TRANSLATED = [path for path in FOREIGN if path.stem == path.parts[-3]]  # of the paper's features
TEXTS = [path for path in ALL if path not in FOREIGN]
PAPERS = [
    path
    for path in TEXTS
    if path.parts[-3] in ("sla", "dabert") and path.stem not in ("demo", "cola_released")
]
SLA = {  # choices of each system, in the paper
    "bert_plain": {},
    "bert_lisa": {"parent-loss-weight": [1.0, 0.1]},
    "bert_sgnet": {"ancestor-layers": [1, 3]},
    "bert_wla": {"window": [3, 4, 5]},
    "bert_sla": {"tree-threshold": [3, 4]},
}
DABERT = {  # of all systems, the preset first
    "batch-size": [32, 16, 64],
    "clip-norm": [10.0, 7.5, 15.0],
    "dropout": [0.1, 0.2, 0.3],
}
OWN_NAMES = {  # grids that are not called by their dataset
    *("demo", "ewt_errors", "wnut17_layers", "wnut17_questions", "chinese_gsd", "cola_released")
}
FEATURES = ("pos", "case", "subword")  # of the paper
COUNTED = re.compile(
    r"examples/(\w+)/(?:run\.sh (\w+)|(\w+)\.yaml)([^#\n]*)#[^#\n]*?(\d+) runs$", re.M
)


@for_each(TEXTS)
def test_every_example_grid_fits_its_dataset_and_our_architectures(path):
    grid, kind = read_grid(path), path.parts[-3]
    dataset = dataset_of(grid.dataset)
    assert kind == "bertqa_squad" or path.stem in {grid.dataset, *OWN_NAMES}
    assert grid.metric in NAMES[dataset.target.name]
    assert grid.validation in dataset.splits
    assert not grid.evaluate or grid.evaluate in dataset.splits
    for size in SIZES[:1] if kind == "matching" else SIZES:  # which has but the small one
        for one in (grid, resize(grid, size)):
            assert {options["arch"] for options in one.systems.values()} <= {*ARCH_MODEL_REGISTRY}
    own = {kind} - {"sla", "dabert", "bertqa_squad", "matching"}
    assert own <= {"tagging" if dataset.target.by_word else "glue"}


@for_each(TRANSLATED)
def test_translation_grids_have_every_combination_of_features_and_the_same_widths(path):
    grid = read_grid(path)
    fixed = {
        name: tuple(options["features"].replace("none", "").split(","))
        for name, options in grid.systems.items()
        if not any(isinstance(value, list) for value in options.values())
    }
    assert len(set(fixed.values())) == len(fixed) == 2 ** len(FEATURES)
    assert {name for names in fixed.values() for name in names if name} == set(FEATURES)
    widths = grid.systems["sum"]["feature-embed-dim"]
    parts = [text.split(",") for text in grid.systems["concat"]["feature-embed-dims"]]
    assert (min(widths), max(widths), 20 in widths) == (8, 64, True)
    assert [sum(map(int, part)) for part in parts] == widths
    assert (grid.prepare["trainpref"], grid.prepare["source-lang"]) == ("train", "en")


@for_each(FOREIGN)
def test_translation_systems_read_what_their_folder_holds(path):
    grid = read_grid(path)
    held = grid.prepare.get("layers", ",".join(FEATURES)).split(",")
    for options in grid.systems.values():
        assert options["arch"] in ARCH_MODEL_REGISTRY
        names, widths = options["features"].split(","), options.get("feature-embed-dims", [])
        assert {*names} <= {"none", *held}
        for text in [widths] if isinstance(widths, str) else widths:
            assert len(text.split(",")) == len(names)


@for_each(PAPERS)
def test_grids_are_the_papers(path):
    grid, kind = read_grid(path), path.parts[-3]
    found = {
        name.rpartition("_")[0]: {k: v for k, v in options.items() if isinstance(v, list)}
        for name, options in grid.systems.items()
    }
    assert len(grid.seeds) == 5
    if kind == "sla":
        entities = path.stem in ("conll2003", "wnut17")
        assert grid.learning_rates == ((5e-6, 1e-5, 2e-5) if entities else (2e-5, 3e-5))
        assert grid.epochs == ((30, 60) if entities else (3, 5, 10))
        assert found.items() <= SLA.items()
        assert found == SLA or path.stem not in ("cola", "sst2", "conll2003", "fce")
        assert "bert_sla" in found or grid.prepare["annotations"] == "none"
    else:
        assert sorted(grid.learning_rates) == [8e-6, 1e-5, 2e-5, 3e-5]
        assert [*found] == [*"bert_plain bert_syntax_masks bert_uer dabert dabert_literal".split()]
        assert {key: v for key, v in grid.options.items() if isinstance(v, list)} == DABERT
        assert {setting.learning_rate for setting, _ in preset(grid).cells()} == {2e-5}
        assert "similarity" in grid.prepare["annotations"]
        assert "valid" in DATASETS[grid.dataset].splits or "valid-fraction" in grid.prepare


@for_each(["base", "large"])
def test_bertqa_grids_are_the_papers_recipes(name):
    grid = read_grid(EXAMPLES / "bertqa_squad" / "configs" / f"{name}.yaml")
    accumulated = grid.options.get("update-freq", 1)
    assert (grid.batch_size * accumulated, accumulated) == (6, 1 if name == "base" else 3)
    assert (grid.epochs, grid.metric) == ((2,), "f1")
    assert (grid.warmup_ratio, grid.weight_decay, grid.options["dropout"]) == (0.1, 0.01, 0.1)
    rates = {options.get("lr", grid.learning_rates[0]) for options in grid.systems.values()}
    assert rates == ({3e-5} if name == "base" else {1.5e-5, 1.2e-5, 1.1e-5})
    kinds = {system: Row(name, system.removesuffix(f"_{name}")).kind for system in grid.systems}
    assert {*kinds.values()} <= {*labels()}
    for system, options in grid.systems.items():
        given = {key.replace("-", "_") for key in options} - {"arch", "data", "lr"}
        assert given <= {*vars(BertConfig())}
        if kinds[system] != PLAIN:
            wiring = "bertqa" if system.startswith("query_") else "bertqa_literal"
            assert options["arch"] == f"{wiring}_{name}"
            assert ("joint" in options.values()) == (name == "base")
    paper = layouts()["bertqa2" if name == "base" else "bertqa3"].paper[name]
    assert paper.keys() <= {system.removesuffix(f"_{name}") for system in kinds}


def test_there_is_a_grid_for_every_official_dataset():
    own = {"plain", "plain_scores", "plain_labels", "tokens", "token_errors"}
    others = {"ax", "sick_r", "fce_typed"}  # without training; of the same files
    assert {*DATASETS} - own - others <= {path.stem for path in TEXTS}


@for_each(sorted(EXAMPLES.glob("*/README.md")))
def test_readmes_count_the_runs_of_their_commands(path: Path):
    text = path.read_text().replace("\\\n", "")
    parts = f"--archs dabert_minilm --contrast ablate={','.join(ABLATIONS[1:])}"
    for folder, name, stem, words, count in COUNTED.findall(text):
        files = [EXAMPLES / folder / place / f"{name or stem}.yaml" for place in (".", "configs")]
        given = words.replace("--ablation", parts).replace("$gpus", "").split()
        (file,) = [file for file in files if file.is_file()]
        assert len(cells_of(file, *given)) == int(count), (file, words)
    assert COUNTED.search(text) or " runs\n" not in text
