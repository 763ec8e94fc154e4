"""Run many cells of a grid, several at a time, with progress; finished ones are passed over."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue

import torch
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from .run import LOG, Run, RunError
from .training_log import updates_so_far

logger = logging.getLogger(__name__)

_LOOK = 1.0  # seconds between looks at a running training
_LINES = 5  # of a failed command's log that are shown


def execute(
    runs: Sequence[Run],
    jobs: int = 1,
    done: Callable[[Run, Sequence[str]], None] | None = None,
) -> list[str]:
    """Bring runs to their end.

    Args:
        runs: of one grid or of several.
        jobs: how many at a time; with several GPUs each takes another one.
        done: is told of every run that ended, with what went wrong, as soon as it has.

    Returns:
        A message for every run that failed; a failure does not stop the others.

    Raises:
        ValueError: fewer than one job, or a folder with a run of other settings; nothing was
            started then.
    """
    if jobs < 1:
        raise ValueError(f"--jobs {jobs}: must be at least 1")
    waiting = [run for run in runs if not run.is_finished()]
    logger.info("%d of %d runs are finished", len(runs) - len(waiting), len(runs))
    processes = _Processes(jobs)
    failures = []
    total = sum(run.updates for run in waiting)
    with logging_redirect_tqdm(), tqdm(total=total, unit=" updates", disable=None) as bar:
        pool = ThreadPoolExecutor(jobs)
        try:
            futures = {pool.submit(_execute, run, processes, bar): run for run in waiting}
            for future in as_completed(futures):
                messages = future.result()
                failures += messages
                if done:
                    done(futures[future], messages)
        finally:
            processes.stop()  # only those of an interrupted grid are still there
            pool.shutdown(cancel_futures=True)
    return failures


def _execute(run: Run, processes: _Processes, bar: tqdm) -> list[str]:
    """Bring one run to its end; return what went wrong."""
    seen = 0

    def look() -> None:
        nonlocal seen
        now = min(updates_so_far(run.folder / LOG), run.updates)
        bar.update(now - seen)
        seen = now

    try:
        with _locked(run.folder), processes.device() as device:
            if not run.is_finished():
                logger.info("%s: %d updates", run.cell.folder, run.updates)
                run.execute(lambda command, log: processes.run(command, log, device, look))
    except (RunError, ValueError, OSError) as error:
        logger.error("%s: %s", run.folder, error)
        return [f"{run.folder}: {error}"]
    bar.update(run.updates - seen)
    return []


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep a second runner out of a run's folder.

    Raises:
        RunError: another one is at work there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError("another process is at work in this folder") from None
        yield


class _Processes:
    """The commands under way, and the devices they share.

    Args:
        jobs: how many at a time.
    """

    def __init__(self, jobs: int) -> None:
        self._running: set[subprocess.Popen] = set()
        self._stopped = False
        self._mutex = threading.Lock()
        self._threads = max(1, (os.cpu_count() or 1) // jobs)
        self._devices: SimpleQueue[int] = SimpleQueue()
        for job in range(jobs):
            self._devices.put(job % max(1, torch.cuda.device_count()))

    @contextlib.contextmanager
    def device(self) -> Iterator[int]:
        """Lend a device."""
        device = self._devices.get()
        try:
            yield device
        finally:
            self._devices.put(device)

    def run(self, command: Sequence[str], log: Path, device: int, look: Callable[[], None]) -> None:
        """Run a command, its output added to ``log``, calling ``look`` now and then.

        Raises:
            RunError: it failed; with the end of its log.
        """
        environment = {"OMP_NUM_THREADS": str(self._threads), **os.environ}
        if torch.cuda.device_count() > 1:
            environment["CUDA_VISIBLE_DEVICES"] = str(device)
        with log.open("ab") as output, self._mutex:
            if self._stopped:
                raise RunError("not started: the runner was stopped")
            process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, env=environment
            )
            self._running.add(process)
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK)
            look()
        self._running.discard(process)
        if process.returncode:
            tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LINES:]
            text = "\n  ".join([f"exit status {process.returncode}; the end of {log}:", *tail])
            raise RunError(text)

    def stop(self) -> None:
        """End what is still running and start nothing more."""
        with self._mutex:
            self._stopped = True
        for process in list(self._running):
            process.terminate()
