"""Where runs are executed: this machine or Slurm, and how much of it each of them takes."""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LOCAL, SLURM = "local", "slurm"
EXECUTORS = (LOCAL, SLURM)
MINUTES = 240  # of a Slurm job; a longer run is queued again and goes on
LARGEST_ARRAY = 1000  # Slurm's own default
_COMMANDS = ("sbatch", "srun", "squeue", "scontrol")
_KEY = re.compile(r"[a-z][a-z0-9_]*")
_OURS = {  # parameter of sbatch -> what says it here; nothing if nobody may
    "nodes": "--nodes",
    "gpus_per_node": "--gpus-per-node",
    "cpus_per_task": "--cpus-per-task",
    "time": "--time",
    "mem": "--mem",
    "partition": "--partition",
    "account": "--account",
    "qos": "--qos",
    "array": "--array-size and --jobs",
    **dict.fromkeys(("ntasks", "ntasks_per_node", "output", "error", "open_mode"), ""),
    **dict.fromkeys(("signal", "dependency", "job_name", "requeue", "no_requeue", "wrap"), ""),
}
_REFUSED = {  # parameter of sbatch -> why it is not to be said
    **dict.fromkeys(("cluster", "clusters"), "jobs of another cluster are not seen from here"),
    "chdir": "runs are found from the folder where this is started",
    **dict.fromkeys(("export", "export_file"), "jobs need the environment of this command"),
}


def gpus_here() -> int:
    """Return how many GPUs torch sees on this machine; loads it."""
    import torch

    return torch.cuda.device_count()


@dataclass(frozen=True)
class Machine:
    """What runs are executed on.

    Args:
        folder: of the executor's files, which this package alone writes and reads.
        executor: one of `EXECUTORS`.
        jobs: runs at a time; with Slurm of one array.
        gpus: of a run, on each of its nodes.
        processes: of a run, on each of its nodes.
        nodes: of a run; more than one only with Slurm.
        cpus: cores of a run on each node; 0 for an even share of this machine, or Slurm's default.
        minutes: a Slurm job's time limit; a run that reaches it is queued again and goes on.
        memory: of each node as Slurm writes it, such as 32G.
        partition, account, qos: of Slurm; empty for its defaults.
        array: largest number of runs that are submitted as one array.
        slurm: further parameters of ``sbatch``, such as ``constraint``; True is a bare flag.

    Raises:
        ValueError: a number out of range, or something that this executor does not know.
    """

    folder: Path
    executor: str = LOCAL
    jobs: int = 1
    gpus: int = 0
    processes: int = 1
    nodes: int = 1
    cpus: int = 0
    minutes: int = 0
    memory: str = ""
    partition: str = ""
    account: str = ""
    qos: str = ""
    array: int = LARGEST_ARRAY
    slurm: Mapping[str, str | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.executor not in EXECUTORS:
            raise ValueError(f"--executor {self.executor}: choices are {', '.join(EXECUTORS)}")
        numbers = {
            "--array-size": (self.array, 1),
            "--jobs": (self.jobs, 1),
            "--nodes": (self.nodes, 1),
            "--processes": (self.processes, 1),
            "--gpus-per-node": (self.gpus, 0),
            "--cpus-per-task": (self.cpus, 0),
        }
        for name, (value, least) in numbers.items():
            if value < least:
                raise ValueError(f"{name} {value}: must be at least {least}")
        if self.executor == LOCAL:
            self._check_local()

    def _check_local(self) -> None:
        """Refuse what only Slurm can do."""
        if self.nodes > 1:
            raise ValueError(f"--nodes {self.nodes}: several nodes need --executor {SLURM}")
        given = {
            "--time": self.minutes,
            "--mem": self.memory,
            "--partition": self.partition,
            "--account": self.account,
            "--qos": self.qos,
            "--slurm": dict(self.slurm),
        }
        for name, value in given.items():
            if value:
                raise ValueError(f"{name}: needs --executor {SLURM}")
        if self.gpus > gpus_here():
            raise ValueError(f"--gpus-per-node {self.gpus}: this machine has {gpus_here()}")

    def check(self) -> None:
        """Look whether jobs can be submitted.

        Raises:
            FileNotFoundError: one of Slurm's commands is not there.
        """
        missing = [name for name in _COMMANDS if shutil.which(name) is None]
        if self.executor == SLURM and missing:
            raise FileNotFoundError(
                f"--executor {SLURM}: there is no command {missing[0]} on the PATH; start this on "
                f"a login node of a Slurm cluster, or choose --executor {LOCAL}"
            )

    @property
    def job_name(self) -> str:
        """What Slurm calls the jobs: the same for one experiment, and another for any other."""
        place = self.folder.resolve().parent
        name = re.sub(r"[^\w.-]+", "_", place.name)  # it stands in a script
        return f"fairseq-{name}-{hashlib.sha256(str(place).encode()).hexdigest()[:10]}"

    @property
    def sbatch(self) -> dict[str, object]:
        """What submitit is told about a job, in the words of ``sbatch``."""
        several = self.nodes > 1
        stated = {
            "cpus_per_task": self.cpus or None,
            "gpus_per_node": self.gpus or None,
            "mem": self.memory or None,
            "partition": self.partition or None,
            "account": self.account or None,
            "qos": self.qos or None,
            # of several nodes none goes on alone
            "srun_args": ["--kill-on-bad-exit=1"] if several else None,
        }
        return {
            "job_name": self.job_name,
            "nodes": self.nodes,
            "ntasks_per_node": 1,
            "time": self.minutes or MINUTES,
            "array_parallelism": self.jobs,
            # Slurm itself queues a job again after a preemption or a broken node
            "additional_parameters": {**self.slurm, "requeue": True},
            **{name: value for name, value in stated.items() if value is not None},
        }


def this_machine(folder: Path, jobs: int = 1, *, cpu: bool = False) -> Machine:
    """Return this machine, a GPU for each run if there are any.

    Args:
        folder: of the executor's files.
        jobs: runs at a time.
        cpu: whether to use no GPU.

    Raises:
        ValueError: fewer than one job.
    """
    return Machine(folder, jobs=jobs, gpus=0 if cpu else min(1, gpus_here()))


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add what `machine_of` reads, in the words of Slurm."""
    add = parser.add_argument_group("where runs are executed").add_argument
    add("--executor", choices=EXECUTORS, default=LOCAL, help=f"default: {LOCAL}")
    add("--jobs", type=int, metavar="N", help=f"runs at a time (default: 1; {SLURM}: all)")
    add("--gpus-per-node", type=int, metavar="N", help="of a run (default: 1 if there is one)")
    add("--processes", type=int, metavar="N", help="of a run on each node (default: one a GPU)")
    add("--nodes", type=int, default=1, metavar="N", help=f"of a run ({SLURM}; default: 1)")
    add("--cpus-per-task", type=int, default=0, metavar="N", help="cores of a run on each node")
    add("--time", default="", help=f"limit of a job as Slurm writes it (default: {MINUTES} min.)")
    add("--mem", default="", metavar="SIZE", help="of each node, such as 32G")
    for name in ("partition", "account", "qos"):
        add(f"--{name}", default="", metavar="NAME", help=f"of {SLURM}")
    add(
        "--array-size",
        type=int,
        default=LARGEST_ARRAY,
        metavar="N",
        help="most runs that are submitted as one array; a further array waits for the one before",
    )
    add(
        "--slurm",
        nargs="+",
        default=(),
        metavar="KEY=VALUE",
        help="further parameters of sbatch, such as constraint=a100 or exclusive",
    )


def machine_of(args: argparse.Namespace, folder: Path) -> Machine:
    """Return what the flags of `add_flags` ask for.

    Args:
        args: parsed; if there is a flag ``cpu`` and it is set, no GPU is asked for by default.
        folder: of the executor's files.

    Raises:
        ValueError: no such number, time or parameter; names it.
    """
    gpus, cluster = args.gpus_per_node, args.executor == SLURM
    if gpus is None:
        there = cluster or gpus_here() > 0
        gpus = int(there and not getattr(args, "cpu", False))
    jobs = args.array_size if cluster else 1
    return Machine(
        folder,
        executor=args.executor,
        jobs=jobs if args.jobs is None else args.jobs,
        gpus=gpus,
        processes=max(1, gpus) if args.processes is None else args.processes,
        nodes=args.nodes,
        cpus=args.cpus_per_task,
        minutes=read_minutes(args.time) if args.time else 0,
        memory=args.mem,
        partition=args.partition,
        account=args.account,
        qos=args.qos,
        array=args.array_size,
        slurm=read_parameters(args.slurm),
    )


def read_minutes(text: str) -> int:
    """Return the minutes that Slurm understands by a time: [days-]hours:minutes:seconds and such.

    Raises:
        ValueError: no such time, or none at all.
    """
    days, dash, rest = text.rpartition("-")
    parts = rest.split(":")
    if not all(part.isascii() and part.isdigit() for part in [*parts, *([days] if dash else [])]):
        parts = []
    numbers = [int(part) for part in parts]
    if dash and 1 <= len(numbers) <= 3:
        hours, minutes, seconds = [*numbers, 0, 0][:3]
    elif len(numbers) in (1, 2):
        hours, minutes, seconds = 0, *[*numbers, 0][:2]
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours, minutes, seconds = 0, 0, 0
    total = (int(days) if dash and numbers else 0) * 1440 + hours * 60 + minutes + -(-seconds // 60)
    if total < 1:
        raise ValueError(f"--time {text}: expected minutes, H:MM:SS or DAYS-HH:MM:SS, and some")
    return total


def read_parameters(words: list[str] | tuple[str, ...]) -> dict[str, str | bool]:
    """Return name -> value of parameters of ``sbatch``; a name alone is a bare flag.

    Raises:
        ValueError: no such name, or one that has a flag of its own or is not to be said.
    """
    found: dict[str, str | bool] = {}
    for word in words:
        name, equals, value = word.partition("=")
        key = name.lstrip("-").replace("-", "_")
        if not _KEY.fullmatch(key) or "\n" in value:
            raise ValueError(f"--slurm {word}: expected KEY=VALUE or KEY, e.g. constraint=a100")
        if key in _REFUSED:
            raise ValueError(f"--slurm {word}: {_REFUSED[key]}")
        if key in _OURS:
            instead = f"say {_OURS[key]}" if _OURS[key] else "it is said already"
            raise ValueError(f"--slurm {word}: {instead}")
        found[key] = value if equals else True
    return found
