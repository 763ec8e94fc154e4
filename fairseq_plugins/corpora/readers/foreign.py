"""Perturbed examples of other publishers: TextFlint's samples, and AdvGLUE.

TextFlint (Gui et al., 2021) writes ``ori_NAME_N.json`` and ``trans_NAME_N.json``, one JSON object
per line: sentence matching ``sentence1 sentence2 y`` with y ``0`` or ``1``, inference ``premise
hypothesis y``, single texts ``x y``. ``sample_id`` identifies the original of a transformed sample;
one original may have several.

AdvGLUE (Wang et al., 2021) is one ``dev.json`` with a list of examples for each of six tasks:
``{"qqp": [{"idx", "label", "question1", "question2"}, ...], "mnli": ..., "mnli-mm": ...,
"qnli": ..., "rte": ..., "sst2": ...}``. Labels are numbers in the order of GLUE's classes. The file
has no originals.
"""

import re
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...messages import named, quoted
from ..examples import Example
from .dataset import Dataset
from .expected import Expected, check_same_pairs, json_file, json_objects
from .glue import GLUE

TRANSFORMED, ORIGINAL = "trans", "ori"
FIELDS = (("sentence1", "sentence2"), ("premise", "hypothesis"), ("x",))
NAME = re.compile(rf"({TRANSFORMED}|{ORIGINAL})_(.+?)(_\d+)?\.json")
ALIASES = {  # TextFlint's name -> the usual name of the transformation
    "SwapWord": "SwapAnt",  # of sentence matching, as is the next
    "SwapNum": "NumWord",
    "SwapSynWordNet": "SwapSyn",
    "SwapSyn-WordNet": "SwapSyn",
    "Punctuation": "AddPunc",
    "TwitterType_random": "TwitterType",  # suffixes of its variants
    "TwitterType_at": "TwitterType",
    "TwitterType_url": "TwitterType",
}
_GLUE = {dataset.name: dataset for dataset in GLUE}
TASKS: dict[str, tuple[Dataset, tuple[str, ...]]] = {  # GLUE's dataset, keys of the sentences
    "sst2": (_GLUE["sst2"], ("sentence",)),
    "qqp": (_GLUE["qqp"], ("question1", "question2")),
    "mnli": (_GLUE["mnli"], ("premise", "hypothesis")),
    "mnli-mm": (_GLUE["mnli"], ("premise", "hypothesis")),
    "qnli": (_GLUE["qnli"], ("question", "sentence")),
    "rte": (_GLUE["rte"], ("sentence1", "sentence2")),
}


def transformed_file(path: Path) -> tuple[Path, str]:
    """Return the transformed samples of a file, and the transformation's name.

    For a file that is not TextFlint's, the file itself and an empty name.
    """
    found = NAME.fullmatch(path.name)
    if not found:
        return path, ""
    mark, name, _ = found.groups()
    return path.with_name(path.name.replace(mark, TRANSFORMED, 1)), ALIASES.get(name, name)


def read_textflint(path: Path, expected: Expected) -> tuple[list[Example], list[Example]]:
    """Read transformed samples and the original of each.

    Args:
        path: ``trans_….json``; its originals lie in the same folder.
        expected: inputs and labels of the model.

    Returns:
        Originals and transformed samples, equally many.
    """
    before = path.with_name(path.name.replace(TRANSFORMED, ORIGINAL, 1))
    for needed, what in ((path, "transformed"), (before, "original")):
        if not needed.is_file():
            raise FileNotFoundError(f"{needed}: no such file of {what} samples")
    (originals, known), (perturbed, all_known) = _read(before, expected), _read(path, expected)
    if known and all_known:
        originals = _joined(originals, perturbed, (before, path))
    else:
        check_same_pairs(originals, perturbed, (before, path))
    return originals, perturbed


def _read(path: Path, expected: Expected) -> tuple[list[Example], bool]:
    """Read samples, and whether each has its own id."""
    found, known = [], True
    for number, sample in json_objects(path):
        where = f"{path}:{number}"
        fields = next((names for names in FIELDS if {*names, "y"} <= sample.keys()), None)
        if fields is None:
            choices = "; ".join(", ".join(names) for names in FIELDS)
            raise InputError(
                f"{where}: no sample: found {named(sample, none='nothing')}, expected y and one "
                f"of: {choices}"
            )
        identifier = sample.get("sample_id")
        known = known and identifier is not None
        name = str(len(found)) if identifier is None else str(identifier)
        row = name, tuple(sample[field] for field in fields), sample["y"]
        found.append(expected.example(row, where, number))
    if not found:
        raise InputError(f"{path}: no samples")
    expected.log_respelled(path)
    return found, known


def _joined(
    originals: list[Example], perturbed: list[Example], paths: tuple[Path, Path]
) -> list[Example]:
    before, after = paths
    by_id: dict[str, Example] = {}
    for sample in originals:
        known = by_id.setdefault(sample.id, sample)
        if known is not sample:
            what = f"sample_id {sample.id} is that of line {known.line}, too"
            raise InputError(f"{before}:{sample.line}: {what}")
    ours = {sample.id for sample in perturbed}
    for samples, ids, path, other in (
        (perturbed, by_id.keys(), after, before),
        (originals, ours, before, after),
    ):
        for sample in samples:
            if sample.id not in ids:
                what = f"sample_id {sample.id} is in no line of {other}"
                raise InputError(f"{path}:{sample.line}: {what}")
    return [by_id[sample.id] for sample in perturbed]


def read_advglue(
    path: Path, task: str, dataset: str, expected: Expected
) -> dict[str, list[Example]]:
    """Read the tasks of a file for a model.

    Args:
        path: ``dev.json``.
        task: a key of `TASKS`; empty for those of the model's dataset.
        dataset: of the model's training.
        expected: inputs and labels of the model.

    Returns:
        Task -> examples.
    """
    found = json_file(path)
    there = [name for name in TASKS if isinstance(found.get(name), list)]
    wanted = [task] if task else [name for name in TASKS if TASKS[name][0].name == dataset]
    read = {
        name: _task_examples(path, name, found[name], expected) for name in there if name in wanted
    }
    if not read:
        missing = f"no task {task!r}" if task else f"no task of dataset {dataset!r}"
        raise InputError(
            f"{path}: {missing}; those there, to be given as {path.name}:TASK, are "
            f"{', '.join(there) or 'none of AdvGLUE'}"
        )
    expected.log_respelled(path)
    return read


def _task_examples(path: Path, task: str, items: list[Any], expected: Expected) -> list[Example]:
    if not items:
        raise InputError(f"{path}: task {task!r} has no examples")
    made, (dataset, texts) = [], TASKS[task]
    for number, item in enumerate(items, start=1):
        where = f"{path}, item {number} of {task!r}"
        if not isinstance(item, dict) or not item.keys() >= {*texts, "label"}:
            raise InputError(f"{where}: no example, which has {', '.join((*texts, 'label'))}")
        label = _class(item["label"], dataset.labels or (), where)
        row = str(item.get("idx", number - 1)), tuple(item[name] for name in texts), label
        made.append(expected.example(row, where))
    return made


def _class(number: Any, labels: tuple[str, ...], where: str) -> str:
    if type(number) is not int or not 0 <= number < len(labels):
        choices = ", ".join(f"{i} ({label})" for i, label in enumerate(labels))
        raise InputError(f"{where}: label {quoted(number)}; choices: {choices}")
    return labels[number]
