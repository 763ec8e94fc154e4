"""How the frozen tests call a command: the one file of them that follows the code.

A command has a neutral name here, which stays; `COMMANDS` says what it is called today, and `enter`
how it is called. Nothing else in this folder knows either.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cli import commands as processes

ROOT = Path(__file__).resolve().parents[2]
USER_DIR = ROOT / "fairseq_plugins"
COMMANDS = {
    "answer": ("answer",),
    "ask": ("ask",),
    "augment questions": ("augment", "questions"),
    "average checkpoints": ("average",),
    "check folder": ("check",),
    "compare predictions": ("compare",),
    "export": ("export",),
    "inject errors": ("augment", "errors"),
    "perturb": ("perturb",),
    "plot attention": ("plot", "attention"),
    "plot coattention": ("plot", "coattention"),
    "plot gates": ("plot", "gates"),
    "predict": ("predict",),
    "prepare questions": ("prepare", "questions"),
    "prepare text": ("prepare", "text"),
    "prepare translation": ("prepare", "translation"),
    "report": ("results", "page"),
    "report seeds": ("results", "compare"),
    "report table": ("results", "table"),
    "robustness": ("robustness",),
    "run experiment": ("run",),
    "score": ("score",),
    "subset": ("subset",),
    "train pipeline": ("train-pipeline",),
    "translate": ("translate",),
}

# What trainings of before meant by options that there were not, where that is not their default.
MEANT = {"train": ("--local-dropout", "mixture")}


def enter(name: str, arguments: Sequence[str]) -> None:
    """Be a command, in this process; its end is that of the process.

    Args:
        name: a key of `COMMANDS`.
        arguments: its arguments.
    """
    from fairseq_plugins.cli.main import main

    sys.argv = ["fairseq-plugins", *COMMANDS[name], *arguments]
    sys.exit(main())


def run(name: str, *arguments: Any, cwd: Path, **more: Any) -> processes.Outcome:
    """Run a command (a key of `COMMANDS`) in a process of its own.

    Args:
        name: what to run.
        arguments: its arguments; each is turned into text.
        cwd: where to run it.
        more: ``stdin`` and ``fails`` of `cli.commands.run`.
    """
    entrance = str(Path(__file__).with_name("entrance.py"))
    return processes.run(entrance, name, *arguments, cwd=cwd, **more)


def run_file(path: Path, *arguments: Any, cwd: Path) -> str:
    """Run a Python file of this folder in a process of its own; return what it printed."""
    return processes.run(str(path), *arguments, cwd=cwd).out


def fairseq(name: str, *arguments: Any, cwd: Path, **more: Any) -> processes.Outcome:
    """Run a command of fairseq, ``train`` or another, with our plug-ins; see `run`."""
    words = [*arguments, *MEANT.get(name, ())]
    return processes.run(
        f"fairseq-{name}", *words, "--user-dir", USER_DIR, "--cpu", cwd=cwd, **more
    )
