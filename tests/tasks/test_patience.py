"""``--patience`` counts on after a stop."""

from __future__ import annotations

import sys

import prepared
import prepared_text
import pytest
from cli.commands import state_of
from prepared_text import examples, prepare, train

should_stop_early = prepared_text.fairseq_train.should_stop_early

LAST = "checkpoint_last.pt"


@pytest.fixture(autouse=True)
def _one_module(monkeypatch):
    """Keep to the module whose function trains here, in case another test has read it anew."""
    monkeypatch.setitem(sys.modules, "fairseq_cli.train", prepared_text.fairseq_train)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    splits = {name: examples("classes", 20, seed) for seed, name in enumerate(("train", "valid"))}
    return prepare(tmp_path_factory.mktemp("bin") / "classes", "classes", splits)


def trained(folder, save_dir, epochs: int, *more: str) -> int:
    """Train as in a process of its own, where nothing becomes better; return the last epoch."""
    vars(should_stop_early).clear()
    options = f"--max-epoch {epochs} --lr 0 --patience 3 --num-attention-heads 2".split()
    train(folder, save_dir, *options, *more)
    return state_of(save_dir / LAST)["extra_state"]["train_iterator"]["epoch"] - 1


def test_translation_counts_on_too(tmp_path):
    pairs = {name: prepared.random_pairs(20, seed) for seed, name in enumerate(("train", "valid"))}
    folder = prepared.prepare(tmp_path / "bin", pairs)
    words = "--arch syntax_transformer --encoder-layers 1 --decoder-layers 1 --lr 0 --patience 3"
    words += (
        " --features none --encoder-embed-dim 8 --decoder-embed-dim 8 --encoder-attention-heads 2"
    )
    words += " --encoder-ffn-embed-dim 8 --decoder-ffn-embed-dim 8 --decoder-attention-heads 2"
    for epochs, last in ((2, 2), (9, 4)):
        vars(should_stop_early).clear()
        more = (*words.split(), "--max-tokens", "100", "--max-epoch", str(epochs))
        state = state_of(prepared.train(folder, tmp_path / "run", *more))
        assert state["extra_state"]["train_iterator"]["epoch"] - 1 == last


def test_a_resumed_training_stops_where_the_straight_one_does(folder, tmp_path):
    assert trained(folder, tmp_path / "straight", 9) == 4
    run = tmp_path / "run"
    assert trained(folder, run, 2) == 2
    assert state_of(run / LAST)["task_state"]["patience"]["runs"] == 1
    assert trained(folder, run, 3) == 3
    assert trained(folder, run, 9) == 4


@pytest.mark.parametrize(
    "more",
    [
        ["--best-checkpoint-metric", "accuracy", "--maximize-best-checkpoint-metric"],
        ["--reset-optimizer", "--reset-dataloader"],
    ],
)
def test_another_metric_and_another_start_count_anew(folder, tmp_path, more):
    trained(folder, tmp_path, 3)
    anew = 4 if "--reset-dataloader" in more else 7
    assert trained(folder, tmp_path, 9, *more) == anew


def test_without_patience_checkpoints_hold_no_count(folder, tmp_path):
    trained(folder, tmp_path, 1, "--patience", "-1")
    assert "patience" not in state_of(tmp_path / LAST)["task_state"]
