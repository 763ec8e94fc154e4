"""Where runs execute: this machine or Slurm, and the share of the machine for each run."""

import argparse
import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from ... import option_flags
from ...errors import InputError
from ...option_flags import flag_of, option

LOCAL, SLURM = "local", "slurm"
EXECUTORS = (LOCAL, SLURM)
MINUTES = 240  # of a Slurm job; a longer run is queued again and continues
LARGEST_ARRAY = 1000  # Slurm's default
_COMMANDS = ("sbatch", "srun", "squeue", "scontrol")
_KEY = re.compile(r"[a-z][a-z0-9_]*")
_SAME = ("gpus_per_node", "partition")  # same name in sbatch
_OF_SLURM = ("time", "partition", "slurm")
_BY_OTHERS = {  # options whose command-line defaults depend on other options
    "jobs": f"number of runs at a time (default: 1; {SLURM}: all)",
    "gpus_per_node": f"GPUs of a run, a process on each (default: 1 if there is one or with "
    f"{SLURM}, 0 with --cpu)",
}
_TAKEN = {  # parameters of sbatch that this command sets itself
    *("nodes", "time", *_SAME, "array", "ntasks", "ntasks_per_node", "output", "error"),
    *("open_mode", "signal", "job_name", "requeue", "no_requeue", "wrap"),
    *("cluster", "clusters", "chdir", "export", "export_file"),
}


@dataclass(frozen=True)
class Machine:
    """The machine that runs execute on.

    The other arguments are options, with their help.
    """

    folder: Path  # for the executor's files; only this package writes and reads there
    executor: str = option("where runs are executed", LOCAL, choices=EXECUTORS)
    jobs: int = option(f"number of runs at a time; with {SLURM} of one array", 1, least=1)
    stop_after: float = option(
        "start no run that would end later than these minutes from now, if it took as long as the "
        f"longest so far (0: no limit; only with {LOCAL}); the same command goes on later",
        0.0,
        least=0,
    )
    gpus_per_node: int = option("GPUs of a run, a process on each", 0, least=0)
    time: str = option(f"time limit of a job, in Slurm's notation (default: {MINUTES} min.)", "")
    partition: str = option("Slurm partition that jobs are submitted to", "")
    # further parameters of ``sbatch``, such as ``mem``; True is a bare flag
    slurm: Mapping[str, str | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        option_flags.check(self)
        if self.time:
            read_minutes(self.time)
        if self.executor == SLURM:
            if self.stop_after:
                raise InputError(f"--stop-after: needs --executor {LOCAL}; see --time")
            return
        for name in _OF_SLURM:
            if getattr(self, name):
                raise InputError(f"{flag_of(name)}: needs --executor {SLURM}")
        if self.gpus_per_node > (there := gpus_here()):
            raise InputError(f"--gpus-per-node {self.gpus_per_node}: this machine has {there}")

    @property
    def processes(self) -> int:
        """Number of processes that train one run."""
        return max(1, self.gpus_per_node)

    @property
    def minutes(self) -> int:
        """A Slurm job's time limit; a run that reaches it is queued again and continues."""
        return read_minutes(self.time) if self.time else MINUTES

    def check(self) -> None:
        """Check that jobs can be submitted."""
        missing = [name for name in _COMMANDS if shutil.which(name) is None]
        if self.executor == SLURM and missing:
            raise FileNotFoundError(
                f"--executor {SLURM}: there is no command {missing[0]} on the PATH; start this on "
                f"a login node of a Slurm cluster, or choose --executor {LOCAL}"
            )

    @property
    def job_name(self) -> str:
        """Slurm's name for the jobs; each experiment has its own."""
        place = self.folder.resolve().parent
        name = re.sub(r"[^\w.-]+", "_", place.name)  # the name stands in a script
        return f"fairseq-{name}-{hashlib.sha256(str(place).encode()).hexdigest()[:10]}"

    @property
    def sbatch(self) -> dict[str, object]:
        """The parameters of ``sbatch`` for submitit."""
        return {
            "job_name": self.job_name,
            "nodes": 1,
            "ntasks_per_node": 1,
            "time": self.minutes,
            "array_parallelism": self.jobs,
            # Slurm itself queues a job again after a preemption or a broken node
            "additional_parameters": {**self.slurm, "requeue": True},
            **{name: getattr(self, name) for name in _SAME if getattr(self, name)},
        }


def gpus_here() -> int:
    import torch  # ``--help`` works without torch

    return torch.cuda.device_count()


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that `machine_of` reads, named as in Slurm."""
    group = parser.add_argument_group("where runs are executed")
    option_flags.add_flags(group, Machine, leave_out=_BY_OTHERS, strict=True)
    for name, text in _BY_OTHERS.items():
        group.add_argument(flag_of(name), type=int, metavar="N", help=text)
    group.add_argument(
        "--slurm",
        nargs="+",
        default=(),
        metavar="KEY=VALUE",
        help="further parameters of sbatch, such as mem=32G, account=mine or exclusive",
    )


def machine_of(args: argparse.Namespace, folder: Path) -> Machine:
    """Return the machine that the flags describe; a flag ``cpu`` means no GPU."""
    own = {spec.name: getattr(args, spec.name) for spec in fields(Machine) if spec.metadata}
    cluster = args.executor == SLURM
    if getattr(args, "cpu", False):
        own["gpus_per_node"] = 0
    elif own["gpus_per_node"] is None:
        own["gpus_per_node"] = int(cluster or gpus_here() > 0)
    if own["jobs"] is None:
        own["jobs"] = LARGEST_ARRAY if cluster else 1
    return Machine(folder, **own, slurm=read_parameters(args.slurm))


def read_minutes(text: str) -> int:
    """Return the minutes of a Slurm time such as [days-]hours:minutes:seconds."""
    days, dash, rest = text.rpartition("-")
    parts = [days if dash else "0", *rest.split(":")]
    total = 0
    if len(parts) <= 4 and all(
        part.isascii() and part.isdigit() and len(part) < 10 for part in parts
    ):
        day, *numbers = map(int, parts)
        if not dash and len(numbers) < 3:
            numbers = [0, *numbers]  # without days and hours the first number is minutes
        hours, minutes, seconds = [*numbers, 0, 0][:3]
        total = day * 1440 + hours * 60 + minutes + -(-seconds // 60)
    if total < 1:
        raise InputError(f"--time {text}: expected minutes, H:MM:SS or DAYS-HH:MM:SS, and some")
    return total


def read_parameters(words: Sequence[str]) -> dict[str, str | bool]:
    """Return name -> value of parameters of ``sbatch``; a name alone is a bare flag."""
    found: dict[str, str | bool] = {}
    for word in words:
        name, equals, value = word.partition("=")
        key = name.lstrip("-").replace("-", "_")
        if not _KEY.fullmatch(key) or "\n" in value:
            raise InputError(f"--slurm {word}: expected KEY=VALUE or KEY, e.g. mem=32G")
        if key in _TAKEN:
            raise InputError(f"--slurm {word}: a flag or this command itself says it to sbatch")
        found[key] = value if equals else True
    return found
