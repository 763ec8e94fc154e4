"""BERT's recipe through fairseq-train: stopped in the middle of an epoch = straight through."""

from __future__ import annotations

import shutil

import pytest
from cli.commands import USER_DIR, differences, run, state_of, training_state
from prepared_text import arguments, examples, prepare

RECIPE = (
    "--optimizer bert_adamw --weight-decay 0.01 --lr-scheduler linear_warmup --warmup-ratio 0.25 "
    "--lr 0.01 --clip-norm 1.0 --max-update 20 --save-interval-updates 7 --dropout 0.1 "
    "--log-format json --layer-lr-decay 0.8"
)


@pytest.mark.slow
def test_resumed_training_equals_the_straight_one(tmp_path):
    splits = {name: examples("classes", 203, seed) for seed, name in enumerate(("train", "valid"))}
    folder = prepare(tmp_path / "bin", "classes", splits)
    straight, resumed = tmp_path / "straight", tmp_path / "resumed"

    def train(save_dir):
        words = [*RECIPE.split(), "--user-dir", str(USER_DIR)]
        return run("fairseq-train", *arguments(folder, save_dir, *words))

    train(straight)
    resumed.mkdir()
    shutil.copy(straight / "checkpoint_1_7.pt", resumed / "checkpoint_last.pt")
    outcome = train(resumed)
    assert "Loaded checkpoint" in outcome.out + outcome.err
    states = [training_state(path / "checkpoint_last.pt") for path in (straight, resumed)]
    assert differences(*states) == []
    state = state_of(straight / "checkpoint_last.pt")  # loads with weights_only
    assert state["optimizer_history"][-1]["optimizer_name"] == "BertAdamW"
    groups = state["last_optimizer_state"]["param_groups"]
    assert [group["weight_decay"] for group in groups] == [0.01, 0.0] * 4
    assert [group["rate"] for group in groups[::2]] == [0.8**k for k in range(4)]
    assert {group["lr"] for group in groups} == {0.0}
