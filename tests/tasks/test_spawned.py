"""What one of several processes of a training is given."""

from __future__ import annotations

import multiprocessing
import threading
from types import SimpleNamespace

import pytest
from fairseq.dataclass.configs import CheckpointConfig
from omegaconf import OmegaConf

from fairseq_plugins.tasks import _spawned
from fairseq_plugins.tasks._checks import Refused


def settled(processes):
    """Return the options for the checkpoint after a task has settled."""
    checkpoint = OmegaConf.structured(CheckpointConfig)
    cfg = {"optimizer": {"_name": "adam"}, "checkpoint": checkpoint, "task": {}}
    cfg["distributed_training"] = {"distributed_world_size": processes}
    run = OmegaConf.create(cfg)
    _spawned.settle(run.task)
    return run.checkpoint


@pytest.mark.parametrize(("processes", "all_read"), [(1, False), (2, True)])
def test_every_process_of_several_reads_the_checkpoint(processes, all_read):
    assert settled(processes).load_checkpoint_on_all_dp_ranks == all_read


def test_processes_of_torchrun_that_would_train_alone_are_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    settled(1)  # some clusters set it alone
    for name in _spawned.TORCHRUN:
        monkeypatch.setenv(name, "0")
    settled(2)
    with pytest.raises(Refused, match="torchrun started 2 .*: add --distributed-world-size 2$"):
        settled(1)


def test_spawned_process_forks_its_loaders_and_ends_with_its_parent(monkeypatch):
    ended, methods, signals = threading.Event(), [], []
    told = threading.Event()
    parent = SimpleNamespace(join=ended.wait)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: parent)
    monkeypatch.setattr(
        multiprocessing, "set_start_method", lambda name, force: methods.append(name)
    )
    monkeypatch.setattr(_spawned.os, "kill", lambda *how: (signals.append(how), told.set()))
    settled(2)
    assert methods == [None]
    assert signals == []
    ended.set()
    assert told.wait(10)
    assert signals == [(_spawned.os.getpid(), _spawned.signal.SIGTERM)]


def test_process_that_nobody_spawned_keeps_how_it_starts_others(monkeypatch):
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)
    monkeypatch.setattr(multiprocessing, "set_start_method", pytest.fail)
    settled(2)
