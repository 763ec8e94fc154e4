"""Commands of runs and steps as processes: one at a time, output in a log, no orphans.

Trainings and predictions are forks of a process that has already imported their modules
(`warm_up`), so they start much faster than a new Python. Every fork opens the GPU itself; a process
that has opened a GPU cannot be forked.
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

from ...errors import TrainingError
from ...quiet import quieten_fairseq
from ..commands import PACKAGE
from ..run_files import USER_DIR
from ..safe_files import open_file, read_tail

CONTEXT = multiprocessing.get_context("fork")
_TRAIN = "fairseq_cli.train"
_OURS = ("predict", "answer")  # the commands that runs call most
_IMPORTED = ("torch._dynamo", "torch.distributed.fsdp", f"{PACKAGE}.tasks")
_IMPORTED += (f"{PACKAGE}.inference.prediction", _TRAIN)
_PDEATHSIG = 1  # of prctl
_GRACE = 20.0  # seconds for a command to end itself
_LINES = 8  # of a failed command's log that are shown
_TAIL = 100_000  # bytes of the log that contain them
_warm = False


Environment = Mapping[str, str | None]  # variables of commands; None removes a variable


def launch(
    command: Sequence[str],
    log: Path,
    environment: Environment | None = None,
    keep: int | None = None,
) -> None:
    """Run a command; append its output to ``log``.

    Args:
        command, log: the command, and the file of its output.
        environment: variables in addition to those of this process.
        keep: a file that the command keeps open as well.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    found = {**os.environ, "PATH": path, **(environment or {})}
    own = {name: value for name, value in found.items() if value is not None}
    with open_file(log, "ab") as output:
        if read_tail(log, 1) not in ("", "\n"):  # an unfinished line
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
        raise TrainingError("\n  ".join(lines))


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
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()


def last_lines(log: Path, start: int = 0) -> list[str]:
    """Return the last lines of a log that are not empty; the log may be missing."""
    lines = [line.rstrip() for line in read_tail(log, _TAIL, start).splitlines() if line.strip()]
    return lines[-_LINES:]


def warm_up() -> None:
    """Import the modules of trainings and predictions; without fairseq nothing is forked."""
    global _warm
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # asking for GPUs opens none
    for name in _IMPORTED:
        with suppress(ImportError):
            importlib.import_module(name)
    # its import configures the log, so each fork imports it again
    _warm = sys.modules.pop(_TRAIN, None) is not None


def can_be_forked(command: Sequence[str]) -> bool:
    """Return whether a fork of this process can run the command in place of a new Python."""
    _, flag, module, first = (*command, "", "", "", "")[:4]
    known = module == _TRAIN or (module == PACKAGE and first in _OURS)
    opened = torch.cuda.is_initialized() or torch.cuda._is_in_bad_fork()  # here, or in a parent
    # through a link fairseq would see --user-dir as another package with the same name
    direct = str(USER_DIR) in sys.modules[PACKAGE].__path__
    return _warm and flag == "-m" and known and direct and not opened


class Fork(CONTEXT.Process):
    """A fork that runs a command; used like `subprocess.Popen`."""

    def __init__(self, command: Sequence[str], output: int, environment: Mapping[str, str]) -> None:
        super().__init__(target=_become, args=(command, output, environment, os.getpid()))
        self.start()

    def poll(self) -> int | None:
        """Return the exit status; None while the fork runs."""
        return self.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.join(timeout)
        if self.exitcode is None:
            raise subprocess.TimeoutExpired(self.name, timeout or 0)
        return self.exitcode


def end_with(parent: int) -> None:
    """Make the kernel send SIGTERM to this process when its parent ends for any reason."""
    with suppress(AttributeError):  # Linux only
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _become(
    command: Sequence[str], output: int, environment: Mapping[str, str], parent: int
) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_with(parent)
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), output, output)):
        os.dup2(file, number)
    files = (open(n, "w", encoding="utf-8", buffering=1, closefd=False) for n in (1, 2))
    sys.stdout, sys.stderr = files
    os.environ.clear()
    os.environ.update(environment)
    if (threads := environment.get("OMP_NUM_THREADS", "")).isdigit():  # torch reads it at import
        torch.set_num_threads(int(threads))
    tqdm.set_lock(threading.RLock())  # else all forks share one lock
    logging.getLogger().handlers.clear()  # drop the handlers and levels of `run`
    for name, level in (("", logging.WARNING), ("fairseq", logging.NOTSET)):
        logging.getLogger(name).setLevel(level)
    gc.freeze()
    sys.argv = [*command[2:]]
    try:
        if command[2] == _TRAIN:
            training = importlib.import_module(_TRAIN)
            sys.modules["__main__"] = training  # the process of each GPU imports it first
            quieten_fairseq()
            training.cli_main()
        else:
            sys.exit(importlib.import_module(f"{PACKAGE}.cli.main").main())
    except Exception as error:  # multiprocessing would print every traceback
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)
