"""What is asked of several processes is checked, and how they ended is explained."""

from __future__ import annotations

import os
import pickle
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from torch.distributed.elastic.rendezvous import RendezvousError

import fairseq_plugins
from fairseq_plugins.lab.execution import distributed
from fairseq_plugins.lab.execution.distributed import (
    CPU_BACKENDS,
    GIVEN_HERE,
    GPU_BACKENDS,
    LAST,
    account,
    check,
    mend_last,
    options_of,
    restart_of,
    value_of,
)

DATA = ["data-bin/x", "--task", "syntax_translation"]


@pytest.mark.parametrize("option", GIVEN_HERE)
@pytest.mark.parametrize("form", ["{} 3", "{}=3"])
def test_options_that_the_script_gives_are_refused(option, form):
    with pytest.raises(ValueError, match=f"leave out {option}: "):
        check(2, [*DATA, *form.format(option).split()], [], gpus=0)


def test_more_processes_than_gpus_are_refused():
    check(4, DATA, [], gpus=4)
    with pytest.raises(ValueError, match=r"5 processes, but 4 GPUs on .*choices: at most 4"):
        check(5, DATA, [], gpus=4)
    check(5, DATA, [], gpus=0)


@pytest.mark.parametrize("nodes", [["--nnodes", "2"], ["--nnodes=2:4"]])
def test_machines_that_meet_nowhere_are_refused(nodes):
    with pytest.raises(ValueError, match="not where the machines meet: add --rdzv_backend c10d"):
        check(2, DATA, nodes, gpus=0)
    for point in ("--rdzv_endpoint=a:29500", "--master-addr=a"):
        check(2, DATA, [*nodes, point], gpus=0)


@pytest.mark.parametrize("backend", ["c10d", "pytorch_ddp", "fully_sharded", "slowmo"])
def test_backends_of_gpus_are_refused_on_cpu(backend, monkeypatch):
    monkeypatch.setattr(distributed, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=f"{backend} works on GPUs alone; .*legacy_ddp, no_c10d"):
        check(2, [*DATA, "--ddp-backend", backend], [], gpus=0)
    monkeypatch.setattr(distributed, "find_spec", lambda name: object())
    check(2, [*DATA, "--ddp-backend", backend], [], gpus=2)


def test_backends_are_those_of_fairseq():
    from fairseq.dataclass.constants import DDP_BACKEND_CHOICES

    assert {str(one.value) for one in DDP_BACKEND_CHOICES} == {*GPU_BACKENDS}


@pytest.mark.parametrize(("gpus", "choices"), [(0, CPU_BACKENDS), (2, GPU_BACKENDS)])
def test_a_misspelt_backend_is_told_the_choices(gpus, choices):
    with pytest.raises(ValueError, match=f"'fuly_sharded': choices are {', '.join(choices)}$"):
        check(2, [*DATA, "--ddp-backend", "fuly_sharded"], [], gpus=gpus)


def test_sharding_without_its_library_is_refused(monkeypatch):
    monkeypatch.setattr(distributed, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="needs fairscale: pip install fairscale"):
        check(2, [*DATA, "--ddp-backend=fully_sharded"], [], gpus=2)


@pytest.mark.parametrize("option", ["--bf16", "--memory-efficient-bf16"])
def test_precision_of_tpus_is_refused(option):
    for gpus in (0, 2):
        with pytest.raises(ValueError, match="--bf16 means a TPU .*choices: --autocast bfloat16"):
            check(2, [*DATA, option], [], gpus=gpus)


def test_half_precision_on_cpu_is_refused_where_it_would_fail():
    with pytest.raises(ValueError, match="--fp16 on CPU needs one of --memory-efficient-fp16, "):
        check(2, [*DATA, "--fp16"], [], gpus=0)
    check(2, [*DATA, "--fp16"], [], gpus=2)
    for option in ("--memory-efficient-fp16", "--fp16-no-flatten-grads"):
        check(2, [*DATA, "--fp16", option], [], gpus=0)


def test_options_follow_the_device_and_leave_the_users_alone():
    options = options_of(DATA, 0)
    assert value_of(options, "--user-dir") == str(Path(fairseq_plugins.__file__).parent)
    assert value_of(options, "--ddp-backend") == CPU_BACKENDS[0]
    assert "--cpu" in options
    assert "--cpu" not in options_of([*DATA, "--cpu"], 0)
    assert "--user-dir" not in options_of([*DATA, "--user-dir=mine"], 0)
    on_gpus = options_of(DATA, 2)
    assert not {"--cpu", "--ddp-backend", "--distributed-backend"} & {*on_gpus}
    assert "--ddp-backend" not in options_of(DATA, 0, alone=True)


def failures(**codes):
    """Make what torch says of processes, by rank."""
    return {
        int(rank[1:]): SimpleNamespace(exitcode=code, pid=1000 + int(rank[1:]))
        for rank, code in codes.items()
    }


@pytest.mark.parametrize(
    ("found", "rank", "status", "words"),
    [
        (failures(r0=1, r1=-signal.SIGKILL), 1, 137, "killed by SIGKILL (by hand, or by the"),
        (failures(r0=-signal.SIGTERM, r1=3), 1, 3, "ended with exit status 3, for a reason"),
        (failures(r0=-signal.SIGTERM, r1=-signal.SIGSEGV), 1, 139, "killed by SIGSEGV;"),
        (failures(r2=1, r3=1), 2, 1, "ended with exit status 1"),
        (failures(r0=-signal.SIGTERM), 0, 143, "killed by SIGTERM"),
    ],
)
def test_the_process_that_ended_first_is_named(found, rank, status, words):
    sentence, code = account(found, DATA)
    assert f"the process of rank {rank} (100{rank} on " in sentence
    assert words in sentence
    assert code == status


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (ChildFailedError("x", {1: ProcessFailure(1, 1001, -9, "")}), 137, "rank 1 (1001 on "),
        (SignalException("x", signal.SIGTERM), 143, "error: ended by SIGTERM; there is no"),
        (RendezvousError("why"), 1, "error: the machines did not find each other: why"),
        (None, 0, ""),
    ],
    ids=["worker", "signal", "machines", "nothing"],
)
def test_how_torchrun_ended_is_told_with_its_status(monkeypatch, capsys, error, status, words):
    def main(given):
        assert given == ["--words"]
        if error is not None:
            raise error

    monkeypatch.setattr("torch.distributed.run.main", main)
    assert distributed._supervise(("--words",), DATA) == status
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == (error is not None)


def test_what_the_same_command_does_next_is_said(tmp_path):
    arguments = [*DATA, "--save-dir", str(tmp_path)]
    assert restart_of(arguments).endswith("so the same command starts anew")
    (tmp_path / LAST).touch()
    assert restart_of(arguments) == f"the same command goes on from {tmp_path / LAST}"
    assert "without --restore-file" in restart_of([*arguments, "--restore-file=other.pt"])


def test_last_checkpoint_that_is_cut_off_is_replaced_by_the_newest_whole_one(tmp_path):
    last = tmp_path / LAST
    assert mend_last(tmp_path) is None
    for number in (1, 3, 2):
        torch.save({"number": number}, tmp_path / f"checkpoint{number}.pt")
        os.utime(tmp_path / f"checkpoint{number}.pt", (number, number))
    torch.save({"number": 4}, last)
    assert mend_last(tmp_path) is None
    last.write_bytes(last.read_bytes()[:-40])
    (tmp_path / "checkpoint3.pt").write_bytes(b"cut off, too")
    assert mend_last(tmp_path) == tmp_path / "checkpoint2.pt"
    assert torch.load(last, weights_only=True) == {"number": 2}
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"checkpoint{n}.pt" for n in (1, 2, 3)),
        LAST,
    }


def test_one_process_goes_on_from_a_whole_checkpoint_after_a_full_disk(tmp_path, monkeypatch):
    last, whole = tmp_path / LAST, tmp_path / "checkpoint_best.pt"
    torch.save({"number": 1, "weights": torch.zeros(999)}, whole)

    def begin(name, words):
        assert words[0] == name == "fairseq-train"
        raise SystemExit(0)  # this process is fairseq-train's from here

    monkeypatch.setattr(distributed.shutil, "which", lambda name: name)
    monkeypatch.setattr(distributed.os, "execvp", begin)
    content = whole.read_bytes()
    # without mending, fairseq-train itself would end so
    for size in (0, 1, 100, len(content) // 2, len(content) - 30, len(content) - 1):
        last.write_bytes(content[:size])
        with pytest.raises(
            (RuntimeError, OSError, EOFError, pickle.UnpicklingError)
        ):  # what fairseq-train itself would meet
            torch.load(last, weights_only=True)
        with pytest.raises(SystemExit):
            distributed.launch(1, ["--cpu", "--save-dir", str(tmp_path)], "")
        assert torch.load(last, weights_only=True)["number"] == 1


def test_last_checkpoint_without_whole_neighbours_stays(tmp_path):
    (tmp_path / LAST).write_bytes(b"cut off")
    assert mend_last(tmp_path) is None
    assert (tmp_path / LAST).read_bytes() == b"cut off"
