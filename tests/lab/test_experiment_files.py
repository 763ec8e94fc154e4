"""Every experiment file of the examples: it is read, planned, and its runs stand in its tables.

Its systems are trained in `test_example_systems`.
"""

from __future__ import annotations

import re

import pytest
from fairseq.models import ARCH_MODEL_REGISTRY
from for_each import for_each
from lab.example_datasets import dataset_of
from lab.example_runs import EXAMPLES, FILES, invent_data, name_of, planned

import fairseq_plugins.tasks  # noqa: F401  registers everything
from fairseq_plugins.cli.main import main
from fairseq_plugins.evaluation.metrics import NAMES
from fairseq_plugins.lab.execution.records import write_description, write_rows
from fairseq_plugins.lab.execution.training import planned_row
from fairseq_plugins.lab.plan.experiment_file import read_experiment
from fairseq_plugins.lab.plan.grid_selection import resize
from fairseq_plugins.lab.plan.prepared_data import METRICS, TRANSLATION
from fairseq_plugins.lab.results.layouts import check_names, layouts


@for_each(FILES)
def test_files_fit_their_datasets_architectures_and_tables(path):
    experiment = read_experiment(path)
    check_names(experiment.tables)
    assert experiment.title
    tables = [layouts()[name] for name in experiment.tables if name in layouts()]
    shown = {dataset for layout in tables for dataset in layout.datasets}
    datasets = {part.grid.dataset for part in experiment.parts}
    assert not shown or datasets <= shown
    for layout in [one for one in tables if one.average]:  # tables of papers
        assert {column.dataset for column in layout.columns} == datasets
    for part in experiment.parts:
        grid = part.grid
        arches = {options["arch"] for options in part.resized("").grid.systems.values()}
        assert arches <= {*ARCH_MODEL_REGISTRY}
        if grid.dataset != TRANSLATION:
            dataset = dataset_of(grid.dataset)
            assert grid.metric in NAMES[dataset.target.name]
            assert grid.evaluate in ("", *dataset.splits)
            assert {one.rpartition("_")[2] for one in resize(grid, "minilm").systems} == {"minilm"}


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


def finish(run):
    metrics = dict.fromkeys((*METRICS[run.settings["target"]], "loss", "chrf"), 0.5)
    tried = {run.grid.evaluate: metrics} if run.is_tested else {}
    scores = {"metrics": {run.grid.validation: metrics, **tried}, "last": metrics}
    run.folder.mkdir(parents=True)
    (run.folder / "result.json").write_text(planned_row(run, status="finished", **scores).line())


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_runs_of_every_file_are_planned_and_stand_in_its_tables(
    path, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for part in read_experiment(path).parts:
        invent_data(part.resized(""))
    plan = planned(path, tmp_path / "runs")
    assert {run.updates for run in plan.runs} == {2}
    for run in plan.runs:
        finish(run)
    write_description(plan, "test")
    write_rows(plan)
    if plan.experiment.tables:
        assert main(["results", "table", str(plan.root), "--samples", "20"]) == 0
        text = capsys.readouterr().out
        assert text.count("| --") + text.count("|---") >= len(plan.experiment.tables)
        figures = re.findall(r"\b0\.50|\b50\.0", text)
        assert len(figures) >= len({run.cell.system for run in plan.runs})


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_file_passes_a_dry_run_without_data(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(path), "--dry-run"]) == 0
    told, experiment = capsys.readouterr().err, read_experiment(path)
    assert all(f"{step}\n" in told for step in experiment.after)
    assert "prepare the data first" in told
    assert all(part.name in told for part in experiment.parts)
    assert not list(tmp_path.iterdir())
