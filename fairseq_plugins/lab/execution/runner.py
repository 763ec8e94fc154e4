"""Run many cells of grids, several at a time, with progress; finished ones are passed over.

Every run is a job of submitit: a process of this machine, or a job of Slurm. What a job does is
`job`; here jobs are submitted and watched, and failures reported. Nothing that a job has pickled is
ever read: whether a run is finished is seen in its folder.
"""

import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tqdm.contrib.logging import logging_redirect_tqdm

from ..run_files import LOG
from .cluster import SLURM, Machine
from .job import error_file
from .processes import last_lines
from .progress import Progress
from .run import Run
from .submission import LocalPool, SlurmPool, Ticket

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
            for ticket in _ended(pool, waiting, progress, machine.stop_after):
                reason = _problem(ticket, machine)
                failures += [f"{ticket.run.folder}: {reason}"] if reason else []
                done(ticket.run, reason)
        finally:
            pool.stop()  # only jobs of an interrupted grid are still there
    return failures


def _ended(
    pool: LocalPool | SlurmPool, waiting: Sequence[Run], progress: Progress, minutes: float
) -> Iterator[Ticket]:
    """Submit runs as the pool takes them, all systems of a seed first; yield every one that ended.

    Args:
        minutes: no run is submitted that would end later, by the longest so far; 0 for no limit.
    """
    queue, running = sorted(waiting, key=lambda run: run.cell.seed), []
    end = time.monotonic() + 60 * minutes if minutes else math.inf
    longest = 0.0
    while queue or running:
        if queue and time.monotonic() + longest > end:
            logger.info("%d runs are left: no time; the same command goes on", len(queue))
            queue = []
        taken, queue = queue[: pool.room], queue[pool.room :]
        running += pool.submit(taken) if taken else []
        time.sleep(_LOOK)
        pool.look()
        longest = max([longest, *(time.monotonic() - ticket.begun for ticket in running)])
        ended = [ticket for ticket in running if ticket.has_ended()]
        running = [ticket for ticket in running if ticket not in ended]
        progress.look([ticket.run for ticket in running], [ticket.run for ticket in ended])
        for ticket in ended:
            pool.release(ticket)
            yield ticket


def _problem(ticket: Ticket, machine: Machine) -> str:
    """Return what went wrong with a run whose job has ended; empty if nothing did."""
    run, report = ticket.run, error_file(ticket.folder, ticket.job)
    until = time.monotonic() + (_SETTLE if machine.executor == SLURM else 0)
    try:
        while not run.is_finished():
            if report.is_file() or time.monotonic() > until:
                break
            time.sleep(_LOOK)
        else:
            return ""
        said = report.is_file()
        reason = report.read_text(encoding="utf-8").strip() if said else _silence(ticket)
    except ValueError as error:  # another run has come into its folder
        reason = str(error)
    logger.error("%s: %s", run.folder, reason)
    return reason


def _silence(ticket: Ticket) -> str:
    """Say what is known of a job that ended without a word: it was killed, or never began."""
    own = ticket.folder / f"{ticket.job}_0_log.err"
    log = ticket.run.folder / LOG
    shown = own if not log.is_file() or _time_of(own) > _time_of(log) else log
    lines = [f"its job {ticket.job} ended without a word; the end of {shown}:"]
    return "\n  ".join([*lines, *last_lines(shown)])


def _time_of(path: Path) -> float:
    """Return when a file was last written; 0 if it is not there."""
    return path.stat().st_mtime if path.is_file() else 0.0
