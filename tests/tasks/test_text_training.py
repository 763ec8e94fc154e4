"""Training by fairseq's own commands: it learns, keeps the best checkpoint, stops and goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from cli.commands import (
    USER_DIR,
    differences,
    run,
    state_of,
    training_state,
)
from prepared_text import LABELS, METRIC, arguments, examples, prepare, train

from fairseq_plugins.bundles.run_folder import kept_by
from fairseq_plugins.tasks._text_task import TextTask

SIZES = {"train": 203, "valid": 45, "more": 30}
EPOCHS = 4
WIDE = "--max-epoch 10 --lr 0.003 --hidden-size 64 --intermediate-size 128"  # several labels
LAST = "checkpoint_last.pt"


def prepared(root: Path, kind: str) -> Path:
    splits = {name: examples(kind, n, seed) for seed, (name, n) in enumerate(SIZES.items())}
    return prepare(root, kind, splits, annotations=("pos", "heads"))


def run_train(folder: Path, save_dir: Path, kind: str, options: str = ""):
    """Train in a process of its own; return what it logged."""
    fixed = f"--max-epoch {EPOCHS} --log-format json --num-attention-heads 2 --lr 0.01 "
    fixed += f"--best-checkpoint-metric {METRIC[kind]} --maximize-best-checkpoint-metric "
    words = [*fixed.split(), *options.split(), "--user-dir", str(USER_DIR)]
    return run("fairseq-train", *arguments(folder, save_dir, *words))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {kind: prepared(tmp_path_factory.mktemp("bin") / kind, kind) for kind in LABELS}


@pytest.fixture(scope="module")
def runs(folders, tmp_path_factory):
    """Train once for each kind; give the run's folder and its log."""
    made = {}

    def trained(kind):
        if kind not in made:
            save_dir = tmp_path_factory.mktemp("run") / kind
            more = WIDE if kind == "multi_label" else ""
            made[kind] = save_dir, run_train(folders[kind], save_dir, kind, more)
        return made[kind]

    return trained


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "score", "multi_label", "errors"])
def test_what_words_decide_is_learnt(runs, kind):
    save_dir, outcome = runs(kind)
    best = state_of(save_dir / "checkpoint_best.pt")["extra_state"]["best"]
    assert best > 0.7  # by chance 0, of errors 0.1
    assert float(outcome.logged("valid")[-1][f"valid_best_{METRIC[kind]}"]) == pytest.approx(best)


@pytest.mark.slow
def test_what_two_words_decide_is_learnt(folders, tmp_path):
    """Paris is a place of its own or part of one, as the word before it says."""
    run_train(folders["entities"], tmp_path, "entities", "--max-epoch 30")
    best = state_of(tmp_path / "checkpoint_best.pt")["extra_state"]["best"]
    assert best > 0.95  # each word alone gives 0.88


def test_all_examples_are_seen(runs):
    """203 examples in batches of 16: thirteen updates, where fairseq itself would make twelve."""
    save_dir, outcome = runs("classes")
    state = state_of(save_dir / "checkpoint1.pt")
    assert state["optimizer_history"][-1]["num_updates"] == 13
    meters = {name: meter for _, name, _, meter in state["extra_state"]["metrics"]["valid"]}
    assert meters["_confusion"]["sum"].sum() == 45
    assert float(outcome.logged("train")[-1]["train_accuracy"]) > 0.83


def test_best_checkpoint_is_that_of_the_best_validation(runs):
    save_dir, outcome = runs("score")
    found = [float(record["valid_pearson"]) for record in outcome.logged("valid")]
    epoch = found.index(max(found)) + 1
    one, other = (state_of(save_dir / f"checkpoint{name}.pt") for name in (epoch, "_best"))
    assert differences(one["model"], other["model"]) == []


@pytest.mark.parametrize("kind", ["classes", "score", "errors"])
def test_checkpoint_holds_no_code_and_knows_its_labels(runs, folders, kind):
    path = runs(kind)[0] / LAST
    assert not torch.serialization.get_unsafe_globals_in_checkpoint(path)
    cfg = state_of(path)["cfg"]
    assert json.loads(cfg["model"]["labels"]) == LABELS[kind]
    assert cfg["model"]["target"] == ("word_labels" if kind == "errors" else kind)
    assert cfg["task"]["_name"] == cfg["criterion"]["_name"]
    assert cfg["task"]["data"] == str(folders[kind])
    assert cfg["task"]["train_subset"] == "train"


def kept_of(save_dir: Path, name: str = LAST) -> tuple[str, str]:
    """Return what a checkpoint says that its run keeps, and what is kept."""
    return state_of(save_dir / name)["task_state"]["prepared"], kept_by(save_dir)


@pytest.mark.slow
def test_a_run_keeps_what_raw_text_needs_and_its_checkpoints_say_so(folders, tmp_path, monkeypatch):
    own, more = folders["classes"], ["--disable-validation", "--max-update"]
    with monkeypatch.context() as patch:
        patch.setattr(TextTask, "load_dataset", lambda *given, **how: pytest.fail("stopped"))
        with pytest.raises(pytest.fail.Exception):  # before the first update
            train(own, tmp_path / "run", *more, "1")
    place = tmp_path / "run" / "prepared"
    first = {path: path.stat().st_ino for path in place.iterdir()}
    assert first
    train(own, tmp_path / "run", *more, "1")
    train(own, tmp_path / "run", *more, "2")
    assert {path: path.stat().st_ino for path in place.iterdir()} == first
    said, kept = kept_of(tmp_path / "run")
    assert said == kept
    assert "| dataset | toy |" in (place / "README.md").read_text()
    train(own, tmp_path / "none", *more, "1", "--no-save")
    assert list((tmp_path / "none").iterdir()) == []


@pytest.mark.slow
def test_a_folder_of_another_runs_checkpoints_is_refused(folders, tmp_path):
    more = ["--disable-validation", "--max-update"]
    one = train(folders["classes"], tmp_path / "run", *more, "1")
    kept = kept_by(one)
    other = prepare(tmp_path / "data", "classes", {"train": examples("classes", 30)})
    with pytest.raises(
        SystemExit, match=r"checkpoint_last\.pt, trained on another prepared folder"
    ):
        train(other, one, *more, "2")
    assert kept_by(one) == kept
    begun = ["--restore-file", str(one / LAST), "--reset-dataloader", "--reset-optimizer"]
    said, kept = kept_of(train(other, tmp_path / "next", *more, "2", *begun))
    assert said == kept != kept_by(one)


def test_validation_command_gives_the_metrics_of_training(runs, folders):
    """Of two splits of different lengths, in batches of another size."""
    save_dir, outcome = runs("score")
    options = "--task text_classification --batch-size 7 --valid-subset valid,more --cpu"
    options += f" --log-format json --user-dir {USER_DIR} --path {save_dir / LAST}"
    found = run("fairseq-validate", folders["score"], *options.split())
    last = outcome.logged("valid")[-1]
    (valid,), (more,) = found.logged("valid"), found.logged("more")
    for metric in ("pearson", "spearman", "mse", "loss"):
        assert float(valid[f"valid_{metric}"]) == pytest.approx(
            float(last[f"valid_{metric}"]), rel=1e-3
        )
        assert valid[f"valid_{metric}"] != more[f"more_{metric}"]


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["checkpoint_1_5.pt", "checkpoint_2_20.pt"])
def test_resumed_run_equals_the_straight_one(straight, folders, tmp_path, stop):
    shutil.copy(straight / stop, tmp_path / LAST)
    outcome = run_train(folders["classes"], tmp_path, "classes", RESUMABLE)
    assert "Loaded checkpoint" in outcome.out
    one, other = (training_state(path / LAST) for path in (straight, tmp_path))
    assert differences(one, other) == []


RESUMABLE = "--max-epoch 2 --save-interval-updates 5 --dropout 0.1 --attention-dropout 0.1"


@pytest.fixture(scope="module")
def straight(folders, tmp_path_factory):
    """A run with dropout that leaves a checkpoint every five updates."""
    save_dir = tmp_path_factory.mktemp("straight")
    run_train(folders["classes"], save_dir, "classes", RESUMABLE)
    return save_dir


SYNTAX = "--arch bert_sla_tiny --features pos --local-attention sla,wla --tree-threshold 1 "
SYNTAX += "--parent-loss-weight 0.5 --ancestor-layers 1"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "errors"])
def test_resumed_run_of_a_tree_reader_equals_the_straight_one(folders, tmp_path, kind):
    """Gates, supervised heads, layers on top and windows of long examples, in this process."""
    options = f"{SYNTAX} --max-update 6 --save-interval-updates 3 --num-attention-heads 2 "
    options += "--dropout 0.1 --attention-dropout 0.1 --max-positions 12 --disable-validation "
    options += f"--long-examples {'truncate' if kind == 'classes' else 'split'}"
    straight = train(folders[kind], tmp_path / "straight", *options.split())
    (tmp_path / "resumed").mkdir()
    shutil.copy(straight / "checkpoint_1_3.pt", tmp_path / "resumed" / LAST)
    resumed = train(folders[kind], tmp_path / "resumed", *options.split())
    one, other = (training_state(path / LAST) for path in (straight, resumed))
    assert differences(one, other) == []
    begun = training_state(straight / "checkpoint_1_3.pt")
    assert any(".gate." in place for place in differences(begun["model"], one["model"]))
