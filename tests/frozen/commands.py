"""How the frozen tests call a command: the one file of them that follows the code.

A command has a neutral name here, which stays; `COMMANDS` says what it is called today, and `enter`
how it is called. Nothing else in this folder knows either.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cli import commands as processes

ROOT = Path(__file__).resolve().parents[2]
USER_DIR = ROOT / "fairseq_plugins"
COMMANDS = {
    "analyse questions": ("analyze_questions.py",),
    "answer": ("predict_squad.py",),
    "ask": ("ask.py",),
    "augment questions": ("augment_squad.py",),
    "average checkpoints": ("average_checkpoints.py",),
    "case study": ("case_study.py",),
    "check folder": ("check_folder.py",),
    "compare predictions": ("compare_predictions.py",),
    "evaluate pipeline": ("train_english_pipeline.py", "evaluate"),
    "export": ("export_huggingface.py",),
    "inject errors": ("inject_errors.py",),
    "perturb": ("perturb.py",),
    "plot attention": ("plot_attention.py",),
    "plot coattention": ("plot_coattention.py",),
    "plot fractions": ("plot_fractions.py",),
    "plot gates": ("plot_gates.py",),
    "predict": ("predict.py",),
    "prepare questions": ("prepare_squad.py",),
    "prepare text": ("prepare_text.py",),
    "prepare translation": ("prepare_translation.py",),
    "report": ("report.py",),
    "report seeds": ("report_seeds.py",),
    "report table": ("report_table.py",),
    "robustness": ("robustness.py",),
    "run experiment": ("run_experiment.py",),
    "score": ("score.py",),
    "score questions": ("score_squad.py",),
    "search learning rate": ("search_learning_rate.py",),
    "subset": ("subset_data.py",),
    "train pipeline": ("train_english_pipeline.py", "train"),
    "translate": ("translate.py",),
}


def enter(name: str, arguments: Sequence[str]) -> None:
    """Be a command, in this process; its end is that of the process.

    Args:
        name: a key of `COMMANDS`.
        arguments: its arguments.
    """
    script, *words = COMMANDS[name]
    script = str(ROOT / "scripts" / script)
    sys.argv = [script, *words, *arguments]
    sys.path.insert(0, str(ROOT / "scripts"))
    runpy.run_path(script, run_name="__main__")


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
    return processes.run(
        f"fairseq-{name}", *arguments, "--user-dir", USER_DIR, "--cpu", cwd=cwd, **more
    )
