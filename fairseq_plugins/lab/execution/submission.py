"""Runs under way: forks of this process, a few at a time, or jobs of Slurm, all at once."""

import contextlib
import getpass
import json
import logging
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

import torch
from submitit import SlurmExecutor
from submitit.core.utils import FailedJobError

from ...files import write_text
from ..safe_files import read_json
from . import forks
from .cluster import Machine
from .job import RunJob, is_locked
from .run import Run

logger = logging.getLogger(__name__)

SUBMITTED = "submitted.json"  # run -> job, kind; of jobs that may still be there

_REQUEUES = 1000  # as often as it takes: a job that gets nowhere ends itself
_INTERVAL = 10.0  # seconds between questions to Slurm
_PAUSE = 0.1  # seconds between looks at jobs that are ending
_AGAIN, _FIRMLY = 2.0, 30.0  # seconds until a job that should end is asked again, or killed


@dataclass(eq=False)
class Ticket:
    """A run under way."""

    run: Run  # that was submitted
    job: str  # what its executor calls the job
    folder: Path  # of the job's files
    has_ended: Callable[[], bool]  # whether the job is over
    slot: int = 0  # its place among the jobs at a time
    begun: float = field(default_factory=lambda: time.monotonic())  # when it was submitted


class Pool:
    """What jobs are submitted to: `submit` starts or queues runs, `stop` lets go of all that go on.

    Args:
        machine: what a job gets, and how many run at a time.
    """

    room = 10**9  # how many runs may be submitted now

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._running: dict[str, Ticket] = {}

    def look(self) -> None:
        """Find out which jobs have ended; processes of this machine are asked one by one."""

    def release(self, ticket: Ticket) -> None:
        """Forget a job that has ended, and remove what submitit has pickled."""
        del self._running[ticket.job]
        for path in ticket.folder.glob(f"{ticket.job}_*.pkl"):
            path.unlink()


class LocalPool(Pool):
    """Processes of this machine."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        # A number of a process may come again, and with it the names of its files.
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:6]}"
        self._folder = (machine.folder / name).absolute()
        self._folder.mkdir(parents=True)
        forks.warm_up()

    @property
    def room(self) -> int:
        """How many runs may be submitted now."""
        return self._machine.jobs - len(self._running)

    def submit(self, runs: Sequence[Run]) -> list[Ticket]:
        """Start runs."""
        tickets = []
        for run in runs:
            if is_locked(run.folder):
                logger.warning("%s: another process is at work there; waiting for it", run.folder)
            taken = {ticket.slot for ticket in self._running.values()}
            slot = next(slot for slot in count() if slot not in taken)
            job = RunJob(run, _environment(self._machine, slot))
            process = forks.CONTEXT.Process(target=_work, args=(job, self._folder, os.getpid()))
            process.start()
            ended = partial(lambda process: not process.is_alive(), process)
            ticket = Ticket(run, str(process.pid), self._folder, ended, slot)
            self._running[ticket.job] = ticket
            logger.info("%s: %d updates", run.folder, run.updates)
            tickets.append(ticket)
        return tickets

    def stop(self) -> None:
        """End all jobs and wait for that.

        By SIGTERM, at which a job ends its training.
        """
        begun, asked = time.monotonic(), float("-inf")
        while left := [ticket for ticket in self._running.values() if not ticket.has_ended()]:
            now = time.monotonic()
            if now - asked > _AGAIN:  # a job that is just starting hears nothing
                name = signal.SIGTERM if now - begun < _FIRMLY else signal.SIGKILL
                for ticket in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(ticket.job), name)
                asked = now
            time.sleep(_PAUSE)


def _environment(machine: Machine, slot: int) -> dict[str, str | None]:
    """Return the variables of a local job's commands: its share of the cores and of the GPUs."""
    cores = machine.cpus_per_task or len(os.sched_getaffinity(0)) // machine.jobs
    found: dict[str, str | None] = {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES")}
    if "OMP_NUM_THREADS" not in os.environ:
        found["OMP_NUM_THREADS"] = str(max(1, cores // machine.processes))
    own, there = machine.gpus_per_node, torch.cuda.device_count()
    if own and there > own:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        names = visible.split(",") if visible else [str(device) for device in range(there)]
        chosen = [names[(slot * own + k) % there] for k in range(own)]
        found["CUDA_VISIBLE_DEVICES"] = ",".join(chosen)
    return found


def _work(job: RunJob, folder: Path, parent: int) -> None:
    """Be the process of a job, as submitit would start it."""
    forks.end_with(parent)
    own = {"EXECUTOR": "local", "FOLDER": str(folder), "LOCAL_JOB_ID": str(os.getpid())}
    os.environ.update({f"SUBMITIT_{name}": value for name, value in own.items()})
    logs = [folder / f"{os.getpid()}_0_log.{end}" for end in ("out", "err")]
    forks.redirect(*(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666) for log in logs))
    job()


class SlurmPool(Pool):
    """Jobs of Slurm, in arrays that it queues itself; they outlive this process."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._executor = SlurmExecutor(machine.folder, max_num_timeout=_REQUEUES)
        self._missed: dict[str, int] = {}
        self._looked = float("-inf")

    def submit(self, runs: Sequence[Run]) -> list[Ticket]:
        """Queue runs; those that an earlier call has queued are taken over.

        Raises:
            ConnectionError: Slurm does not answer.
            ValueError: Slurm refuses the jobs, or has one of other settings for a run.
        """
        alive, before = queued_jobs(self._machine.job_name), ""
        path = self._machine.folder / SUBMITTED
        known = {name: entry for name, entry in read_json(path).items() if entry[0] in alive}
        tickets, new = self._take_over(runs, known)
        for start in range(0, len(new), self._machine.array_size):
            part = new[start : start + self._machine.array_size]
            jobs = self._submit_array(part, before)
            before = jobs[0].split("_")[0]
            known.update((self._name(r), [job, r.kind]) for r, job in zip(part, jobs))
            write_text(path, json.dumps(known, indent=2) + "\n")
            tickets += [self._ticket(run, job) for run, job in zip(part, jobs)]
            logger.info("%d runs: submitted as job %s", len(part), before)
        return tickets

    def _take_over(
        self, runs: Sequence[Run], known: Mapping[str, Sequence[str]]
    ) -> tuple[list[Ticket], list[Run]]:
        """Return those that are queued or running already, and the others."""
        tickets, new = [], []
        for run in runs:
            job, kind = known.get(self._name(run), ("", ""))
            if not job:
                new.append(run)
            elif kind == run.kind:
                tickets.append(self._ticket(run, job))
            else:
                raise ValueError(
                    f"{run.folder}: job {job} is queued with other settings: end it with "
                    f"scancel {job}, or name another folder for the runs"
                )
        if tickets:
            logger.info("%d runs are queued or running already", len(tickets))
        return tickets, new

    def _submit_array(self, runs: Sequence[Run], before: str) -> list[str]:
        """Queue runs as one array, after another; return the name of each job."""
        machine = self._machine
        parameters = dict(machine.sbatch)
        if before:
            parameters["dependency"] = f"afterany:{before}"
        self._executor.update_parameters(**parameters)
        threads = {"OMP_NUM_THREADS": str(max(1, machine.cpus_per_task // machine.processes))}
        own = threads if machine.cpus_per_task and "OMP_NUM_THREADS" not in os.environ else {}
        try:
            jobs = self._executor.submit_array([RunJob(run, own, machine.minutes) for run in runs])
        except FailedJobError as error:
            raise ValueError(f"sbatch refused the jobs: {error}") from None
        return [job.job_id for job in jobs]

    def _ticket(self, run: Run, job: str) -> Ticket:
        """Return the ticket of a queued run."""
        ticket = Ticket(run, job, self._machine.folder.absolute(), lambda: self._missed[job] > 1)
        self._running[job], self._missed[job] = ticket, 0
        return ticket

    def _name(self, run: Run) -> str:
        """Return what a run is called in the record: its place as seen from there."""
        return os.path.relpath(run.folder, self._machine.folder)

    def look(self) -> None:
        """Ask Slurm which jobs there still are; one has ended when it is missing twice."""
        if time.monotonic() - self._looked < _INTERVAL:
            return
        self._looked = time.monotonic()
        try:
            alive = queued_jobs(self._machine.job_name)
        except ConnectionError as error:
            logger.warning("%s; asking again", error)
            return
        for job in self._running:
            self._missed[job] = 0 if job in alive else self._missed[job] + 1

    def stop(self) -> None:
        """Say how to watch the jobs that go on."""
        if self._running:
            jobs = ",".join(sorted({job.split("_")[0] for job in self._running}))
            logger.warning(
                "%d runs go on in Slurm; watch them with: squeue --jobs=%s; end them with: "
                "scancel %s; the same command waits for them again",
                len(self._running),
                jobs,
                jobs.replace(",", " "),
            )


def queued_jobs(name: str) -> set[str]:
    """Return the jobs of a name that are queued or running: numbers may come again.

    Raises:
        ConnectionError: Slurm does not answer.
    """
    command = ["squeue", "--noheader", "--array", "--format=%i %j", f"--user={getpass.getuser()}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        detail = getattr(error, "stderr", "") or error
        raise ConnectionError(f"squeue does not answer: {str(detail).strip()}") from None
    jobs = (line.strip().partition(" ") for line in done.stdout.splitlines())
    return {number for number, _, found in jobs if found.strip() == name}
