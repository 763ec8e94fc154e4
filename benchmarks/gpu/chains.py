"""What the part *commands* trains: a task on invented examples, in a number format.

Options stand as in a configuration file: fairseq-hydra-train gets them as a file, fairseq-train as
flags. The folders are written by helpers of the tests, without spaCy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .figures import ROOT

sys.path.insert(0, str(ROOT / "tests"))

import asked_entities  # noqa: E402
import prepared  # noqa: E402
import prepared_questions  # noqa: E402
import prepared_text  # noqa: E402

Values = dict[str, Any]
Options = dict[str, Values]
USER_DIR = ROOT / "fairseq_plugins"
PARTS = {"train": (160, 0), "valid": (40, 1)}  # examples, seed
TREES = ("pos", "heads")
ASKED = "label_questions"
TRANSLATION, CLASSIFY, LABEL = "syntax_translation", "text_classification", "sequence_labeling"


@dataclass(frozen=True)
class Task:
    """A task with a model: in words, names of both, what makes its folder, options of both."""

    what: str
    name: str
    arch: str
    write: Callable[[Path], object]
    model: Values = field(default_factory=dict)
    task: Values = field(default_factory=dict)

    @property
    def translates(self) -> bool:
        """Whether the task is translation."""
        return self.name == TRANSLATION


@dataclass(frozen=True)
class Precision:
    """A number format, as one types it.

    Args:
        what: the format in words.
        common: options of fairseq.
        task: options of the task.
        translates: True for translation alone, False for the other tasks alone, None for all.
        on_cpu: whether a CPU can train so.
    """

    what: str
    common: Values = field(default_factory=dict)
    task: Values = field(default_factory=dict)
    translates: bool | None = None
    on_cpu: bool = True

    def suits(self, task: Task, device: str) -> bool:
        """Whether a task can be trained so on a device."""
        return (self.on_cpu or device != "cpu") and self.translates in (None, task.translates)


def _pairs(folder: Path) -> None:
    prepared.prepare(folder, {name: prepared.random_pairs(*how) for name, how in PARTS.items()})


def _texts(kind: str, **how: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        parts = {name: prepared_text.examples(kind, *of, **how) for name, of in PARTS.items()}
        prepared_text.prepare(folder, kind, parts, annotations=TREES)

    return write


def _questions(folder: Path) -> None:
    parts = {name: prepared_questions.passages(*how) for name, how in PARTS.items()}
    prepared_questions.prepare(folder, parts, annotations=TREES)


def _entities(folder: Path) -> None:
    parts = {name: asked_entities.examples(*how) for name, how in PARTS.items()}
    asked_entities.flat_folder(folder, parts)
    asked_entities.questions_file(folder / ASKED)


SLA: Values = {"local_attention": "sla"}
WINDOWS: Values = {"max_positions": 40, "doc_stride": 10, "max_query_length": 12}
TASKS = (
    Task("translation", TRANSLATION, "syntax_transformer_tiny", _pairs),
    Task("classes", CLASSIFY, "dabert_tiny", _texts("classes", pairs=True), SLA),
    Task("score", CLASSIFY, "bert_pos_tiny", _texts("score"), {"features": "pos"}),
    Task("labels", LABEL, "bert_sla_tiny", _texts("entities"), {"features": "pos", **SLA}),
    Task("questions", "extractive_qa", "bertqa_tiny", _questions, SLA, WINDOWS),
    Task("entities", "mrc_ner", "bert_mrc_tiny", _entities, {}, {ASKED: ASKED}),
)
FP16: Values = {"fp16": True}
UNFLATTENED = {**FP16, "fp16_no_flatten_grads": True}
FLOAT32, *_ = PRECISIONS = (
    Precision("float32"),
    Precision("--fp16", FP16, translates=True, on_cpu=False),
    Precision("--fp16 --fp16-no-flatten-grads", UNFLATTENED, translates=False),
    Precision("--memory-efficient-fp16", {"memory_efficient_fp16": True}, translates=True),
    Precision("--amp", {"amp": True}),
    Precision("--autocast bfloat16", {}, {"autocast": "bfloat16"}, translates=False),
    Precision("common.bf16=true", {"bf16": True}),  # by fairseq-hydra-train
)


def options_of(task: Task, precision: Precision, data: Path, *, cpu: bool, width: int) -> Options:
    """Return the options of a training, without its length and its run folder."""
    sizes = {"pretrained": "none", "hidden_size": width, "intermediate_size": 2 * width}
    sizes |= {"num_attention_heads": 2, "attention_dropout": 0.0}
    own = {key: str(data / ASKED) if key == ASKED else value for key, value in task.task.items()}
    criterion = "label_smoothed_cross_entropy" if task.translates else task.name
    return {
        "common": {"user_dir": str(USER_DIR), "seed": 1, "cpu": cpu} | precision.common,
        "task": {"_name": task.name, "data": str(data)} | own | precision.task,
        "model": {"_name": task.arch, "dropout": 0.0}
        | ({} if task.translates else sizes)
        | task.model,
        "criterion": {"_name": criterion},
        "optimizer": {"_name": "adam" if task.translates else "bert_adamw"},
        "lr_scheduler": {"_name": "fixed"},
        "dataset": {"batch_size": 8, "num_workers": 0},
        "distributed_training": {"distributed_world_size": 1},
        "optimization": {"lr": [0.001]},
    }


def flags_of(options: Options) -> list[str]:
    """Return options as the command line of fairseq-train."""
    words = [options["task"]["data"]]
    for part, values in options.items():
        for key, value in values.items():
            if key != "data" and value is not False:
                name = {"model": "arch"}.get(part, part) if key == "_name" else key
                words.append(f"--{name.replace('_', '-')}")
                words += [] if value is True else [str(value).strip("[]")]
    return words
