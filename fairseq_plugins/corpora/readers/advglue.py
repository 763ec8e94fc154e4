"""AdvGLUE (Wang et al., 2021): ``dev.json`` with a list of examples for each of six tasks.

``{"qqp": [{"idx", "label", "question1", "question2"}, ...], "mnli": ..., "mnli-mm": ...,
"qnli": ..., "rte": ..., "sst2": ...}``. Labels are numbers in the order of GLUE's classes. The
examples have been changed; what they were before is not told.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...messages import quoted
from ...text_reading import read_text
from ..examples import Example
from .expected import Expected, json_object
from .glue import GLUE


@dataclass(frozen=True)
class AdversarialTask:
    """One of AdvGLUE's tasks.

    Args:
        dataset: GLUE's dataset.
        texts: members that hold the sentences.
    """

    dataset: str
    texts: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """GLUE's classes by number."""
        return next(dataset.labels for dataset in GLUE if dataset.name == self.dataset)


TASKS = {
    "sst2": AdversarialTask("sst2", ("sentence",)),
    "qqp": AdversarialTask("qqp", ("question1", "question2")),
    "mnli": AdversarialTask("mnli", ("premise", "hypothesis")),
    "mnli-mm": AdversarialTask("mnli", ("premise", "hypothesis")),
    "qnli": AdversarialTask("qnli", ("question", "sentence")),
    "rte": AdversarialTask("rte", ("sentence1", "sentence2")),
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
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    found = json_object(read_text(path), str(path))
    there = [name for name in TASKS if isinstance(found.get(name), list)]
    wanted = [name for name in there if name == task or (not task and _is_of(name, dataset))]
    if not wanted:
        missing = f"no task {task!r}" if task else f"no task of dataset {dataset!r}"
        raise ValueError(
            f"{path}: {missing}; those there, to be given as {path.name}:TASK, are "
            f"{', '.join(there) or 'none of AdvGLUE'}"
        )
    read = {name: _examples(path, name, found[name], expected) for name in wanted}
    expected.tell_respelled(path)
    return read


def _is_of(task: str, dataset: str) -> bool:
    return TASKS[task].dataset == dataset


def _examples(path: Path, task: str, items: list[Any], expected: Expected) -> list[Example]:
    if not items:
        raise ValueError(f"{path}: task {task!r} has no examples")
    made = []
    names = (*TASKS[task].texts, "label")
    for number, item in enumerate(items, start=1):
        where = f"{path}, item {number} of {task!r}"
        if not isinstance(item, dict) or not item.keys() >= {*names}:
            raise ValueError(f"{where}: no example, which has {', '.join(names)}")
        label = _named(item["label"], TASKS[task].labels, where)
        texts = tuple(item[name] for name in TASKS[task].texts)
        made.append(expected.example((str(item.get("idx", number - 1)), texts, label), where))
    return made


def _named(number: Any, labels: tuple[str, ...], where: str) -> str:
    """Return the class that a label's number stands for."""
    if type(number) is not int or not 0 <= number < len(labels):
        choices = ", ".join(f"{i} ({label})" for i, label in enumerate(labels))
        raise ValueError(f"{where}: label {quoted(number)}; choices: {choices}")
    return labels[number]
