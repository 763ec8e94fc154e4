"""`train FILE`: one model from a file, where `run` would put it, and what it says meanwhile."""

from __future__ import annotations

import json
import threading
import time
from types import SimpleNamespace

import pytest
from cli.shims import run
from prepared_text import examples, prepare

from fairseq_plugins.cli.train import progress_of, scores_of
from fairseq_plugins.lab.execution.followed import followed

FILE = """
dataset: toy
systems: [bert_plain_tiny]
learning_rates: [5e-3]
epochs: [2]
seeds: [1]
batch_size: 20
options: {pretrained: none, hidden-size: 16, intermediate-size: 32, dropout: 0}
"""


@pytest.fixture
def file(tmp_path):
    """A file of one run, with where its data and run are."""
    texts = {"train": examples("classes", 203), "valid": examples("classes", 45, 1)}
    prepare(tmp_path / "bin", "classes", texts)
    (tmp_path / "toy.yaml").write_text(FILE)
    return [tmp_path / "toy.yaml", "--data", tmp_path / "bin", "--runs", tmp_path / "runs", "--cpu"]


@pytest.mark.slow
def test_a_model_is_trained_followed_and_found_again(file, tmp_path):
    done = run("train", *file)
    folder = tmp_path / "runs" / "bert_plain_tiny" / "lr0.005-epochs2" / "seed1"
    lines = [line for line in done.err.splitlines() if line.startswith("update ")]
    said = [line for line in lines if ": " in line]  # the others tell progress, if it takes long
    assert [line.split(":")[0] for line in said] == ["update 11 of 22", "update 22 of 22"]
    result = json.loads((folder / "result.json").read_text())
    chosen = next(line for line in said if line.startswith(f"update {result['best_updates']} "))
    assert f": mcc {result['best']['mcc']:g}, " in chosen
    first, predicting, exporting = done.out.splitlines()
    assert first == str(folder)
    assert predicting.endswith(f"predict {folder} --input -")
    assert exporting.startswith(f"fairseq-plugins export {folder} ")
    again = run("train", *file)
    assert again.out == done.out
    assert "update " not in again.err  # nothing is trained twice
    assert run("run", *file).err.count("1 of 1 runs are finished") == 1


def test_a_file_of_several_runs_asks_for_one(run_here, file, tmp_path):
    several = FILE.replace("[bert_plain_tiny]", "[bert_plain_tiny, bert_pos_tiny]")
    (tmp_path / "toy.yaml").write_text(several.replace("[1]", "[1, 2]"))
    done = run_here("train", *file, fails=True)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "has 4 runs" in done.err
    assert "--archs bert_plain_tiny | bert_pos_tiny; --seeds 1 | 2" in done.err
    assert not (tmp_path / "runs").exists()
    chosen = ["--archs", "bert_pos_tiny", "--seeds", 2, "--learning-rates", "1e-3", "--dry-run"]
    (line,) = run_here("train", *file, *chosen).out.splitlines()
    assert "--arch bert_pos_tiny" in line
    assert "--lr 0.001" in line
    assert "--seed 2" in line


def test_a_file_of_several_parts_is_refused_before_its_data_are_prepared(file, tmp_path):
    parts = "".join(f"  - {{name: {name}, grid: one.yaml}}\n" for name in ("a", "b"))
    (tmp_path / "one.yaml").write_text(FILE)
    (tmp_path / "toy.yaml").write_text(f"parts:\n{parts}")
    told = run("train", tmp_path / "toy.yaml", "--raw", tmp_path, fails=True).err
    assert told.count("\n") == 1
    assert "has 2 parts (a, b)" in told
    assert "with --parts" in told


def test_every_validation_is_shown_once(tmp_path):
    log, shown = tmp_path / "train.log", []
    line = 'x | INFO | valid | {"valid_loss": "0.5", "valid_num_updates": "%d"}\n'
    log.write_text(line % 5)
    came = threading.Event()

    def show(found):
        shown.append(found.updates)
        came.set()

    with followed(log, show, lambda *_: None, look=0.01), log.open("a") as stream:
        stream.write(line % 10)
        stream.flush()
        assert came.wait(30)
        stream.write(line % 15)
    assert shown == [10, 15]
    with followed(tmp_path / "none.log", show, lambda *_: None, look=0.01):
        pass
    assert shown == [10, 15]


def test_progress_is_told_where_a_training_goes_on(tmp_path):
    log, told, came = tmp_path / "train.log", [], threading.Event()
    line = '| INFO | train_inner | {"loss": "1", "ups": "2.5", "num_updates": "%d"}\n'
    log.write_text(line % 20)

    def tell(updates, rate):
        told.append((updates, rate))
        came.set()

    with followed(log, print, tell, look=0.01, every=0.05):
        time.sleep(0.2)
        assert told == []  # it stands
        with log.open("a") as stream:
            stream.write(line % 40)
        assert came.wait(30)
        time.sleep(0.2)
    assert told == [(40, 2.5)]
    said = progress_of(40, 2.5, SimpleNamespace(updates=640))
    assert said == "update 40 of 640, 2.5 a second, 4 minutes left"


def test_the_score_on_the_split_of_evaluation_is_said(tmp_path):
    path = tmp_path / "evaluation.test.json"
    one = SimpleNamespace(evaluation=path, grid=SimpleNamespace(evaluate="test"))
    assert list(scores_of(one)) == []
    path.write_text(json.dumps({"of": "test", "metrics": {"bleu": 32.0188, "chrf": 55.47175}}))
    assert list(scores_of(one)) == ["test: bleu 32.02, chrf 55.47"]
