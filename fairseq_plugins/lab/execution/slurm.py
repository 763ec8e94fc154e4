"""Jobs of Slurm, in arrays that it queues itself; they outlive the process that submits them.

By submitit a job is written to a folder and read again on its nodes. Nothing that a job has pickled
is ever read: whether a run is finished is seen in its folder.
"""

import getpass
import json
import logging
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from submitit import JobEnvironment, SlurmExecutor
from submitit.core.utils import FailedJobError
from submitit.helpers import Checkpointable, DelayedSubmission

from ...errors import InputError
from ...files import write_text
from ..run_files import ERROR, LAST, LOG, RESULT
from ..safe_files import is_file, read_json
from .machine import Machine
from .processes import Environment, launch
from .run import Run
from .training import assist, finish, reported

logger = logging.getLogger(__name__)

SUBMITTED = "submitted.json"  # run -> job; of jobs that may still be there
_LOOK = 0.5  # seconds between looks
_PORTS = (20_000, 10_000)  # rendezvous: first port, and how many
_REQUEUES = 1000  # as often as it takes: a job that gets nowhere ends itself
_INTERVAL = 10.0  # seconds between questions to Slurm


@dataclass
class SlurmJob(Checkpointable):
    """A run that is brought to its end on nodes of Slurm."""

    run: Run  # to be finished
    begun: float = 0.0  # by the clock; set by the job

    def __call__(self) -> None:
        """Finish the run, or help the job's first node with it."""
        place, self.begun = JobEnvironment(), time.time()
        environment = {**threads_of(self.run.machine), **rendezvous(place)}
        # signs of the first node to the others; a job that Slurm has queued again has its own
        stem = f"{place.job_id}_{_attempt()}"
        training, end = (place.paths.folder / f"{stem}_{sign}" for sign in ("training", "end"))
        if place.global_rank:
            while not (training.exists() or end.exists()):
                time.sleep(_LOOK)
            if not end.exists():
                self._help(environment, f".node{place.global_rank}")
            return
        try:
            finish(self.run, environment, lambda log: training.touch() if log.name == LOG else None)
        finally:
            end.touch()

    def _help(self, environment: Environment, mark: str) -> None:
        def add(words: Sequence[str], log: Path) -> None:
            launch(words, log.with_stem(f"{log.stem}{mark}"), environment)

        with reported(self.run):
            assist(self.run, add)

    def checkpoint(self) -> DelayedSubmission | None:
        """Return what is to be done after a time limit or a preemption: the rest.

        None, and so an end, if a whole time limit has brought the run no further.
        """
        left = [self.run.folder / name for name in (LAST, RESULT)]
        got_on = any(is_file(path) and path.stat().st_mtime > self.begun for path in left)
        minutes = self.run.machine.minutes
        if not got_on and time.time() - self.begun >= 0.8 * 60 * minutes:
            write_text(
                self.run.folder / ERROR,
                f"{minutes} minutes did not reach the next checkpoint: give a longer --time, "
                "or let the run save more often (validate_every)\n",
            )
            return None
        return DelayedSubmission(SlurmJob(self.run))


def threads_of(machine: Machine) -> dict[str, str]:
    """Return the variable by which the processes of a job share its cores, unless it is set."""
    if not machine.cpus_per_task or "OMP_NUM_THREADS" in os.environ:
        return {}
    return {"OMP_NUM_THREADS": str(max(1, machine.cpus_per_task // machine.processes))}


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


class SlurmPool:
    """Jobs of Slurm, all at once."""

    room = 10**9  # how many runs may be submitted now

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._executor = SlurmExecutor(machine.folder, max_num_timeout=_REQUEUES)
        self._running: dict[str, Run] = {}  # by their jobs
        self._missed: dict[str, int] = {}  # job -> how often in a row Slurm did not name it
        self._looked = float("-inf")

    def submit(self, runs: Sequence[Run]) -> None:
        """Queue runs; those that an earlier call has queued are taken over.

        Raises:
            ConnectionError: Slurm does not answer.
            InputError: Slurm refuses the jobs.
        """
        machine, before = self._machine, ""
        alive, path = queued_jobs(machine.job_name), machine.folder / SUBMITTED
        known = {name: job for name, job in read_json(path).items() if str(job) in alive}
        places = {os.path.relpath(run.folder, machine.folder): run for run in runs}
        self._running = {known[name]: run for name, run in places.items() if name in known}
        if self._running:
            logger.info("%d runs are queued or running already", len(self._running))
        new = [name for name in places if name not in known]
        for start in range(0, len(new), machine.array_size):
            names = new[start : start + machine.array_size]
            jobs = self._submit_array([places[name] for name in names], before)
            before = jobs[0].split("_")[0]
            known.update(zip(names, jobs))
            write_text(path, json.dumps(known, indent=2) + "\n")
            self._running.update({job: places[name] for name, job in zip(names, jobs)})
            logger.info("%d runs: submitted as job %s", len(names), before)

    def _submit_array(self, runs: Sequence[Run], before: str) -> list[str]:
        """Queue runs as one array, after another; return the name of each job."""
        parameters = dict(self._machine.sbatch)
        if before:
            parameters["dependency"] = f"afterany:{before}"
        self._executor.update_parameters(**parameters)
        try:
            jobs = self._executor.submit_array([SlurmJob(run) for run in runs])
        except FailedJobError as error:
            raise InputError(f"sbatch refused the jobs: {error}") from None
        return [job.job_id for job in jobs]

    def ended(self) -> list[Run]:
        """Return the runs whose jobs have ended: Slurm has not named them twice."""
        if time.monotonic() - self._looked < _INTERVAL:
            return []
        self._looked = time.monotonic()
        try:
            alive = queued_jobs(self._machine.job_name)
        except ConnectionError as error:
            logger.warning("%s; asking again", error)
            return []
        missed = {job: self._missed.get(job, 0) + 1 for job in self._running if job not in alive}
        self._missed = missed
        over = [job for job, times in missed.items() if times > 1]
        for path in (path for job in over for path in self._machine.folder.glob(f"{job}_*.pkl")):
            path.unlink(missing_ok=True)  # another command may wait for the same job
        return [self._running.pop(job) for job in over]

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
