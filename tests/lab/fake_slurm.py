"""A Slurm of shell scripts: as much of sbatch, srun, squeue and scontrol as submitit needs.

A job is a process group that runs its batch file with the variables that Slurm sets; its state is a
file in the folder ``spool``. Time is up for all that runs when there is a file ``timeout``.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path

# One program, called by the name of a command.
PROGRAM = '''#!{python}
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

SPOOL = Path({spool!r})

def put(job, state):
    temporary = SPOOL / f"{{job}}.tmp{{os.getpid()}}"
    temporary.write_text(state)
    temporary.rename(SPOOL / f"{{job}}.state")

def sbatch(script):
    text = Path(script).read_text()
    if "--partition=broken" in text:
        sys.exit("sbatch: error: invalid partition specified: broken")
    number = 100 + len(list(SPOOL.glob("*.sh")))
    copy = SPOOL / f"{{number}}.sh"
    copy.write_text(text)
    option = dict(re.findall(r"^#SBATCH --([a-z-]+)=(.*)$", text, re.MULTILINE))
    array = re.fullmatch(r"0-(\\d+)%(\\d+)", option.get("array", "").strip("'\\""))
    jobs = [f"{{number}}_{{k}}" for k in range(int(array.group(1)) + 1)] if array else [str(number)]
    for job in jobs:
        put(job, "PENDING")
    subprocess.Popen([sys.executable, __file__, "serve", script, array.group(2) if array else "1",
                      *jobs], start_new_session=True, stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL, stderr=(SPOOL / "errors").open("a"))
    print(f"Submitted batch job {{number}}")

def serve(script, parallel, *jobs):
    """Be the controller of a job or an array."""
    waiting, running, restarts = list(jobs), {{}}, dict.fromkeys(jobs, 0)
    text = Path(script).read_text()
    option = dict(re.findall(r"^#SBATCH --([a-z-]+)=(.*)$", text, re.MULTILINE))
    while waiting or running:
        while waiting and len(running) < int(parallel):
            job = waiting.pop(0)
            running[job] = start(script, job, restarts[job])
            put(job, f"RUNNING {{running[job].pid}}")
        for job, process in list(running.items()):
            if process.poll() is None:
                if (SPOOL / "timeout").exists():
                    (SPOOL / "timeout").unlink()
                    os.kill(int((SPOOL / f"{{job}}.task").read_text()), signal.SIGUSR2)
                continue
            del running[job]
            if (SPOOL / f"{{job}}.requeue").exists():
                (SPOOL / f"{{job}}.requeue").unlink()
                restarts[job] += 1
                waiting.append(job)
                put(job, "PENDING")
            else:
                (SPOOL / f"{{job}}.state").unlink()
        time.sleep(0.1)

def start(script, job, restarts):
    number, _, index = job.partition("_")
    own = {{"SLURM_JOB_ID": number, "SLURM_JOB_NUM_NODES": "1", "SLURM_NTASKS": "1",
           "SLURM_JOB_NODELIST": "localhost", "FAKE_JOB": job}}
    if index:
        own |= {{"SLURM_ARRAY_JOB_ID": number, "SLURM_ARRAY_TASK_ID": index}}
    if restarts:
        own["SLURM_RESTART_COUNT"] = str(restarts)
    (SPOOL / "started").open("a").write(job + "\\n")
    return subprocess.Popen(["bash", script], env={{**os.environ, **own}}, start_new_session=True)

def srun(*words):
    job, options, words = os.environ["FAKE_JOB"], {{}}, list(words)
    while words[0].startswith("--"):
        word = words.pop(0)
        options[word] = words.pop(0) if word in ("--output", "--error") else True
    own = {{"SLURM_PROCID": "0", "SLURM_NODEID": "0", "SLURM_LOCALID": "0"}}
    files = [name.replace("%A_%a", job).replace("%j", job).replace("%t", "0")
             for name in (options["--output"], options["--error"])]
    task = subprocess.Popen(words, env={{**os.environ, **own}},
                            stdout=open(files[0], "a"), stderr=open(files[1], "a"))
    (SPOOL / f"{{job}}.task").write_text(str(task.pid))
    sys.exit(abs(task.wait()))

def squeue(*words):
    assert "--format=%i %j" in words
    for path in SPOOL.glob("*.state"):
        text = (SPOOL / f"{{path.stem.split('_')[0]}}.sh").read_text()
        name = re.search(r"^#SBATCH --job-name=(.*)$", text, re.MULTILINE)
        print(path.stem, name[1].strip("'"))

def scontrol(verb, job):
    (SPOOL / f"{{job}}.requeue").touch()

if sys.argv[1:2] == ["serve"]:
    serve(*sys.argv[2:])
else:
    globals()[Path(sys.argv[0]).name](*sys.argv[1:])
'''


def install(folder: Path, monkeypatch) -> Path:
    """Put the commands on the PATH; return the folder of their state."""
    spool, commands = folder / "spool", folder / "commands"
    spool.mkdir()
    commands.mkdir()
    text = PROGRAM.format(python=sys.executable, spool=str(spool))
    for name in ("sbatch", "srun", "squeue", "scontrol"):
        path = commands / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    return spool


def end(spool: Path) -> None:
    """End what is left of its jobs."""
    for path in spool.glob("*.state"):
        words = path.read_text().split()
        if words[0] == "RUNNING":
            try:
                os.killpg(int(words[1]), signal.SIGKILL)
            except ProcessLookupError:
                continue
