"""What a job does: bring one run to its end, alone in the run's folder.

A job is handed to submitit, which writes it to its folder and reads it again in a process of its
own, on this machine or on the nodes of a cluster. A job that is killed leaves a folder that the
next one finishes. The lock on a run's folder is held by the commands of the run as well: one that
has outlived its job keeps others out until it ends.
"""

import contextlib
import logging
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from submitit import JobEnvironment
from submitit.helpers import Checkpointable, DelayedSubmission

from ...files import try_lock, write_text
from ..run_files import LAST, LOG, RESULT
from ..safe_files import open_file
from .processes import Commands
from .run import Run, RunError

logger = logging.getLogger(__name__)

LOCK = ".lock"
PATIENCE = 1800.0  # seconds without a sign of life, after which nobody is waited for
_LOOK = 0.5  # seconds between looks
_PORTS = (20_000, 10_000)  # rendezvous: first port, and how many


@dataclass
class RunJob(Checkpointable):
    """A run, and what its commands are to find around them."""

    run: Run  # to be finished
    environment: Mapping[str, str | None]  # variables of its commands; None takes one away
    minutes: int = 0  # the job's time limit; 0 for none
    begun: tuple[float, str] | None = None  # by the clock, and how far the run was; set by the job

    def __call__(self) -> None:
        """Finish the run, or help the job's first node with it.

        Raises:
            Exception: the run failed; the reason lies in `error_file`.
        """
        place = JobEnvironment()
        self.begun = (time.time(), _state_of(self.run))
        if place.cluster == "local":  # no time limit there: a signal means an end
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.default_int_handler)
        report = error_file(place.paths.folder, place.job_id)
        if not place.global_rank:
            report.unlink(missing_ok=True)  # of an earlier attempt
        try:
            self._work(place)
        except Exception as error:
            known = isinstance(error, (RunError, ValueError, OSError))
            if not report.exists():  # what was said first is the reason
                write_text(report, f"{error if known else repr(error)}\n")
            raise

    def _work(self, place: JobEnvironment) -> None:
        """Do this node's part."""
        commands = Commands({**self.environment, **rendezvous(place)})
        # signs of the first node to the others; a job that Slurm has queued again has its own
        stem = f"{place.job_id}_{_attempt()}"
        training, end = (place.paths.folder / f"{stem}_{sign}" for sign in ("training", "end"))
        if place.global_rank:
            while not (training.exists() or end.exists()):
                time.sleep(_LOOK)
            if not end.exists():
                self.run.assist(
                    lambda command, log: commands.launch(
                        command, log.with_stem(f"{log.stem}.node{place.global_rank}")
                    )
                )
            return

        def launch(command: Sequence[str], log: Path) -> None:
            if log.name == LOG:
                training.touch()
            commands.launch(command, log)

        try:
            with locked(self.run.folder) as lock:
                commands.keep = lock
                if not self.run.is_finished():
                    self.run.execute(launch)
        finally:
            end.touch()

    def checkpoint(self) -> DelayedSubmission | None:
        """Return what is to be done after a time limit or a preemption: the rest.

        None, and so an end, if a whole time limit has brought the run no further.
        """
        if self.begun and self.minutes:
            then, state = self.begun
            whole = time.time() - then >= 0.8 * 60 * self.minutes
            if whole and _state_of(self.run) == state:
                place = JobEnvironment()
                write_text(
                    error_file(place.paths.folder, place.job_id),
                    f"{self.minutes} minutes did not reach the next checkpoint: give a longer "
                    "--time, or let the run save more often (validate_every)\n",
                )
                return None
        return DelayedSubmission(replace(self, begun=None))


def error_file(folder: Path, job: str) -> Path:
    """Return where a job that failed leaves the reason."""
    return folder / f"{job}_error.txt"


def rendezvous(place: JobEnvironment) -> dict[str, str]:
    """Return what torchrun needs to know on each of several nodes; nothing for one node."""
    if place.num_nodes == 1:
        return {}
    first, ports = _PORTS
    port = first + int(place.raw_job_id) % ports
    options = [
        f"--nnodes {place.num_nodes}",
        "--rdzv_backend c10d",
        f"--rdzv_endpoint {place.hostnames[0]}:{port}",
        f"--rdzv_id {place.job_id}.{_attempt()}",
        f"--rdzv_conf is_host={int(place.global_rank == 0)}",
    ]
    return {"TORCHRUN": " ".join(options)}


def _attempt() -> str:
    """Return how often Slurm has queued this job again."""
    return os.environ.get("SLURM_RESTART_COUNT", "0")


def _state_of(run: Run) -> str:
    """Return what changes as a run gets on."""
    found = []
    for name in (LAST, RESULT):
        with contextlib.suppress(FileNotFoundError):
            found.append(f"{name} {(run.folder / name).stat().st_mtime_ns}")
    return ", ".join(found)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Keep other processes out of a run's folder, which is made; wait for one at work there.

    Yields:
        The open file that holds the lock.

    Raises:
        ValueError: the lock is a link.
        RunError: the other shows no sign of life.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open_file(folder / LOCK, "ab") as stream:
        waiting = False
        while not try_lock(stream, folder):
            if not waiting:
                logger.warning("%s: another process is at work there; waiting for it", folder)
            waiting = True
            if time.time() - _last_change(folder) > PATIENCE:
                raise RunError(
                    f"another process is at work in this folder, but has written nothing for "
                    f"{PATIENCE / 60:.0f} minutes: end it, then start again"
                )
            time.sleep(_LOOK)
        yield stream.fileno()


def is_locked(folder: Path) -> bool:
    """Return whether somebody is at work in a run's folder."""
    try:
        with open_file(folder / LOCK, "rb+") as stream:  # network disks lock no other
            return not try_lock(stream, folder)
    except FileNotFoundError:
        return False


def _last_change(folder: Path) -> float:
    """Return when something in a folder was last written."""
    times = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # a temporary name
            times.append(path.stat().st_mtime)
    return max(times)  # the lock itself is there
