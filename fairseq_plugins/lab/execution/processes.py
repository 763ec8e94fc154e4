"""Commands of runs and steps as processes: one at a time, its output in a log, none left behind.

Trainings and predictions are forks of a process that has imported what they need (`warm_up`): they
start in a fraction of the time in which a new Python imports torch and fairseq. Every fork opens
the GPU by itself; a process that has opened one already cannot be forked.
"""

import ctypes
import gc
import importlib
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import torch
from tqdm import tqdm

from ...quiet import quieten_fairseq
from ..commands import PACKAGE
from ..run_files import USER_DIR
from ..safe_files import open_file, read_tail
from .run import RunError

CONTEXT = multiprocessing.get_context("fork")
_TRAIN = "fairseq_cli.train"
_OURS = ("predict", "answer")  # which a run calls most
_IMPORTED = ("torch._dynamo", "torch.distributed.fsdp", f"{PACKAGE}.tasks")
_IMPORTED += (f"{PACKAGE}.inference.prediction", _TRAIN)
_PDEATHSIG = 1  # of prctl
_GRACE = 20.0  # seconds that a command has to end itself
_LINES = 8  # of a failed command's log that are shown
_TAIL = 100_000  # bytes that hold them
_warm = False


Environment = Mapping[str, str | None]  # variables of commands; None takes one away


def launch(
    command: Sequence[str],
    log: Path,
    environment: Environment | None = None,
    keep: int | None = None,
) -> None:
    """Run a command, its output added to ``log``.

    Args:
        command, log: what is run, and where its output goes.
        environment: variables in addition to this process's own.
        keep: an open file that the command keeps open as well.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    found = {**os.environ, "PATH": path, **(environment or {})}
    own = {name: value for name, value in found.items() if value is not None}
    with open_file(log, "ab") as output:
        if read_tail(log, 1) not in ("", "\n"):  # broken off
            output.write(b"\n")
            output.flush()
        start = output.tell()
        process = _start(command, output.fileno(), own, () if keep is None else (keep,))
    try:
        status = process.wait()
    finally:
        _end(process)
    if status:
        lines = [f"exit status {status}; the end of {log}:", *last_lines(log, start)]
        raise RunError("\n  ".join(lines))


def _start(
    command: Sequence[str], output: int, environment: Mapping[str, str], kept: tuple[int, ...]
) -> "subprocess.Popen | Fork":
    if can_be_forked(command):  # a fork keeps all files open
        return Fork(command, output, environment)
    return subprocess.Popen(
        command,
        stdout=output,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=environment,
        pass_fds=kept,
    )


def _end(process: "subprocess.Popen | Fork") -> None:
    """End a command that still runs."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()


def last_lines(log: Path, start: int = 0) -> list[str]:
    """Return the last lines of a log that are not empty.

    Args:
        log: a text file, which may not be there.
        start: byte at which to begin.
    """
    lines = [line.rstrip() for line in read_tail(log, _TAIL, start).splitlines() if line.strip()]
    return lines[-_LINES:]


def warm_up() -> None:
    """Import what trainings and predictions need; without fairseq nothing is forked."""
    global _warm
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # asking for GPUs opens none
    for name in _IMPORTED:
        with suppress(ImportError):
            importlib.import_module(name)
    # it sets the log up when it is imported, which each fork does anew
    _warm = sys.modules.pop(_TRAIN, None) is not None


def can_be_forked(command: Sequence[str]) -> bool:
    """Return whether a fork of this process can be a command, in place of a new Python."""
    _, flag, module, first = (*command, "", "", "", "")[:4]
    known = module == _TRAIN or (module == PACKAGE and first in _OURS)
    opened = torch.cuda.is_initialized() or torch.cuda._is_in_bad_fork()  # here, or in a parent
    # through a link fairseq would take the --user-dir for another package of the same name
    direct = str(USER_DIR) in sys.modules[PACKAGE].__path__
    return _warm and flag == "-m" and known and direct and not opened


class Fork(CONTEXT.Process):
    """A fork that is a command, used like `subprocess.Popen`."""

    def __init__(self, command: Sequence[str], output: int, environment: Mapping[str, str]) -> None:
        super().__init__(target=_become, args=(command, output, environment, os.getpid()))
        self.start()

    def poll(self) -> int | None:
        """Return the exit status; None while the fork runs."""
        return self.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit status."""
        self.join(timeout)
        if self.exitcode is None:
            raise subprocess.TimeoutExpired(self.name, timeout or 0)
        return self.exitcode


def end_with(parent: int) -> None:
    """Let the kernel end this process by SIGTERM when its parent is gone, in whatever way."""
    with suppress(AttributeError):  # Linux alone has it
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _become(
    command: Sequence[str], output: int, environment: Mapping[str, str], parent: int
) -> None:
    """Be the process of a command."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_with(parent)
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), output, output)):
        os.dup2(file, number)
    files = (open(n, "w", encoding="utf-8", buffering=1, closefd=False) for n in (1, 2))
    sys.stdout, sys.stderr = files
    os.environ.clear()
    os.environ.update(environment)
    if (threads := environment.get("OMP_NUM_THREADS", "")).isdigit():  # torch has read its own
        torch.set_num_threads(int(threads))
    tqdm.set_lock(threading.RLock())  # that of all forks would be one
    logging.getLogger().handlers.clear()  # with the levels: of the log of `run`
    for name, level in (("", logging.WARNING), ("fairseq", logging.NOTSET)):
        logging.getLogger(name).setLevel(level)
    gc.freeze()
    sys.argv = [*command[2:]]
    try:
        if command[2] == _TRAIN:
            training = importlib.import_module(_TRAIN)
            sys.modules["__main__"] = training  # which the process of each GPU imports first
            quieten_fairseq()
            training.cli_main()
        else:
            sys.exit(importlib.import_module(f"{PACKAGE}.cli.main").main())
    except Exception as error:  # multiprocessing would print every traceback
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)
