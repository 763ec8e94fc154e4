"""``fairseq-train`` in several processes that work together, on one machine or many.

torchrun starts them; here is what it and fairseq leave open. What cannot work is refused before
training starts, rank and world size are handed over one by one, processes end with the one that
started them, and an end before its time is explained in one sentence. Recipes: docs/distributed.md.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...files import copy
from ...installation import FAIRSEQ_MISSING
from ...messages import plain
from ..run_files import LAST, USER_DIR

CPU_BACKENDS = ("legacy_ddp", "no_c10d")
SHARDING = ("fully_sharded", "slowmo")
GPU_BACKENDS = (*CPU_BACKENDS, "c10d", "pytorch_ddp", *SHARDING)
FP16_ON_CPU = ("--memory-efficient-fp16", "--fp16-no-flatten-grads")
GIVEN_HERE = (
    "--distributed-world-size",
    "--distributed-rank",
    "--distributed-init-method",
    "--distributed-port",
    "--distributed-no-spawn",
    "--distributed-num-procs",
    "--device-id",
)
MEETING_POINTS = ("--rdzv_endpoint", "--rdzv-endpoint", "--master_addr", "--master-addr")
# Where fairseq sees one GPU or none it takes itself for the only process by default.
WORKER = (
    'exec {guard}fairseq-train "$@" --distributed-init-method env:// --distributed-no-spawn '
    '--distributed-world-size "$WORLD_SIZE" --distributed-rank "$RANK" --device-id "$LOCAL_RANK"'
)
GUARD = "setpriv --pdeathsig KILL "  # the kernel kills a process that lost its parent


def value_of(arguments: Sequence[str], option: str) -> str | None:
    """Return the last value of an option on a command line; None if there is none."""
    found = None
    for place, word in enumerate(arguments):
        if word == option and place + 1 < len(arguments):
            found = arguments[place + 1]
        elif word.startswith(f"{option}="):
            found = word.partition("=")[2]
    return found


def is_given(arguments: Sequence[str], option: str) -> bool:
    """Return whether an option or flag stands on a command line."""
    return any(word.partition("=")[0] == option for word in arguments)


def check(processes: int, arguments: Sequence[str], torchrun: Sequence[str], gpus: int) -> None:
    """Refuse what several processes cannot do.

    Args:
        processes: on this machine.
        arguments: of fairseq-train.
        torchrun: options of torchrun.
        gpus: of this machine that are to be used; 0 for CPU.

    Raises:
        ValueError: says what to give instead.
    """
    for option in GIVEN_HERE:
        if is_given(arguments, option):
            raise ValueError(f"leave out {option}: train-distributed tells it to every process")
    if gpus and processes > gpus:
        raise ValueError(
            f"{processes} processes, but {gpus} GPUs on {socket.gethostname()}: every process "
            f"needs one of its own; choices: at most {gpus} processes, or --cpu"
        )
    nodes = value_of(torchrun, "--nnodes") or "1"
    if nodes != "1" and not any(is_given(torchrun, point) for point in MEETING_POINTS):
        raise ValueError(
            f"TORCHRUN says --nnodes {nodes}, but not where the machines meet: add --rdzv_backend "
            "c10d --rdzv_endpoint HOST:29500, the same on all, where HOST is one of them"
        )
    _check_backend(value_of(arguments, "--ddp-backend"), gpus)
    _check_precision(arguments, gpus)


def _check_backend(backend: str | None, gpus: int) -> None:
    choices = GPU_BACKENDS if gpus else CPU_BACKENDS
    if backend is None or (backend in choices and backend not in SHARDING):
        return
    if backend not in GPU_BACKENDS:
        raise ValueError(f"--ddp-backend {backend!r}: choices are {', '.join(choices)}")
    if not gpus:
        raise ValueError(
            f"--ddp-backend {backend} works on GPUs alone; choices on CPU: "
            f"{', '.join(CPU_BACKENDS)}"
        )
    if find_spec("fairscale") is None:
        raise ValueError(f"--ddp-backend {backend} needs fairscale: pip install fairscale==0.4.13")


def _check_precision(arguments: Sequence[str], gpus: int) -> None:
    if is_given(arguments, "--bf16") or is_given(arguments, "--memory-efficient-bf16"):
        raise ValueError(
            "--bf16 means a TPU to fairseq-train; choices: --autocast bfloat16 (understanding "
            "tasks), --fp16 or --amp"
        )
    if not gpus and is_given(arguments, "--fp16"):
        if not any(is_given(arguments, option) for option in FP16_ON_CPU):
            raise ValueError(f"--fp16 on CPU needs one of {', '.join(FP16_ON_CPU)} as well")


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
    place = Path(value_of(arguments, "--save-dir") or "checkpoints", LAST)
    if not place.is_file():
        return f"there is no {place} yet, so the same command starts anew"
    if (value_of(arguments, "--restore-file") or LAST) != LAST:
        return f"the same command without --restore-file goes on from {place}"
    return f"the same command goes on from {place}"


def mend_last(save_dir: Path) -> Path | None:
    """Put the newest complete checkpoint in the place of a last one that is cut off.

    fairseq writes one file under a temporary name and copies it to the other names, so a
    process that is killed meanwhile leaves a part of ``checkpoint_last.pt``, and its source whole.

    Returns:
        What was put there; None if there was nothing to mend or to mend it with.
    """
    last = save_dir / LAST
    if not last.is_file() or zipfile.is_zipfile(last):
        return None
    others = [p for p in save_dir.glob("checkpoint*.pt") if p != last and zipfile.is_zipfile(p)]
    if not others:
        return None
    newest = max(others, key=lambda path: path.stat().st_mtime_ns)
    copy(newest, last)
    return newest


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


def _prefer_own_commands() -> None:
    """Put the commands of this environment first on the path, if it has them."""
    here = Path(sys.executable).parent
    if (here / "fairseq-train").is_file():
        os.environ["PATH"] = os.pathsep.join([str(here), os.environ.get("PATH", os.defpath)])


def launch(processes: int, arguments: Sequence[str], torchrun: str) -> int:
    """Run fairseq-train and return its exit status.

    Args:
        processes: on this machine; one that works alone takes the place of this process.
        arguments: of fairseq-train.
        torchrun: torchrun's options as one text; empty for this machine alone.

    Raises:
        ValueError: what was asked cannot work.
    """
    import torch

    _prefer_own_commands()
    if shutil.which("fairseq-train") is None:
        raise ValueError(FAIRSEQ_MISSING)
    gpus = 0 if is_given(arguments, "--cpu") else torch.cuda.device_count()
    check(processes, arguments, torchrun.split(), gpus)
    if mended := mend_last(Path(value_of(arguments, "--save-dir") or "checkpoints")):
        print(f"{LAST} was cut off: {mended.name} takes its place", file=sys.stderr)
    alone = processes == 1 and not torchrun
    words = [*options_of(arguments, gpus, alone=alone), *arguments]
    if alone:
        sys.stdout.flush()
        os.execvp("fairseq-train", ["fairseq-train", "--distributed-world-size", "1", *words])
    if not gpus:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        threads = max(1, (os.cpu_count() or 1) // processes)
        os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    # Processes that torchrun starts again would find the addresses of the dead in a shared store.
    os.environ.setdefault("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1")
    worker = ["bash", "-c", WORKER.format(guard=_guard()), "fairseq-train"]
    options = ["--nproc_per_node", str(processes), *(torchrun.split() or ["--standalone"])]
    return _supervise([*options, "--no_python", *worker, *words], arguments)


def _guard() -> str:
    """Return the command that ends a process with its parent; empty where there is none."""
    with contextlib.suppress(OSError):
        done = subprocess.run([*GUARD.split(), "true"], capture_output=True, check=False)
        return GUARD if done.returncode == 0 else ""
    return ""


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
