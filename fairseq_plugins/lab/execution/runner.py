"""Run many cells of grids, several at a time, with progress; finished ones are passed over.

Every run is a job: a fork of this process (`jobs`), or a job of Slurm (`slurm`). Here jobs are
submitted and watched, and failures reported. Whether a run is finished is seen in its folder.
"""

import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence

from tqdm.contrib.logging import logging_redirect_tqdm

from ...files import write_text
from ..run_files import ERROR
from ..safe_files import is_file, read_text
from .jobs import LocalPool
from .machine import SLURM, Machine
from .processes import last_lines
from .progress import Progress
from .run import Run
from .slurm import SlurmPool

logger = logging.getLogger(__name__)

_LOOK = 0.5  # seconds between looks at running trainings
_SETTLE = 20.0  # seconds until files written on another machine are seen here


def execute(
    runs: Sequence[Run], machine: Machine, done: Callable[[Run, str], None] = lambda *_: None
) -> list[str]:
    """Bring runs to their end.

    Args:
        runs: of one grid or of several.
        machine: where, and how many at a time.
        done: is called with every run that ended and what went wrong, empty if nothing did.

    Returns:
        A message for every run that failed; a failure does not stop the others.

    Raises:
        FileNotFoundError, ValueError: Slurm is not here, or a folder holds a run of other settings.
        KeyboardInterrupt: local jobs have been ended; those of Slurm go on, and the same call
            waits for them again.
    """
    machine.check()
    waiting = [run for run in runs if not run.is_finished()]
    logger.info("%d of %d runs are finished", len(runs) - len(waiting), len(runs))
    if not waiting:
        return []
    failures = []
    pool = (SlurmPool if machine.executor == SLURM else LocalPool)(machine)
    with logging_redirect_tqdm(), contextlib.closing(Progress(waiting)) as progress:
        try:
            for run in _ended(pool, waiting, progress, machine.stop_after):
                if reason := _problem(run, machine):
                    logger.error("%s: %s", run.folder, reason)
                    failures.append(f"{run.folder}: {reason}")
                done(run, reason)
        finally:
            pool.stop()  # only jobs of an interrupted grid are still there
    return failures


def _ended(
    pool: LocalPool | SlurmPool, waiting: Sequence[Run], progress: Progress, minutes: float
) -> Iterator[Run]:
    """Submit runs as the pool takes them, all systems of a seed first; yield every one that ended.

    Args:
        minutes: no run is submitted that would end later, by the longest so far; 0 for no limit.
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
            pool.submit(taken)
            running |= {run.folder: (run, time.monotonic()) for run in taken}
        time.sleep(_LOOK)
        ended = pool.ended()
        longest = max([longest, *(time.monotonic() - begun for _, begun in running.values())])
        for run in ended:
            del running[run.folder]
        progress.look([run for run, _ in running.values()], ended)
        yield from ended


def _problem(run: Run, machine: Machine) -> str:
    """Return what went wrong with a run whose job has ended; empty if nothing did."""
    report = run.folder / ERROR
    until = time.monotonic() + (_SETTLE if machine.executor == SLURM else 0)
    try:
        while not run.is_finished():
            if is_file(report):
                return read_text(report).strip()
            if time.monotonic() > until:
                write_text(report, _silence(run, machine))
            time.sleep(_LOOK)
    except ValueError as error:  # another run has come into its folder
        return str(error)
    return ""


def _silence(run: Run, machine: Machine) -> str:
    """Say what is known of a job that ended without a word: it was killed, or never began."""
    logs = sorted(run.folder.glob("*.log"), key=lambda path: path.stat().st_mtime)
    told = f"the end of {logs[-1]}:" if logs else f"its own log may be in {machine.folder}"
    ends = last_lines(logs[-1]) if logs else []
    return "\n  ".join([f"its job ended without a word; {told}", *ends]) + "\n"
