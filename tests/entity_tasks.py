"""Tasks, runs and models that find entities by questions, on the folders of `asked_entities`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils, distributed_utils
from fairseq.tasks import setup_task
from fairseq_cli import train as fairseq_train
from omegaconf import OmegaConf
from prepared_text import TASK, arguments, config


def make_task(folder: Path, questions: Path | None, **given: Any) -> Any:
    """Set the task up on a folder."""
    own = {"_name": "mrc_ner", "data": str(folder), "label_questions": questions and str(questions)}
    return setup_task(OmegaConf.create({**own, **TASK, **given}))


def words_of(folder: Path, save_dir: Path, questions: Path | None, *more: str) -> list[str]:
    own = ["--task", "mrc_ner", "--criterion", "mrc_ner", "--arch", "bert_mrc_tiny"]
    own += ["--best-checkpoint-metric", "entity_f1", "--maximize-best-checkpoint-metric"]
    own += ["--label-questions", str(questions)] if questions else []
    return arguments(folder, save_dir, *own, *more)


def train(folder: Path, save_dir: Path, questions: Path | None, *more: str) -> Path:
    if hasattr(checkpoint_utils.save_checkpoint, "best"):
        del checkpoint_utils.save_checkpoint.best  # fairseq keeps it from run to run
    words = words_of(folder, save_dir, questions, *more)
    distributed_utils.call_main(config(*words), fairseq_train.main)
    return save_dir
