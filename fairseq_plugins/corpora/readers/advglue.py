"""AdvGLUE (Wang et al., 2021): ``dev.json`` with a list of examples for each of six tasks.

``{"qqp": [{"idx", "label", "question1", "question2"}, ...], "mnli": ..., "mnli-mm": ...,
"qnli": ..., "rte": ..., "sst2": ...}``. Labels are numbers in the order of GLUE's classes. The
file does not say what the examples were before they were changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...messages import quoted
from ..examples import Example
from .dataset import Dataset
from .expected import Expected, json_file
from .glue import GLUE

_GLUE = {dataset.name: dataset for dataset in GLUE}
TASKS: dict[str, tuple[Dataset, tuple[str, ...]]] = {  # GLUE's dataset, members with the sentences
    "sst2": (_GLUE["sst2"], ("sentence",)),
    "qqp": (_GLUE["qqp"], ("question1", "question2")),
    "mnli": (_GLUE["mnli"], ("premise", "hypothesis")),
    "mnli-mm": (_GLUE["mnli"], ("premise", "hypothesis")),
    "qnli": (_GLUE["qnli"], ("question", "sentence")),
    "rte": (_GLUE["rte"], ("sentence1", "sentence2")),
}


def read_advglue(
    path: Path, task: str, dataset: str, expected: Expected
) -> dict[str, list[Example]]:
    """Read the tasks of a file that are for a model.

    Args:
        path: ``dev.json``.
        task: a key of `TASKS`; empty for those of the model's dataset.
        dataset: that the model was trained on.
        expected: what the model reads and answers.

    Returns:
        Task -> examples.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: no JSON, no such task, an item that is no example of it, or a label that the
            model does not know; with the item.
    """
    found = json_file(path)
    there = [name for name in TASKS if isinstance(found.get(name), list)]
    wanted = [task] if task else [name for name in TASKS if TASKS[name][0].name == dataset]
    read = {name: _examples(path, name, found[name], expected) for name in there if name in wanted}
    if not read:
        missing = f"no task {task!r}" if task else f"no task of dataset {dataset!r}"
        raise ValueError(
            f"{path}: {missing}; those there, to be given as {path.name}:TASK, are "
            f"{', '.join(there) or 'none of AdvGLUE'}"
        )
    expected.log_respelled(path)
    return read


def _examples(path: Path, task: str, items: list[Any], expected: Expected) -> list[Example]:
    if not items:
        raise ValueError(f"{path}: task {task!r} has no examples")
    made, (dataset, texts) = [], TASKS[task]
    for number, item in enumerate(items, start=1):
        where = f"{path}, item {number} of {task!r}"
        if not isinstance(item, dict) or not item.keys() >= {*texts, "label"}:
            raise ValueError(f"{where}: no example, which has {', '.join((*texts, 'label'))}")
        label = _class(item["label"], dataset.labels or (), where)
        row = str(item.get("idx", number - 1)), tuple(item[name] for name in texts), label
        made.append(expected.example(row, where))
    return made


def _class(number: Any, labels: tuple[str, ...], where: str) -> str:
    """Return the class that a label's number stands for."""
    if type(number) is not int or not 0 <= number < len(labels):
        choices = ", ".join(f"{i} ({label})" for i, label in enumerate(labels))
        raise ValueError(f"{where}: label {quoted(number)}; choices: {choices}")
    return labels[number]
