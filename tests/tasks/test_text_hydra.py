"""fairseq-hydra-train: both tasks from a configuration file, in full precision and in bfloat16."""

from __future__ import annotations

import pytest
from cli.commands import USER_DIR, differences, run, state_of
from omegaconf import OmegaConf
from prepared_text import METRIC, arguments, examples, prepare

UPDATES = 5
LAST = "checkpoint_last.pt"


def configuration(folder, save_dir, task, metric):
    """What one writes into a configuration file; the values are those of `by_command`."""
    return {
        "common": {"user_dir": str(USER_DIR), "cpu": True, "seed": 1, "log_format": "json"},
        "task": {"_name": task, "data": str(folder)},
        "model": {
            "_name": "bert_pos_tiny",
            "pretrained": "none",
            **{"hidden_size": 16, "intermediate_size": 32},
            **{"dropout": 0.0, "attention_dropout": 0.0},
            **{"local_attention": "sla,wla", "tree_neighbours": "symmetric", "local_layers": "1"},
            **{"parent_loss_weight": 0.5, "ancestor_layers": 1},
            **{"ancestor_mask": "span", "ancestor_pairs": "open"},
        },
        "criterion": {"_name": task},
        "optimizer": {"_name": "bert_adamw"},
        "lr_scheduler": {"_name": "linear_warmup"},
        "dataset": {"batch_size": 16, "num_workers": 0},
        "optimization": {"max_update": UPDATES, "lr": [0.01]},
        "checkpoint": {
            "save_dir": str(save_dir),
            "best_checkpoint_metric": metric,
            "maximize_best_checkpoint_metric": True,
        },
    }


def by_hydra(tmp_path, config, *overrides):
    """Run a configuration; return its last checkpoint."""
    OmegaConf.save(OmegaConf.create(config), tmp_path / "tiny.yaml")
    words = ["--config-dir", tmp_path, "--config-name", "tiny", *overrides]
    run("fairseq-hydra-train", *words, cwd=tmp_path)
    return state_of(tmp_path / "run" / LAST)


def by_command(tmp_path, folder, metric):
    """Run the same on the command line; return its last checkpoint."""
    options = "--arch bert_pos_tiny --optimizer bert_adamw --lr-scheduler linear_warmup --lr 0.01 "
    options += f"--max-update {UPDATES} --best-checkpoint-metric {metric} --user-dir {USER_DIR} "
    options += "--maximize-best-checkpoint-metric --local-attention sla,wla --local-layers 1 "
    options += "--tree-neighbours symmetric --parent-loss-weight 0.5 --ancestor-layers 1 "
    options += "--ancestor-mask span --ancestor-pairs open"
    run("fairseq-train", *arguments(folder, tmp_path / "other", *options.split()))
    return state_of(tmp_path / "other" / LAST)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("classes", marks=pytest.mark.slow), "errors"])
def test_hydra_trains_what_the_command_line_trains(tmp_path, kind):
    splits = {name: examples(kind, 60, seed) for seed, name in enumerate(("train", "valid"))}
    folder = prepare(tmp_path / "bin", kind, splits, annotations=("pos", "heads"))
    task = "text_classification" if kind == "classes" else "sequence_labeling"
    config = configuration(folder, tmp_path / "run", task, METRIC[kind])
    one, other = by_hydra(tmp_path, config), by_command(tmp_path, folder, METRIC[kind])
    assert differences(one["model"], other["model"]) == []
    assert one["extra_state"]["best"] == other["extra_state"]["best"]
    by_hydra(tmp_path, config, "common.bf16=true", f"checkpoint.save_dir={tmp_path}/half")
    half = state_of(tmp_path / "half" / LAST)
    for name, weight in half["model"].items():
        assert weight.bfloat16().float().equal(weight.float()), name
    assert half["optimizer_history"][-1]["num_updates"] == UPDATES
