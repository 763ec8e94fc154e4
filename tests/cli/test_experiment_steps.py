"""The steps of the examples' experiment files, on small real runs: every command, end to end."""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import replace

import pytest
from cli.commands import ROOT, USER_DIR, generate, run, train
from coattention_runs import make_runs
from lab.finished_runs import finish
from lab.translated_runs import translated
from raw_datasets import write_raw
from squad_files import write_toy_bert

from fairseq_plugins.errors import TrainingError
from fairseq_plugins.lab.execution.after import perform
from fairseq_plugins.lab.execution.experiment import Plan
from fairseq_plugins.lab.plan.experiment_file import PlannedPart, read_experiment
from fairseq_plugins.lab.plan.grid import Grid

pytestmark = pytest.mark.slow

SHORT = "--max-update 2 --batch-size 8 --disable-validation --no-epoch-checkpoints"
TEXT = "--task text_classification --criterion text_classification --pretrained none"


def launch(command, log):
    try:
        done = run(command[3], *command[4:])
    except AssertionError as error:
        log.write_text(str(error))
        raise TrainingError("failed") from None
    log.write_text(done.out + done.err)


def performed(file, root, name, data, raw=None):
    """Do the steps of an example on one part, named; return what they left, by step."""
    experiment = read_experiment(ROOT / "examples" / file)
    part = PlannedPart(name, Grid(name, {}), str(data))
    plan = Plan(replace(experiment, parts=(part,)), root, ())
    assert perform(plan, raw, launch) == []
    return {
        step.name: {
            str(path.relative_to(root / "after" / step.name))
            for path in (root / "after" / step.name).rglob("*")
            if path.is_file() and path.name not in ("done.json", "log")
        }
        for step in experiment.after
        if (root / "after" / step.name).is_dir()
    }


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return write_toy_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def part(bert, tmp_path):
    """Return a function that makes a part: raw files, prepared folder, a run of each system."""

    def make(dataset, name, *systems):
        home = tmp_path
        write_raw(dataset, home / "raw", 16)
        given = ["--raw-dir", home / "raw", "--destdir", home / "data", "--pretrained", bert]
        given += ["--annotations", "pos,heads", "--workers", 1]
        run("prepare text", "--dataset", dataset, *given)
        for system in systems:
            _finish(home, dataset, name, f"{system}_tiny")
        return home, name, home / "data", home / "raw"

    return make


def _finish(home, dataset, name, arch):
    """Train a system for two updates, and predict."""
    own = {"dataset": dataset, "options": {"arch": arch}, "home": home}
    finish(home / name, arch, 1e-3, 1, 0.5, **own)
    (folder,) = (home / name / arch).glob("*/seed1")
    options = f"{SHORT} {TEXT} --user-dir {USER_DIR} --arch {arch}"
    train(home / "data", folder, options)
    (folder / "checkpoint_last.pt").rename(folder / "checkpoint_best.pt")
    output = ["--split", "valid", "--output", folder / "predictions.jsonl", "--cpu"]
    run("predict", folder, *output)


def test_examples_of_bert_with_parts_of_speech(part, tmp_path) -> None:
    made = performed("glue/table2.yaml", *part("rte", "rte", "bert_plain", "bert_pos"))
    assert made == {"examples_rte": {"examples.html"}}
    assert "BERT + POS" in (tmp_path / "after" / "examples_rte" / "examples.html").read_text()


def test_gates_and_attention_of_local_attention(part, tmp_path, caplog) -> None:
    caplog.set_level(logging.INFO)
    made = performed("sla/table1.yaml", *part("sst2", "sst2", "bert_plain", "bert_wla", "bert_sla"))
    assert made == {
        "gates_sst2": {"gates.csv", "gates.png", "gates.svg"},
        "attention": {"attention.png", "attention.svg"},
        "examples_sst2": {"examples.html"},
    }
    passed = [r.message.split()[1] for r in caplog.records if "is passed over" in r.message]
    assert passed == ["gates_fce", "gates_cola", "examples_cola"]
    numbers = (tmp_path / "after" / "gates_sst2" / "gates.csv").read_text()
    assert "bert_wla_tiny" in numbers
    assert "bert_sla_tiny" in numbers


def test_cases_and_robustness_of_dual_attention(part, tmp_path) -> None:
    given = part("qqp", "dabert_qqp", "bert_plain", "dabert")
    made = performed("dabert/table1.yaml", *given)
    assert made == {
        "attention": {"attention.png", "attention.svg"},
        "cases": {"cases.html"},
        "wrong_cases": {"cases.html"},
        "examples": {"examples.html"},
    }
    page = (tmp_path / "after" / "cases" / "cases.html").read_text()
    assert page.count("aptitude") >= 2
    shutil.rmtree(tmp_path / "after")
    made = performed("dabert/table3.yaml", *given)
    assert set(made) == {"perturb_qqp", "robustness_qqp", "examples"}
    assert "qqp/NumWord/changes.jsonl" in made["perturb_qqp"]
    assert {"qqp.md", "qqp/BERT/1/NumWord.jsonl"} <= made["robustness_qqp"]
    table = (tmp_path / "after" / "robustness_qqp" / "qqp.md").read_text()
    assert "| BERT |" in table
    assert "| DABERT |" in table
    assert "SyntaxBERT" not in table


def test_questions_maps_and_ensemble_of_coattention(tmp_path) -> None:
    home, root = make_runs(tmp_path / "made"), tmp_path / "runs"
    models = {"bert_plain": "plain", "model1": "query", "model2": "literal", "model3": "query"}
    for system, made in models.items():
        own = {"dataset": "squad", "options": {"arch": "bertqa_tiny"}, "home": root}
        finish(root / "squad", f"{system}_tiny", 1e-3, 1, 0.5, metric="f1", **own)
        (folder,) = (root / "squad" / f"{system}_tiny").glob("*/seed1")
        shutil.copy(home / made / "checkpoint_best.pt", folder)
        answers = ["--split", "valid", "--output", folder / "predictions", "--cpu"]
        run("answer", folder, *answers)
    made = performed("bertqa_squad/table3.yaml", root, "squad", home / "data")
    assert made.pop("ensemble") >= {"metrics.json", "predictions.json"}
    assert made.pop("questions") == {"errors.html"}
    assert made.pop("examples") == {"examples.html"}
    table = (root / "after" / "examples" / "examples.html").read_text()
    assert "BERT Large, Ensemble" in table
    kinds = ("answered", "unanswered")
    figure = {"coattention.png", "coattention.svg"}
    assert made == {f"coattention_{kind}": figure for kind in kinds}
    assert "BERT Large, Model 1, Ensemble" in (root / "after/questions/errors.html").read_text()
    logs = [(root / "after" / f"coattention_{kind}" / "log").read_text() for kind in kinds]
    assert ["gold: none" in log for log in logs] == [False, True]


def test_attention_and_examples_of_translation(folder, model, plain, tmp_path) -> None:
    runs = tmp_path / "sample_en_de"
    for system, checkpoint, features in (
        ("baseline", plain, "none"),
        ("syntax", model, "pos,case,subword"),
    ):
        translated(runs, system, 10.0, fraction=0.5, features=features)
        made = translated(runs, system, 20.0, features=features)
        shutil.copy(checkpoint, made / "checkpoint_best.pt")
        (made / "generate.test.log").write_text(generate(folder, checkpoint).out)
    (tmp_path / "experiment.json").write_text(
        json.dumps({"parts": [{"name": "sample_en_de", "folder": "sample_en_de"}]})
    )
    made = performed("sample_en_de/fractions.yaml", tmp_path, "sample_en_de", folder)
    assert made == {
        "attention": {"attention.png", "attention.svg"},
        "examples": {"examples.html"},
    }
