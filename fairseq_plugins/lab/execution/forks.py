"""Trainings and predictions as forks of a process that has imported what they need.

A fork starts in a fraction of the time in which a new Python imports torch and fairseq. Every fork
opens the GPU by itself; a process that has opened one already cannot be forked (`can_be`). None
outlives the process that it was forked from.
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

import torch
from tqdm import tqdm

from ...quiet import quieten_fairseq
from ..commands import PACKAGE
from ..run_files import USER_DIR

CONTEXT = multiprocessing.get_context("fork")
_TRAIN = "fairseq_cli.train"
_OURS = ("predict", "answer")  # which a run calls most
_IMPORTED = ("torch._dynamo", "torch.distributed.fsdp", f"{PACKAGE}.tasks")
_IMPORTED += (f"{PACKAGE}.inference.prediction", _TRAIN)
_PDEATHSIG = 1  # of prctl
_warm = False


def warm_up() -> None:
    """Import what trainings and predictions need; without fairseq nothing is forked."""
    global _warm
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # asking for GPUs opens none
    for name in _IMPORTED:
        with suppress(ImportError):
            importlib.import_module(name)
    # it sets the log up when it is imported, which each fork does anew
    _warm = sys.modules.pop(_TRAIN, None) is not None


def can_be(command: Sequence[str]) -> bool:
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


def redirect(output: int, errors: int) -> None:
    """Write what this process prints to open files; it reads nothing."""
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), output, errors)):
        os.dup2(file, number)
    files = (open(n, "w", encoding="utf-8", buffering=1, closefd=False) for n in (1, 2))
    sys.stdout, sys.stderr = files


def _become(
    command: Sequence[str], output: int, environment: Mapping[str, str], parent: int
) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_with(parent)
    redirect(output, output)
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
            quieten_fairseq()
            training.cli_main()
        else:
            sys.exit(importlib.import_module(f"{PACKAGE}.cli.main").main())
    except Exception as error:  # multiprocessing would print every traceback
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)
