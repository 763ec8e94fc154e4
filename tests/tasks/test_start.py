"""What is said of the checkpoint that a training starts from."""

from __future__ import annotations

import pytest
import torch
from fairseq.dataclass.configs import CheckpointConfig
from omegaconf import OmegaConf
from torch import distributed

from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.tasks._checks import Refused
from fairseq_plugins.tasks._start import check_start

LAST = "checkpoint_last.pt"


@pytest.fixture
def said(tmp_path, caplog):
    """Return what starts a training from a checkpoint of other options, and gives what is said."""

    def start(own, **given):
        path = tmp_path / "run" / LAST
        path.parent.mkdir()
        told = {"_name": "bert_plain_tiny", "dropout": 0.1, "tree_source": "parse"}
        torch.save({"cfg": {"model": told}, "model": {"w": torch.zeros(1)}}, path)
        places = {key: str(tmp_path / value) for key, value in given.items() if "/" in str(value)}
        places.setdefault("save_dir", str(tmp_path / "new"))
        new = OmegaConf.merge(OmegaConf.structured(BertConfig), {"_name": "bert_plain_tiny"} | own)
        start_at = OmegaConf.merge(OmegaConf.structured(CheckpointConfig), given | places)
        cfg = {"optimizer": {"_name": "adam"}, "checkpoint": start_at, "task": {}}
        check_start(OmegaConf.create(cfg).task, new, lambda options: None)
        return caplog.text

    return start


@pytest.mark.parametrize(
    ("given", "goes_on"),
    [
        ({"restore_file": f"run/{LAST}"}, True),
        ({"restore_file": f"run/{LAST}", "reset_optimizer": True}, False),
        ({"save_dir": "./run"}, True),
        ({"save_dir": "./run", "reset_optimizer": True}, False),
        ({"finetune_from_model": f"run/{LAST}"}, False),
    ],
    ids=str,
)
def test_other_options_are_told_where_a_training_goes_on(said, given, goes_on):
    told = said({"dropout": 0.3}, **given)
    assert ("with other options: --dropout 0.3 (there 0.1)\n" in told) == goes_on


def test_another_control_goes_on_in_no_run_of_its_own(said):
    with pytest.raises(Refused, match=r"--tree-source chain \(there parse\).*another --save-dir"):
        said({"tree_source": "chain"}, save_dir="./run")


@pytest.mark.parametrize("name", ["restore_file", "finetune_from_model"])
def test_another_control_may_start_a_run_elsewhere(said, name):
    told = said({"tree_source": "chain"}, **{name: f"run/{LAST}"})
    assert ("--tree-source chain" in told) == (name == "restore_file")


@pytest.mark.parametrize("alike", [True, False])
def test_all_processes_find_what_a_training_goes_on_from(said, monkeypatch, alike):
    def gather(found, own):
        found[:] = [own, own if alike else (own[0], False, own[2])]

    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "get_world_size", lambda: 2)
    monkeypatch.setattr(distributed, "all_gather_object", gather)
    if alike:
        said({"dropout": 0.3}, save_dir="./run")
        return
    with pytest.raises(Refused, match=f"{LAST}.* is not there for all of its processes"):
        said({"dropout": 0.3}, save_dir="./run")
