"""What is asked of several processes is checked, and how they ended is explained."""

from __future__ import annotations

import pickle
import signal
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure
from torch.distributed.elastic.rendezvous import RendezvousError

import fairseq_plugins
from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.execution import distributed
from fairseq_plugins.lab.execution.distributed import (
    CPU_BACKENDS,
    GIVEN_HERE,
    LAST,
    account,
    check,
    is_given,
    options_of,
    restart_of,
)

DATA = ["data-bin/x", "--task", "syntax_translation"]


REFUSED = [  # arguments, torchrun's options, GPUs, what is said; None where it can be
    *(([option, "3"], "", 0, f"leave out {option}: ") for option in GIVEN_HERE),
    (["--device-id=3"], "", 0, "leave out --device-id: "),
    ([], "", 1, r"2 processes, but 1 GPUs on .*choices: at most 1"),
    ([], "", 2, None),
    ([], "--nnodes 2", 0, "not where the machines meet: add --rdzv_backend c10d"),
    ([], "--nnodes=2:4", 0, "not where the machines meet"),
    ([], "--nnodes 2 --rdzv_endpoint=a:29500", 0, None),
    ([], "--nnodes 2 --master-addr=a", 0, None),
    (
        ["--ddp-backend", "c10d"],
        "",
        0,
        "--ddp-backend c10d: choices on CPU are legacy_ddp",
    ),
    (["--ddp-backend=c10d"], "", 2, None),
    (["--ddp-backend", "no_c10d"], "", 0, None),
    (["--bf16"], "", 0, "--bf16 means a TPU .*choices: --autocast bfloat16"),
    (["--memory-efficient-bf16"], "", 2, "--bf16 means a TPU"),
    (["--fp16"], "", 0, "--fp16 on CPU needs one of --memory-efficient-fp16, "),
    (["--fp16", "--fp16-no-flatten-grads"], "", 0, None),
    (["--fp16"], "", 2, None),
]


@pytest.mark.parametrize(("arguments", "torchrun", "gpus", "said"), REFUSED)
def test_what_several_processes_cannot_do_is_refused(arguments, torchrun, gpus, said):
    refused = nullcontext() if said is None else pytest.raises(InputError, match=said)
    with refused:
        check(2, [*DATA, *arguments], torchrun.split(), gpus)
    with pytest.raises(InputError, match="^0 processes: "):
        check(0, DATA, (), 0)


def test_backends_are_those_of_fairseq():
    from fairseq.dataclass.constants import DDP_BACKEND_CHOICES

    assert {*CPU_BACKENDS} < {str(one.value) for one in DDP_BACKEND_CHOICES}


def test_options_follow_the_device_and_leave_the_users_alone():
    options = options_of(DATA, 0)
    assert options[options.index("--user-dir") + 1] == str(Path(fairseq_plugins.__file__).parent)
    assert options[options.index("--ddp-backend") + 1] == CPU_BACKENDS[0]
    assert is_given(options, "--cpu")
    assert "--cpu" not in options_of([*DATA, "--cpu"], 0)
    assert "--user-dir" not in options_of([*DATA, "--user-dir=mine"], 0)
    on_gpus = options_of(DATA, 2)
    assert not is_given(on_gpus, "--cpu", "--ddp-backend", "--distributed-backend")
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


def test_one_process_goes_on_from_a_whole_checkpoint_after_a_full_disk(tmp_path, monkeypatch):
    last, whole = tmp_path / LAST, tmp_path / "checkpoint_best.pt"
    state = {"optimizer_history": [{"num_updates": 1}], "last_optimizer_state": {}}
    torch.save({**state, "weights": torch.zeros(999)}, whole)

    def begin(name, words):
        assert words[1:3] == ["-m", "fairseq_cli.train"]
        raise SystemExit(0)  # this process is fairseq-train's from here

    monkeypatch.setattr(distributed.os, "execv", begin)
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
        assert torch.load(last, weights_only=True)["optimizer_history"] == [{"num_updates": 1}]
