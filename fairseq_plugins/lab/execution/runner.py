"""Run the cells of grids, several in parallel, with progress; finished runs are skipped.

Every run is a job: a fork of this process, or a job of Slurm (`slurm`). This file submits and
watches jobs and reports failures. The folder of a run shows whether the run is finished
(`training`).
"""

import contextlib
import logging
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from multiprocessing.process import BaseProcess
from typing import Any

import torch
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from ...errors import InputError
from ...files import write_text
from ..run_files import ERROR, USER_DIR
from ..safe_files import is_file, read_text
from .machine import SLURM, Machine
from .processes import CONTEXT, Environment, end_with, last_lines, warm_up
from .progress import Progress
from .run import Run
from .slurm import SlurmPool
from .training import finish

logger = logging.getLogger(__name__)

_LOOK = 0.5  # seconds between checks of running trainings
_SETTLE = 20.0  # seconds until files from another machine appear here
_PAUSE = 0.1  # seconds between checks of jobs that are ending
_AGAIN, _FIRMLY = 2.0, 30.0  # seconds until a job gets a second SIGTERM, and SIGKILL


def execute(
    runs: Sequence[Run],
    done: Callable[[Run, str], None] = lambda *_: None,
    *,
    apart: bool = False,
) -> list[str]:
    """Finish runs.

    Args:
        runs: of one or several grids, all on one machine.
        done: called with every ended run and its error message, empty if there was none.
        apart: whether local jobs have a Python of their own, because this process, such as a
            notebook that computes, cannot be forked safely; the caller reports failures.

    Returns:
        A message for every failed run. A failure does not stop other runs.
    """
    waiting = [run for run in runs if not run.is_finished()]
    logger.info("%d of %d runs are finished", len(runs) - len(waiting), len(runs))
    if not waiting:
        return []
    failures, machine = [], waiting[0].machine
    machine.check()
    pool = SlurmPool(machine) if machine.executor == SLURM else LocalPool(machine, apart)
    with logging_redirect_tqdm(), contextlib.closing(Progress(waiting)) as progress:
        try:
            for run in _ended(pool, waiting, progress, machine.stop_after):
                if reason := _problem(run):
                    logger.log(
                        logging.DEBUG if apart else logging.ERROR, "%s: %s", run.folder, reason
                    )
                    failures.append(f"{run.folder}: {reason}")
                done(run, reason)
        finally:
            pool.stop()  # only jobs of an interrupted grid remain
    return failures


def _ended(
    pool: "LocalPool | SlurmPool", waiting: Sequence[Run], progress: Progress, minutes: float
) -> Iterator[Run]:
    """Submit runs as the pool has room, all systems of a seed first; yield every ended run.

    Args:
        minutes: submit no run that would end later if it takes as long as the longest; 0 for no
            limit.
    """
    queue, running = sorted(waiting, key=lambda run: run.cell.seed), {}
    end = time.monotonic() + 60 * minutes if minutes else math.inf
    longest = 0.0
    while queue or running:
        if queue and time.monotonic() + longest > end:
            logger.info("%d runs are left: no time; the same command goes on", len(queue))
            queue = []
        if taken := queue[: pool.room]:
            queue = queue[len(taken) :]
            for run in taken:
                (run.folder / ERROR).unlink(missing_ok=True)  # of an earlier attempt
            pool.submit(taken)
            running |= {run.folder: (run, time.monotonic()) for run in taken}
        time.sleep(_LOOK)
        ended = pool.ended()
        longest = max([longest, *(time.monotonic() - begun for _, begun in running.values())])
        for run in ended:
            del running[run.folder]
        progress.look([run for run, _ in running.values()], ended)
        yield from ended


def _problem(run: Run) -> str:
    """Return the error message of a run whose job has ended; empty if the run succeeded."""
    report = run.folder / ERROR
    until = time.monotonic() + (_SETTLE if run.machine.executor == SLURM else 0)
    try:
        while not run.is_finished():
            if is_file(report):
                return read_text(report, errors="replace").strip()
            if time.monotonic() > until:
                write_text(report, _silence(run))
            time.sleep(_LOOK)
    except InputError as error:  # another run uses its folder
        return str(error)
    return ""


def _silence(run: Run) -> str:
    """Describe a job that ended without a message: killed, or never begun."""
    logs = sorted(run.folder.glob("*.log"), key=lambda path: path.stat().st_mtime)
    told = f"the end of {logs[-1]}:" if logs else f"its own log may be in {run.machine.folder}"
    ends = last_lines(logs[-1]) if logs else []
    return "\n  ".join([f"its job ended without a word; {told}", *ends]) + "\n"


class LocalPool:
    """Jobs of this machine, a few in parallel."""

    def __init__(self, machine: Machine, apart: bool = False) -> None:
        self._machine, self._start = machine, Apart if apart else _forked
        self._running: dict[int, tuple[Run, BaseProcess | Apart]] = {}  # by slot
        if not apart:
            warm_up()

    @property
    def room(self) -> int:
        """Number of runs that may be submitted now."""
        return self._machine.jobs - len(self._running)

    def submit(self, runs: Sequence[Run]) -> None:
        for run in runs:
            slot = next(slot for slot in count() if slot not in self._running)
            given = (run, environment_of(self._machine, slot), os.getpid())
            self._running[slot] = run, self._start(*given)
            logger.info("%s: %d updates", run.folder, run.updates)

    def ended(self) -> list[Run]:
        """Return the runs whose jobs have ended since the last call."""
        over = [slot for slot, (_, process) in self._running.items() if not process.is_alive()]
        return [self._running.pop(slot)[0] for slot in over]

    def stop(self) -> None:
        """Send SIGTERM to all jobs and wait until they end."""
        begun, asked = time.monotonic(), float("-inf")
        while left := [one for _, one in self._running.values() if one.is_alive()]:
            now = time.monotonic()
            if now - asked > _AGAIN:  # a job that is just starting may miss the signal
                for process in left:
                    process.terminate() if now - begun < _FIRMLY else process.kill()
                asked = now
            time.sleep(_PAUSE)


class Apart:
    """A job in a Python of its own; used like a process of `multiprocessing`."""

    def __init__(self, *job: Any) -> None:
        words = [sys.executable, "-c", f"from {__name__} import work_apart; work_apart()"]
        places = filter(None, (str(USER_DIR.parent), os.environ.get("PYTHONPATH")))
        own = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, env=own)
        stream: Any = self._process.stdin
        with stream:
            pickle.dump(job, stream)
        self.terminate, self.kill = self._process.terminate, self._process.kill

    def is_alive(self) -> bool:
        return self._process.poll() is None


def work_apart() -> None:
    """Do the job that `Apart` hands over."""
    job = pickle.load(sys.stdin.buffer)
    warm_up()
    _work(*job)


def _forked(*job: Any) -> BaseProcess:
    process = CONTEXT.Process(target=_work, args=job)
    process.start()
    return process


def _work(run: Run, environment: Environment, parent: int) -> None:
    end_with(parent)
    tqdm.set_lock(threading.RLock())  # else all forks share one lock
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        finish(run, environment)
    except BaseException:  # the run's folder holds the error, or this is an interrupt
        sys.exit(1)


def environment_of(machine: Machine, slot: int) -> Environment:
    """Return the variables of a job's commands: its share of the cores and of the GPUs."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    cores = len(os.sched_getaffinity(0)) // machine.jobs
    found: dict[str, str | None] = {"CUDA_VISIBLE_DEVICES": visible}
    if "OMP_NUM_THREADS" not in os.environ:
        found["OMP_NUM_THREADS"] = str(max(1, cores // machine.processes))
    own, there = machine.gpus_per_node, torch.cuda.device_count()
    if own and there > own:
        names = visible.split(",") if visible else [str(device) for device in range(there)]
        chosen = [names[(slot * own + k) % there] for k in range(own)]
        found["CUDA_VISIBLE_DEVICES"] = ",".join(chosen)
    return found
