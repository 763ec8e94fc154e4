"""Jobs of Slurm, in job arrays; they outlive the process that submits them.

submitit writes a job to a folder and reads it on the node. This package never unpickles a job's
result: the folder of the run shows whether the run is finished.
"""

import getpass
import json
import logging
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from submitit import SlurmExecutor
from submitit.core.utils import FailedJobError
from submitit.helpers import Checkpointable, DelayedSubmission

from ...errors import InputError
from ...files import write_text
from ..run_files import ERROR, LAST, RESULT
from ..safe_files import is_file, read_json
from .machine import LARGEST_ARRAY, Machine
from .run import Run
from .training import finish

logger = logging.getLogger(__name__)

SUBMITTED = "submitted.json"  # run -> job; of jobs that may still exist
_REQUEUES = 1000  # practically no limit: a job without progress ends itself
_INTERVAL = 10.0  # seconds between queries of Slurm


@dataclass
class SlurmJob(Checkpointable):
    """A run as a job on a Slurm node."""

    run: Run
    begun: float = 0.0  # clock time, set by the job

    def __call__(self) -> None:
        self.begun = time.time()
        finish(self.run, {})

    def checkpoint(self) -> DelayedSubmission | None:
        """Return the rest of the work after a time limit or a preemption.

        None, which ends the job, if a whole time limit brought no progress.
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


class SlurmPool:
    """Jobs of Slurm, all at once."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._executor = SlurmExecutor(machine.folder, max_num_timeout=_REQUEUES)
        self._executor.update_parameters(**machine.sbatch)
        self._running: dict[str, Run] = {}  # by job
        self._missed: dict[str, int] = {}  # job -> times in a row without it in squeue
        self._looked = float("-inf")

    @property
    def room(self) -> int:
        """Number of runs that may be submitted now: one array at a time."""
        return 0 if self._running else LARGEST_ARRAY

    def submit(self, runs: Sequence[Run]) -> None:
        """Queue runs as one array; adopt runs that an earlier call has queued."""
        machine = self._machine
        alive, path = queued_jobs(machine.job_name), machine.folder / SUBMITTED
        known = {name: job for name, job in read_json(path).items() if str(job) in alive}
        places = {os.path.relpath(run.folder, machine.folder): run for run in runs}
        self._running = {known[name]: run for name, run in places.items() if name in known}
        if self._running:
            logger.info("%d runs are queued or running already", len(self._running))
        if names := [name for name in places if name not in known]:
            jobs = self._submit_array([places[name] for name in names])
            known.update(zip(names, jobs))
            write_text(path, json.dumps(known, indent=2) + "\n")
            self._running.update({job: places[name] for name, job in zip(names, jobs)})
            logger.info("%d runs: submitted as job %s", len(names), jobs[0].split("_")[0])

    def _submit_array(self, runs: Sequence[Run]) -> list[str]:
        try:
            jobs = self._executor.submit_array([SlurmJob(run) for run in runs])
        except FailedJobError as error:
            raise InputError(f"sbatch refused the jobs: {error}") from None
        return [job.job_id for job in jobs]

    def ended(self) -> list[Run]:
        """Return the runs whose jobs have ended: Slurm did not list them twice in a row."""
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
        """Tell how to watch the jobs that remain in Slurm."""
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
    """Return the queued or running jobs with a name; Slurm reuses job numbers."""
    command = ["squeue", "--noheader", "--array", "--format=%i %j", f"--user={getpass.getuser()}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        detail = getattr(error, "stderr", "") or error
        raise ConnectionError(f"squeue does not answer: {str(detail).strip()}") from None
    jobs = (line.strip().partition(" ") for line in done.stdout.splitlines())
    return {number for number, _, found in jobs if found.strip() == name}
