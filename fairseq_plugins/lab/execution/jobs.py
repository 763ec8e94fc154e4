"""Jobs of this machine: forks that bring one run each to its end, alone in the run's folder.

What went wrong is left in that folder. The lock on it is held by the commands of the run as well:
one that has outlived its job keeps others out until it ends. A job that is killed leaves a folder
that the next one finishes.
"""

import fcntl
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from multiprocessing.process import BaseProcess
from pathlib import Path

import torch
from tqdm import tqdm

from ...files import try_lock, write_text
from ..run_files import ERROR
from ..safe_files import open_file
from .machine import Machine
from .processes import CONTEXT, Commands, end_with, warm_up
from .run import Run, RunError
from .training import execute

logger = logging.getLogger(__name__)

LOCK = ".lock"
_PAUSE = 0.1  # seconds between looks at jobs that are ending
_AGAIN, _FIRMLY = 2.0, 30.0  # seconds until a job that should end is asked again, or killed
Environment = Mapping[str, str | None]  # variables of commands; None takes one away


def finish(
    run: Run, environment: Environment, begins: Callable[[Path], None] = lambda log: None
) -> None:
    """Bring a run to its end, and leave in its folder what goes wrong.

    Args:
        run: to be finished; another process that is at work there is waited for.
        environment: of its commands.
        begins: is called with the log of every command before it starts.
    """
    (run.folder / ERROR).unlink(missing_ok=True)  # of an earlier attempt
    with reported(run), locked(run.folder) as lock:
        commands = Commands(environment, keep=lock)

        def launch(command: Sequence[str], log: Path) -> None:
            begins(log)
            commands.launch(command, log)

        if not run.is_finished():
            execute(run, launch)


@contextmanager
def reported(run: Run) -> Iterator[None]:
    """Leave in a run's folder why the body failed; what was said first is the reason."""
    try:
        yield
    except Exception as error:
        known = isinstance(error, (RunError, ValueError, OSError))
        if not (run.folder / ERROR).exists():
            write_text(run.folder / ERROR, f"{error if known else repr(error)}\n")
        raise


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Keep other processes out of a run's folder, which is made; wait for one at work there.

    Yields:
        The open file that holds the lock.

    Raises:
        ValueError: the lock is a link.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open_file(folder / LOCK, "ab") as stream:
        if not try_lock(stream, folder):
            logger.warning("%s: another process is at work there; waiting for it", folder)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield stream.fileno()


class LocalPool:
    """Jobs of this machine, a few at a time."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._running: dict[int, tuple[Run, BaseProcess]] = {}  # by their places
        warm_up()

    @property
    def room(self) -> int:
        """How many runs may be submitted now."""
        return self._machine.jobs - len(self._running)

    def submit(self, runs: Sequence[Run]) -> None:
        """Start runs."""
        for run in runs:
            slot = next(slot for slot in count() if slot not in self._running)
            given = (run, environment_of(self._machine, slot), os.getpid())
            process = CONTEXT.Process(target=_work, args=given)
            process.start()
            self._running[slot] = run, process
            logger.info("%s: %d updates", run.folder, run.updates)

    def ended(self) -> list[Run]:
        """Return the runs whose jobs have ended since the last look."""
        over = [slot for slot, (_, process) in self._running.items() if not process.is_alive()]
        return [self._running.pop(slot)[0] for slot in over]

    def stop(self) -> None:
        """End all jobs and wait for that. By SIGTERM, at which a job ends its training."""
        begun, asked = time.monotonic(), float("-inf")
        while left := [one for _, one in self._running.values() if one.is_alive()]:
            now = time.monotonic()
            if now - asked > _AGAIN:  # a job that is just starting hears nothing
                for process in left:
                    process.terminate() if now - begun < _FIRMLY else process.kill()
                asked = now
            time.sleep(_PAUSE)


def _work(run: Run, environment: Environment, parent: int) -> None:
    """Be the process of a job."""
    end_with(parent)
    tqdm.set_lock(threading.RLock())  # that of all forks would be one
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        finish(run, environment)
    except BaseException:  # told in the run's folder, or an interrupt
        sys.exit(1)


def environment_of(machine: Machine, slot: int) -> Environment:
    """Return the variables of a job's commands: its share of the cores and of the GPUs."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    cores = machine.cpus_per_task or len(os.sched_getaffinity(0)) // machine.jobs
    found: dict[str, str | None] = {"CUDA_VISIBLE_DEVICES": visible}
    if "OMP_NUM_THREADS" not in os.environ:
        found["OMP_NUM_THREADS"] = str(max(1, cores // machine.processes))
    own, there = machine.gpus_per_node, torch.cuda.device_count()
    if own and there > own:
        names = visible.split(",") if visible else [str(device) for device in range(there)]
        chosen = [names[(slot * own + k) % there] for k in range(own)]
        found["CUDA_VISIBLE_DEVICES"] = ",".join(chosen)
    return found
