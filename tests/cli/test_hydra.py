"""fairseq-hydra-train: the model and task of a configuration folder train and translate."""

from __future__ import annotations

import re

import pytest
from cli.commands import ROOT, USER_DIR, differences, generate, run, state_of, train
from omegaconf import OmegaConf
from page_scripts import blocks_of

pytestmark = pytest.mark.slow


def configuration(folder, save_dir, **model):
    """What one writes into ``config/tiny.yaml``."""
    return {
        "common": {"user_dir": str(USER_DIR), "cpu": True, "seed": 1},
        "task": {"_name": "syntax_translation", "data": str(folder)},
        "model": {"_name": "syntax_transformer_tiny", "dropout": 0.0, **model},
        "criterion": {"_name": "label_smoothed_cross_entropy"},
        "optimizer": {"_name": "adam"},
        "lr_scheduler": {"_name": "fixed"},
        "dataset": {"batch_size": 40, "num_workers": 0},
        "optimization": {"max_update": 10, "lr": [0.003]},
        "checkpoint": {"save_dir": str(save_dir), "no_epoch_checkpoints": True},
    }


def hydra_train(config, tmp_path, *overrides, **kwargs):
    (tmp_path / "config").mkdir(exist_ok=True)
    OmegaConf.save(OmegaConf.create(config), tmp_path / "config" / "tiny.yaml")
    arguments = ["--config-dir", tmp_path / "config", "--config-name", "tiny", *overrides]
    return run("fairseq-hydra-train", *arguments, cwd=tmp_path, **kwargs)


@pytest.fixture(scope="module")
def by_hydra(folder, tmp_path_factory):
    """Checkpoint of a run by hydra."""
    where = tmp_path_factory.mktemp("hydra")
    hydra_train(configuration(folder, where / "run"), where)
    return where / "run" / "checkpoint_last.pt"


def test_hydra_trains_the_model_that_the_command_line_trains(folder, by_hydra, tmp_path):
    options = "--max-update 10 --no-epoch-checkpoints --lr-scheduler fixed"
    train(folder, tmp_path, options)
    mine = state_of(tmp_path / "checkpoint_last.pt")["model"]
    assert differences(state_of(by_hydra)["model"], mine) == []


def test_model_trained_by_hydra_translates(folder, by_hydra):
    assert len(generate(folder, by_hydra).lines("H")) == 37


def test_hydra_takes_sizes_and_overrides(folder, tmp_path):
    config = configuration(folder, tmp_path / "run", features="pos", feature_embed_dim=8)
    overrides = ("+model.encoder_layers=1", "optimization.max_update=2")
    hydra_train(config, tmp_path, *overrides)
    state = state_of(tmp_path / "run" / "checkpoint_last.pt")
    assert state["optimizer_history"][-1]["num_updates"] == 2
    names = list(state["model"])
    assert any(name.startswith("encoder.layers.0.") for name in names)
    assert not any(name.startswith("encoder.layers.1.") for name in names)
    assert any(name.startswith("decoder.layers.1.") for name in names)
    assert state["model"]["encoder.embed_tokens.words.weight"].size(1) == 64 - 8
    assert state["cfg"]["model"]["features"] == "pos"


def test_bfloat16_works_by_hydra(folder, tmp_path):
    """On the command line fairseq takes --bf16 to mean a TPU; by hydra it does not."""
    config = configuration(folder, tmp_path / "run")
    config["common"]["bf16"] = True
    hydra_train(config, tmp_path, "optimization.max_update=4")
    last = tmp_path / "run" / "checkpoint_last.pt"
    for name, weight in state_of(last)["model"].items():
        assert weight.bfloat16().float().equal(weight.float()), name
    assert len(generate(folder, last).lines("H")) == 37


def test_unknown_option_is_named(folder, tmp_path):
    config = configuration(folder, tmp_path / "run", features="colour")
    found = hydra_train(config, tmp_path, fails=True)
    assert "colour" in found.err + found.out


def test_the_recipe_of_the_page_trains(folder, tmp_path):
    page = (ROOT / "docs" / "translate.md").read_text(encoding="utf-8")
    (recipe,) = [block.text for block in blocks_of(page) if block.language == "yaml"]
    (command,) = [
        block.text for block in blocks_of(page) if block.text.startswith("fairseq-hydra-train ")
    ]
    names = re.findall(r'([\w.]+)="', command)
    assert names == ["common.user_dir", "task.data", "checkpoint.save_dir"]
    places = map("=".join, zip(names, map(str, (USER_DIR, folder, tmp_path / "run"))))
    small = ["optimization.max_update=2", "common.cpu=true", "+model.encoder_layers=1"]
    small += ["+model.decoder_layers=1", "common.no_progress_bar=true"]
    hydra_train(OmegaConf.create(recipe), tmp_path, *places, *small)
    state = state_of(tmp_path / "run" / "checkpoint_last.pt")
    assert state["cfg"]["model"]["features"] == "pos,case,subword"
    assert state["cfg"]["lr_scheduler"]["warmup_updates"] == 4000
