"""``fairseq-train`` in several processes that work together, on one machine or many.

torchrun starts them; here is what it and fairseq leave open. What cannot work is refused before
training starts, rank and world size are handed over one by one, processes end with the one that
started them, and an end before its time is explained in one sentence. Recipes: docs/distributed.md.
"""

import argparse
import os
import signal
import socket
import sys
import zipfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...installation import FAIRSEQ_MISSING
from ...messages import plain
from ..run_files import BEST, LAST, USER_DIR
from .checkpoints import mend

CPU_BACKENDS = ("legacy_ddp", "no_c10d")
FP16_ON_CPU = ("--memory-efficient-fp16", "--fp16-no-flatten-grads")
GIVEN_HERE = ("--distributed-world-size", "--distributed-rank", "--distributed-init-method")
GIVEN_HERE += ("--distributed-port", "--distributed-no-spawn", "--distributed-num-procs")
GIVEN_HERE += ("--device-id",)
MEETING_POINTS = ("--rdzv_endpoint", "--rdzv-endpoint", "--master_addr", "--master-addr")
_PLACES = {"--save-dir": "checkpoints", "--restore-file": LAST, "--ddp-backend": CPU_BACKENDS[0]}
# Where fairseq sees one GPU or none it takes itself for the only process by default. The kernel of
# Linux kills (9) a process that lost its parent (1).
_WORKER = """
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)
from fairseq_cli.train import cli_main
own = {"world-size": "WORLD_SIZE", "rank": "RANK"}
words = [word for name, key in own.items() for word in (f"--distributed-{name}", os.environ[key])]
words += ["--distributed-init-method", "env://", "--distributed-no-spawn"]
sys.argv = ["fairseq-train", *sys.argv[1:], *words, "--device-id", os.environ["LOCAL_RANK"]]
cli_main()
"""


def is_given(arguments: Sequence[str], *options: str) -> bool:
    """Return whether one of some options or flags stands on a command line."""
    return any(word.partition("=")[0] in options for word in arguments)


def value_of(arguments: Sequence[str], option: str) -> str:
    """Return the last value of an option on a command line, or its default."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument(option, dest="value", default=_PLACES.get(option, ""))
    return parser.parse_known_args(arguments)[0].value


def check(processes: int, arguments: Sequence[str], torchrun: Sequence[str], gpus: int) -> None:
    """Refuse what several processes cannot do.

    Args:
        processes: on this machine.
        arguments: of fairseq-train.
        torchrun: options of torchrun.
        gpus: of this machine that are to be used; 0 for CPU.

    Raises:
        InputError: says what to give instead.
    """
    if processes < 1:
        raise InputError(f"{processes} processes: give a number from 1 on")
    for option in GIVEN_HERE:
        if is_given(arguments, option):
            raise InputError(f"leave out {option}: train-distributed tells it to every process")
    if gpus and processes > gpus:
        raise InputError(
            f"{processes} processes, but {gpus} GPUs on {socket.gethostname()}: every process "
            f"needs one of its own; choices: at most {gpus} processes, or --cpu"
        )
    nodes = value_of(torchrun, "--nnodes")
    if nodes not in ("", "1") and not is_given(torchrun, *MEETING_POINTS):
        raise InputError(
            f"TORCHRUN says --nnodes {nodes}, but not where the machines meet: add --rdzv_backend "
            "c10d --rdzv_endpoint HOST:29500, the same on all, where HOST is one of them"
        )
    _check_kind(arguments, gpus)


def _check_kind(arguments: Sequence[str], gpus: int) -> None:
    """Refuse ways to share and to compute that the devices do not have."""
    backend = value_of(arguments, "--ddp-backend")
    if not gpus and backend not in CPU_BACKENDS:
        raise InputError(f"--ddp-backend {backend}: choices on CPU are {', '.join(CPU_BACKENDS)}")
    if is_given(arguments, "--bf16", "--memory-efficient-bf16"):
        raise InputError(
            "--bf16 means a TPU to fairseq-train; choices: --autocast bfloat16 (understanding "
            "tasks), --fp16 or --amp"
        )
    if not gpus and is_given(arguments, "--fp16") and not is_given(arguments, *FP16_ON_CPU):
        raise InputError(f"--fp16 on CPU needs one of {', '.join(FP16_ON_CPU)} as well")


def options_of(arguments: Sequence[str], gpus: int, *, alone: bool = False) -> list[str]:
    """Return what fairseq-train gets in addition to the user's arguments.

    Resuming needs every process to load the checkpoint: what fairseq would send around is no plain
    data, and torch refuses to load it.
    """
    options = ["--load-checkpoint-on-all-dp-ranks"]
    if not is_given(arguments, "--user-dir"):
        options += ["--user-dir", str(USER_DIR)]
    if not gpus:
        options += [] if is_given(arguments, "--cpu") else ["--cpu"]
        if not alone:
            options += ["--distributed-backend", "gloo", "--ddp-backend", CPU_BACKENDS[0]]
    return options


def restart_of(arguments: Sequence[str]) -> str:
    """Say what the same command would do next."""
    place = Path(value_of(arguments, "--save-dir"), LAST)
    if not place.is_file():
        return f"there is no {place} yet, so the same command starts anew"
    other = value_of(arguments, "--restore-file") != LAST
    return f"the same command {'without --restore-file ' * other}goes on from {place}"


def account(failures: Mapping[int, Any], arguments: Sequence[str]) -> tuple[str, int]:
    """Say which process ended first, and what the same command would do next.

    When one process dies the others lose their connection, and torchrun ends those that remain by
    SIGTERM. So one that was killed comes before one that failed, and SIGTERM comes last.

    Args:
        failures: rank -> torch's ``ProcessFailure``.
        arguments: of fairseq-train.

    Returns:
        The sentence, and an exit status as shells have it: 128 and the signal for who was killed.
    """
    killed = {rank for rank, failure in failures.items() if failure.exitcode < 0}
    by_others = {rank for rank in killed if failures[rank].exitcode == -signal.SIGTERM}
    rank = min((killed - by_others) or (failures.keys() - killed) or by_others)
    code = failures[rank].exitcode
    how = f"ended with exit status {code}, for a reason that it gives above"
    if code < 0:
        how = f"was killed by {signal.Signals(-code).name}"
        if -code == signal.SIGKILL:
            how += " (by hand, or by the system for want of memory)"
    place = f"the process of rank {rank} ({failures[rank].pid} on {socket.gethostname()})"
    return f"{place} {how}; {restart_of(arguments)}", 128 - code if code < 0 else code


def launch(processes: int, arguments: Sequence[str], torchrun: str) -> int:
    """Run fairseq-train and return its exit status.

    Args:
        processes: on this machine; one that works alone takes the place of this process.
        arguments: of fairseq-train.
        torchrun: torchrun's options as one text; empty for this machine alone.

    Raises:
        InputError: what was asked cannot work.
    """
    import torch

    if find_spec("fairseq_cli") is None:
        raise InputError(FAIRSEQ_MISSING)
    gpus = 0 if is_given(arguments, "--cpu") else torch.cuda.device_count()
    check(processes, arguments, torchrun.split(), gpus)
    if not is_given(torchrun.split(), "--nnodes"):  # else others might as well
        _mend_last(Path(value_of(arguments, "--save-dir"), LAST))
    alone = processes == 1 and not torchrun
    words = [*options_of(arguments, gpus, alone=alone), *arguments]
    if alone:
        sys.stdout.flush()
        start = [sys.executable, "-m", "fairseq_cli.train", "--distributed-world-size", "1"]
        os.execv(sys.executable, [*start, *words])
    if not gpus:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        threads = max(1, (os.cpu_count() or 1) // processes)
        os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    # Processes that torchrun starts again would find the addresses of the dead in a shared store.
    os.environ.setdefault("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1")
    options = ["--nproc_per_node", str(processes), *(torchrun.split() or ["--standalone"])]
    worker = ["--no_python", sys.executable, "-u", "-c", _WORKER]
    return _supervise([*options, *worker, *words], arguments)


def _mend_last(last: Path) -> None:
    """Put the newest whole checkpoint in the place of a last one that is cut off."""
    if last.is_file() and not zipfile.is_zipfile(last):
        print(f"{last} was cut off: the newest whole one takes its place", file=sys.stderr)
        mend(last, last.with_name(BEST))


def _supervise(words: Sequence[str], arguments: Sequence[str]) -> int:
    """Run torchrun in this process; return its exit status."""
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.elastic.rendezvous import RendezvousError
    from torch.distributed.run import main

    try:
        main(list(words))
    except ChildFailedError as error:
        sentence, status = account(error.failures, arguments)
    except SignalException as error:
        name, status = signal.Signals(error.sigval).name, 128 + error.sigval
        sentence = f"ended by {name}; {restart_of(arguments)}"
    except RendezvousError as error:
        sentence, status = f"the machines did not find each other: {error}", 1
    else:
        return 0
    print(f"error: {plain(sentence)}", file=sys.stderr)
    return status
