"""What `import fairseq_plugins` gives: names, refusals before any work, runs, models."""

from __future__ import annotations

import inspect
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from prepared_text import examples, prepare

import fairseq_plugins as fp
from fairseq_plugins.lab.plan.usual import USUAL, usual

ROOT = Path(__file__).parents[2]
TINY = {"pretrained": "none", "hidden_size": 16, "intermediate_size": 32}
CSV = "review,stars\n" + "".join(f"The film is {w} {i}.,{w}\n" for i in range(9) for w in "ab")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A prepared folder of classes."""
    path = tmp_path_factory.mktemp("python") / "bin"
    prepare(
        path, "classes", {"train": examples("classes", 64), "valid": examples("classes", 20, 1)}
    )
    return path


def test_public_names_have_signatures_and_short_lists() -> None:
    assert {*fp.PUBLIC} <= {*dir(fp)}
    for name in fp.PUBLIC:
        assert inspect.getdoc(getattr(fp, name)), name
    names = {"path", "data", "checkpoint", "cpu", "int8", "spacy_model"}
    assert names <= {*inspect.signature(fp.load).parameters}
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        getattr(fp, "lode")  # noqa: B009


def test_a_table_is_prepared_and_says_what_it_is(tmp_path) -> None:
    (tmp_path / "mine.csv").write_text(CSV)
    how = {"text": "review", "label": "stars", "out": tmp_path / "bin", "layers": "none"}
    data = fp.prepare_text(tmp_path / "mine.csv", **how)
    assert sum(data.counts.values()) == 18
    assert data.counts["valid"]  # held out
    assert (data.labels, data.layers) == (["a", "b"], ["case", "subword"])
    assert "train 1" in repr(data)
    assert "labels a, b" in repr(data)
    assert repr(fp.Data.open(data)) == repr(data)
    with pytest.raises(fp.InputError, match="no column 'text'.*review, stars"):
        fp.prepare_text(tmp_path / "mine.csv", label="stars", out=tmp_path / "other")
    (tmp_path / "mine.csv").rename(tmp_path / "my,own.csv")
    with pytest.raises(fp.InputError, match=r"my,own\.csv': a comma separates files"):
        fp.prepare_text(tmp_path / "my,own.csv", **how)
    with pytest.raises(fp.InputError, match="no model is given"):
        fp.load([])
    with pytest.raises(fp.InputError, match="'worker' is no option .* workers"):
        fp.prepare_text(tmp_path / "mine.csv", **how, worker=2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"arch": "bert_slow_tiny"}, "like it: bert_sla_tiny"),
        ({"arch": "bert_plain_tiny", "drop_out": 0.1}, "--drop-out: .* no such option .*dropout"),
        ({"arch": "bert_plain_tiny", "max_update": 3}, "'max-update': decided by"),
        ({"arch": "bert_plain_tiny", "epochs": 0}, "epochs"),
        ({"arch": "bert_plain_tiny", "epochs": 1, "updates": 2}, "give one of them"),
        ({"arch": "bert_plain_tiny", "epochs": 2, "updates": 0}, "give one of them"),
        ({"arch": "bert_plain_tiny", "updates": 0}, "updates=0: at least 1"),
        ({"arch": "bert_plain_tiny", "patience": 1}, "'patience': a run is as long as"),
        ({"arch": "bert_plain_tiny", "metric": "f2"}, "f2"),
        ({"arch": "bert_plain_tiny", "seed": [1, 2]}, "2 runs: give one value of each"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_any_work(folder, tmp_path, given, said) -> None:
    with pytest.raises(fp.InputError, match=said):
        fp.train(folder, runs=tmp_path / "runs", cpu=True, **given)
    assert not (tmp_path / "runs").exists()


def test_usual_trainings_are_those_of_the_examples() -> None:
    for name, (example, keys) in USUAL.items():
        grid = yaml.safe_load((ROOT / "examples" / example).read_text())
        own = {**keys, **keys.get("options", {})}
        held = {**grid, **grid.get("options", {})}
        for key in own.keys() - {"options"}:
            first = held[key][0] if isinstance(held[key], list) else held[key]
            said = float(first) if key == "learning_rates" else first
            assert said == own[key], (name, key)
    assert usual("dabert_large", "classes") == USUAL["dabert"][1]
    assert usual("bertqa_base", "spans") == USUAL["spans"][1]
    assert usual("bert_plain_tiny", "classes") == {"learning_rates": 5e-5}


def test_a_model_has_the_methods_of_its_kind_and_names_them() -> None:
    from fairseq_plugins.python.models import QuestionModel, TranslationModel

    class Inner:
        older = 3

    model = QuestionModel(Inner(), "runs/squad")
    assert dir(model) == ["answer", "attention", "evaluate"]
    assert model.older == 3  # what earlier releases returned
    assert repr(model) == "Model runs/squad for extractive_qa: answer, evaluate, attention"
    for wrong in (lambda: model.predict(["a"]), lambda: model.gates("a")):
        with pytest.raises(fp.InputError, match="runs/squad is a model for extractive_qa and has"):
            wrong()
    with pytest.raises(fp.InputError, match="question and context, not 1 texts"):
        model.attention("a")
    with pytest.raises(fp.InputError, match="of one sentence, not of 2"):
        TranslationModel(Inner(), "runs/de").attention("a", "b")


def _interrupt(log: Path) -> None:
    """Interrupt this process, as a notebook does, once a training has begun."""
    while not (log.is_file() and "num_updates" in log.read_text()):
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def interruptible():
    """Interruptions are taken, also where, as in the background of a script, they are ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.long
@pytest.mark.usefixtures("interruptible")
def test_a_training_is_interrupted_resumed_found_again_and_used(folder, tmp_path) -> None:
    how = {
        "runs": tmp_path / "runs",
        "cpu": True,
        "lr": 5e-3,
        "epochs": 100,  # long enough that the interruption comes before the end
        "batch_size": 8,
        **TINY,
    }
    place = tmp_path / "runs" / "bert_wla_tiny" / "lr0.005-epochs100" / "seed1"
    threading.Thread(target=_interrupt, args=[place / "train.log"], daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        fp.train(folder, "bert_wla_tiny", **how)
    assert not (place / "result.json").exists()
    run = fp.train(folder, "bert_wla_tiny", **how)
    assert "Loaded checkpoint" in (place / "train.log").read_text()
    assert run.path == place
    before = (place / "result.json").stat().st_mtime_ns
    assert fp.train(folder, "bert_wla_tiny", **how).metrics == run.metrics
    assert (place / "result.json").stat().st_mtime_ns == before
    with pytest.raises(fp.InputError, match="batch-size: 8 there, 16 here"):
        fp.train(folder, "bert_wla_tiny", **how | {"batch_size": 16})
    assert run.metrics["valid"]["mcc"] == run.table()["mcc"].max()
    assert "800 updates, seed 1; valid: mcc" in repr(run)
    assert "<table" in run._repr_html_()
    model = run.load(cpu=True)
    assert "predict, evaluate, attention, gates" in repr(model)
    made = model.evaluate("valid")
    assert made["mcc"] == pytest.approx(run.metrics["valid"]["mcc"], abs=1e-3)
    said = [one.answer for one in model.predict(["alice sees good cat", "bob sees bad cat"])]
    assert said == ["yes", "no"]
    seen, gates = model.attention("alice sees good cat"), model.gates("alice sees good cat")
    assert np.asarray(seen).shape == (4, 4)
    assert seen.rows == seen.columns == "alice sees good cat".split()
    assert [*gates.layers.values()] == np.asarray(gates).tolist()
    for shown in (seen, gates):
        assert shown._repr_html_().startswith('<img alt="')
        assert all(path.is_file() for path in shown.save(tmp_path / "figure"))


@pytest.mark.long
def test_a_failed_training_ends_with_the_end_of_its_log(folder, tmp_path) -> None:
    how = {"runs": tmp_path / "runs", "cpu": True, "epochs": 1, **TINY}
    with pytest.raises(
        fp.TrainingError, match=r"exit status 1; the end of .*train\.log(.|\n)*nowhere"
    ):
        fp.train(folder, "bert_plain_tiny", train_subset="nowhere", **how)
    with pytest.raises(fp.InputError, match="other settings .*train-subset"):
        fp.train(folder, "bert_plain_tiny", **how)
