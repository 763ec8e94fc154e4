"""Every experiment file of the examples: it is read, planned, and every system trains, predicts and
stands in its tables, after two updates of a tiny model on invented data in the official formats.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from cli.commands import ROOT, run
from fairseq.models import ARCH_MODEL_REGISTRY
from lab.example_datasets import dataset_of
from lab.smoke_data import SmokeData

import fairseq_plugins.cli.run
import fairseq_plugins.cli.translate
import fairseq_plugins.tasks  # registers everything
from fairseq_plugins import cli
from fairseq_plugins.cli.main import main, make_parser, parse
from fairseq_plugins.evaluation.metrics import NAMES
from fairseq_plugins.evaluation.score_report import score_files
from fairseq_plugins.evaluation.translation import TextForm
from fairseq_plugins.files import write_text
from fairseq_plugins.lab.commands import written
from fairseq_plugins.lab.execution import selection
from fairseq_plugins.lab.execution.records import write_description, write_rows
from fairseq_plugins.lab.plan.experiment_file import read_experiment
from fairseq_plugins.lab.plan.grid_selection import preset, resize, smoke
from fairseq_plugins.lab.plan.prepared_data import TRANSLATION
from fairseq_plugins.lab.results.layouts import layouts
from fairseq_plugins.lab.results.split_files import EVALUATION, GENERATED, SCORE, of_split
from fairseq_plugins.lab.results.table_names import check_names
from fairseq_plugins.prep.subset import write_subset

EXAMPLES = ROOT / "examples"
CLAIMS = "claims.yaml"  # of `fairseq-plugins evidence`
FILES = sorted(path for path in EXAMPLES.glob("*/*.yaml") if path.name != CLAIMS)
JOBS = 2
TINY = {  # smaller than the smallest size
    "understanding": "hidden-size=16 intermediate-size=32 max-positions=96".split(),
    "translation": "encoder-embed-dim=80 encoder-ffn-embed-dim=32 decoder-embed-dim=32".split(),
}
WANTED = {  # every table of the papers, and the figures' grids
    "wmt14_en_de": {"table1", "features", "feature_dims"},
    "multi30k_en_de": {
        *("table1", "features", "feature_dims"),
        *("linguistic_features", "layers", "truecase", "de_en"),
    },
    "sample_en_de": {"fractions", "features"},
    "glue": {"table2"},
    "sla": {"table1", "table2", "table3"},
    "dabert": {"table1", "table2", "table3", "table5"},
    "bertqa_squad": {"table1", "table2", "table3"},
    "composition": {"rte", "cola", "squad", "demo"},
    "evidence": {"cola", "ewt_errors", "sts_b", "squad", "wnut17", "multi30k"},
}


# file -> one with the same systems, which alone is trained: its own options are trained by another
SAME_SYSTEMS = {
    "sample_en_de-features": "multi30k_en_de-features",
    "wmt14_en_de-features": "multi30k_en_de-features",
    "wmt14_en_de-feature_dims": "multi30k_en_de-feature_dims",
}
# file -> those that hold its runs as well: the same data, systems and options
SAME_RUNS = {"dabert-table3": ("dabert-table1", "dabert-table2")}
# files whose systems are those of other files with a control, each of which has its own tests
CONTROLS = {f"evidence-{name}" for name in ("cola", "sts_b", "ewt_errors", "squad", "multi30k")}


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def parsed(module: ModuleType, words: list[str]) -> argparse.Namespace:
    """Read the arguments of a subcommand."""
    return parse(make_parser([module.__name__], module), module, words)


def test_there_is_a_file_for_every_table():
    found: dict[str, set[str]] = {}
    for path in FILES:
        found.setdefault(path.parent.name, set()).add(path.stem)
    assert found == WANTED


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_fit_their_datasets_architectures_and_tables(path):
    experiment = read_experiment(path)
    check_names(experiment.tables)
    assert experiment.title
    tables = [layouts()[name] for name in experiment.tables if name in layouts()]
    shown = {dataset for layout in tables for dataset in layout.datasets}
    for part in experiment.parts:
        grid = part.grid
        arches = {options["arch"] for options in part.resized("").grid.systems.values()}
        assert arches <= set(ARCH_MODEL_REGISTRY)
        assert not shown or grid.dataset in shown
        if grid.dataset == TRANSLATION:
            continue
        dataset = dataset_of(grid.dataset)
        assert grid.metric in NAMES[dataset.target]
        assert not grid.evaluate or grid.evaluate in dataset.splits
        assert {size.rpartition("_")[2] for size in resize(grid, "minilm").systems} == {"minilm"}


@pytest.mark.parametrize(("same", "trained"), SAME_SYSTEMS.items())
def test_what_is_trained_once_for_several_files_has_the_same_systems(same, trained):
    found = []
    for name in (same, trained):
        experiment = read_experiment(EXAMPLES / f"{name.replace('-', '/')}.yaml")
        systems = [part.grid.systems for part in experiment.parts]
        for options in (options for part in systems for options in part.values()):
            options.pop("arch")  # the size that fits the data
        found.append((systems, experiment.tables))
    assert found[0] == found[1]


@pytest.mark.parametrize(("same", "trained"), SAME_RUNS.items())
def test_runs_that_other_files_have_are_the_same(same, trained):
    def grids(*names):
        files = [read_experiment(EXAMPLES / f"{name.replace('-', '/')}.yaml") for name in names]
        return {part.name: smoke(part.grid) for one in files for part in one.parts}

    assert grids(same).items() <= grids(*trained).items()


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_tables_of_papers_have_all_their_datasets(path):
    experiment = read_experiment(path)
    datasets = {part.grid.dataset for part in experiment.parts}
    for name in experiment.tables:
        layout = layouts().get(name)
        if layout and layout.average:
            assert {column.dataset for column in layout.columns} == datasets


def test_compositions_are_all_combinations_that_a_dataset_takes():
    for path in (EXAMPLES / "composition").glob("*.yaml"):
        (part,) = read_experiment(path).parts
        names = {name.rpartition("_")[0] for name in part.grid.systems}
        pairs = part.grid.dataset not in ("cola", "tokens")  # single sentences have no other one
        parts = {p for name in names for p in name.split("_")} - {"plain"}
        wanted = {"pos", "sla"} | ({"dual"} if pairs else set())
        assert parts == wanted | ({"coattention"} if part.grid.dataset == "squad" else set())
        assert len(names) == 2 ** len(parts)
        assert names <= {*layouts()["composition"].own}


def test_counts_of_runs_in_the_files_are_right():
    for file, choose, count in (
        ("glue/table2.yaml", None, "320 runs"),
        ("dabert/table5.yaml", None, "70 runs"),
        ("bertqa_squad/table2.yaml", None, "27 runs"),
        ("bertqa_squad/table3.yaml", None, "seven runs"),
        ("sample_en_de/fractions.yaml", None, "six runs"),
        ("multi30k_en_de/table1.yaml", None, "Twelve runs"),
        ("multi30k_en_de/feature_dims.yaml", None, "11 runs"),
        ("multi30k_en_de/linguistic_features.yaml", None, "8 runs"),
        ("multi30k_en_de/layers.yaml", None, "18 runs"),
        ("multi30k_en_de/truecase.yaml", None, "6 runs"),
        ("multi30k_en_de/de_en.yaml", None, "2 runs"),
        ("dabert/table1.yaml", preset, "25 runs a dataset"),
    ):
        parts = read_experiment(EXAMPLES / file).parts
        grids = [choose(part.grid) if choose else part.grid for part in parts]
        runs = sum(len([*grid.cells()]) for grid in grids)
        words = {"seven": 7, "six": 6, "Twelve": 12}
        number = count.split()[0]
        each = runs // len(parts) if "a dataset" in count else runs
        assert each == (words.get(number) or int(number)), file
        assert count in (EXAMPLES / file).read_text()


@pytest.fixture(scope="session")
def smoke_data(tmp_path_factory):
    return SmokeData(tmp_path_factory.mktemp("smoke"))


def planned(path, tmp_path, *more):
    """Return the plan of a smoke run, as the command line makes it."""
    (first, *_) = read_experiment(path).parts
    kind = "translation" if first.grid.dataset == TRANSLATION else "understanding"
    words = [str(path), "--smoke", "--cpu", "--runs", str(tmp_path / "runs"), *more]
    args = parsed(cli.run, [*words, "--options", *TINY[kind]])
    plan, _, missing = selection.planned(args, selection.selected(args))
    assert not missing
    return plan


def launch(command, log):
    """Run a command of a run in a forked process, its output added to the log."""
    command = [*map(str, command)]
    if command[1:3] == ["-m", "fairseq_cli.train"]:
        done = run("fairseq-train", *command[3:])
    elif command[3] == "translate":
        done = translate(command[4:])
    else:
        done = run(command[3], *command[4:])
    with log.open("a", encoding="utf-8") as stream:
        stream.write(done.out + done.err)


def translate(words):
    """Do what `translate` does, with the generation in a forked process."""
    args = parsed(cli.translate, words)
    data, language = cli.translate.read_folder(args)
    own = ["--user-dir", fairseq_plugins.__path__[0], "--task", "syntax_translation", "--cpu"]
    own += ["--path", args.run / args.checkpoint, "--gen-subset", args.split, *args.generate]
    done = run("fairseq-generate", data, *own)
    log = args.run / of_split(GENERATED, args.split)
    log.write_text(done.out, encoding="utf-8")
    report = score_files([log], args.reference, TextForm(language))
    write_text(args.run / of_split(SCORE, args.split), report.as_json())
    text = json.dumps(cli.translate.summary(report, args.split))
    write_text(args.run / of_split(EVALUATION, args.split), text)
    return done


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in FILES if name_of(path) not in {*SAME_SYSTEMS, *SAME_RUNS, *CONTROLS}],
    ids=name_of,
)
def test_every_system_of_every_file_trains_predicts_and_stands_in_its_table(
    path, smoke_data, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for part in read_experiment(path).parts:
        smoke_data.link(part.resized(""), tmp_path)
    plan = planned(path, tmp_path)
    for subset in plan.subsets:
        write_subset(*subset)
    with ThreadPoolExecutor(JOBS) as pool:
        for _ in pool.map(lambda run: run.execute(launch), plan.runs):
            pass
    assert all(run.is_finished() for run in plan.runs)
    for one in plan.runs:
        assert one.updates == 2
        if one.data.translates:
            assert "bleu" in json.loads(one.evaluation.read_text())["metrics"]
        else:
            assert (one.folder / "predictions.jsonl").stat().st_size
    write_description(plan, "test")
    write_rows(plan, {})
    if plan.experiment.tables:
        assert main(["table", str(plan.root), "--samples", "20"]) == 0
        text = capsys.readouterr().out
        assert text.count("| --") + text.count("|---") >= len(plan.experiment.tables)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_file_passes_a_dry_run_without_data(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(path), "--dry-run"]) == 0
    told = capsys.readouterr().err
    for step in read_experiment(path).after:
        assert f"after: {step.name}: {written(step.command)} " in told
    for part in read_experiment(path).parts:
        assert "prepare the data first" in told
        assert part.name in told
    assert not list(tmp_path.iterdir())
