"""Predictions of classes, scores and labels of words: JSON lines, one an example, read strictly.

`fairseq-plugins predict` and `robustness` write them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..messages import named, quoted
from ..text_reading import json_lines, read_lines
from .predictions import CLASSES, KEYS, SCORE, WORD_LABELS, Prediction

_NEEDED = {
    CLASSES: ("a class", ("id", "label", "probabilities")),
    SCORE: ("a score", ("id", "score")),
    WORD_LABELS: ("labels of words", ("id", "words", "labels")),
}

Systems = Sequence[tuple[str, Sequence[Prediction]]]  # files, each with its predictions


def target_of_lines(path: str | Path) -> str:
    """Return the target of a file of predictions.

    Empty where its first line shows that it is none.

    Raises:
        FileNotFoundError: there is no such file.
    """
    lines = read_lines(path)
    try:
        first = json.loads(lines[0])
    except (IndexError, ValueError, RecursionError):
        return ""
    if not isinstance(first, dict) or "id" not in first:
        return ""
    return next((target for target, key in KEYS.items() if key in first), "")


def read_predictions(path: str | Path, target: str = CLASSES) -> list[Prediction]:
    """Read predictions of one target.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line that is none; names file and line.
    """
    what, needed = _NEEDED[target]
    made = []
    for number, record in json_lines(path):
        where = f"{path}, line {number}"
        if not isinstance(record, dict) or not record.keys() >= set(needed):
            raise ValueError(f"{where}: no prediction of {what} ({', '.join(needed)})")
        answer, gold, more = _READ[target](record, record.get("gold"), where)
        made.append(Prediction(str(record["id"]), target, answer, gold, line=number, **more))
    return made


def read_texts(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read the texts of examples by their ids.

    Args:
        path: JSON lines with ``id`` and ``texts`` (a prepared folder's ``SPLIT.examples.jsonl``),
            or one example a line, a TAB between its sentences, whose ids count from 0.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line that is no example; names file and line.
    """
    if Path(path).suffix != ".jsonl":
        lines = enumerate(read_lines(path))
        return {str(number): tuple(line.split("\t")) for number, line in lines}
    texts = {}
    for number, record in json_lines(path):
        try:
            texts[str(record["id"])] = tuple(map(str, record["texts"]))
        except (KeyError, TypeError):
            raise ValueError(f"{path}, line {number}: no example with 'id' and 'texts'") from None
    return texts


def with_texts(systems: Systems, path: str | Path) -> Systems:
    """Give the first system's predictions the texts of a file, where they hold none.

    Raises:
        FileNotFoundError, ValueError: see `read_texts`; an example that the file does not hold.
    """
    (first, made), *others = systems
    texts = read_texts(path)
    lacking = next((one for one in made if not one.texts and one.id not in texts), None)
    if lacking is not None:
        raise ValueError(f"{path} holds no example {lacking.id!r}, which {first} predicts")
    known = [replace(one, texts=one.texts or texts[one.id]) for one in made]
    return [(first, known), *others]


def check_same(systems: Systems) -> None:
    """Refuse systems that predict other examples, or examples without gold.

    Args:
        systems: files, each with its predictions.

    Raises:
        ValueError: names files and line.
    """
    (first, made), *others = systems
    for name, other in others:
        if len(made) != len(other):
            raise ValueError(
                f"{name} has {len(other):,} predictions, {first} {len(made):,}: they must be of "
                "the same examples"
            )
        for one, two in zip(made, other):
            for what in ("id", "gold"):
                if getattr(one, what) != getattr(two, what):
                    raise ValueError(
                        f"{name}, line {two.line}: {what} {quoted(getattr(two, what))}, but "
                        f"{first} has {quoted(getattr(one, what))}: they must be of the same "
                        "examples"
                    )
    lacking = next((one for one in made if one.gold is None), None)
    if lacking is not None:
        raise ValueError(f"{first}, line {lacking.line}: no gold label: nobody is right or wrong")


def _class(record: dict[str, Any], gold: Any, where: str) -> tuple[Any, Any, dict[str, Any]]:
    probabilities = record["probabilities"]
    if not isinstance(probabilities, dict) or record["label"] not in probabilities:
        raise ValueError(f"{where}: no probability of label {quoted(record['label'])}")
    if not all(map(_is_number, probabilities.values())):
        raise ValueError(f"{where}: probabilities are {named(probabilities.values())}")
    more = {"texts": _texts(record, where), "probabilities": probabilities}
    return str(record["label"]), None if gold is None else str(gold), more


def _score(record: dict[str, Any], gold: Any, where: str) -> tuple[Any, Any, dict[str, Any]]:
    for value in (record["score"], *([] if gold is None else [gold])):
        if not _is_number(value):
            raise ValueError(f"{where}: {quoted(value)} is no number")
    return record["score"], gold, {"texts": _texts(record, where)}


def _labels(record: dict[str, Any], gold: Any, where: str) -> tuple[Any, Any, dict[str, Any]]:
    keys = ("words", "labels", *([] if gold is None else ["gold"]))
    rows = [_row(record, key, where) for key in keys]
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"{where}: {named(map(len, rows), between=' and ')} words and labels")
    words, labels, *truth = rows
    return labels, truth[0] if truth else None, {"texts": words}


_READ = {CLASSES: _class, SCORE: _score, WORD_LABELS: _labels}


def _texts(record: dict[str, Any], where: str) -> tuple[str, ...]:
    return _row(record, "texts", where) if record.get("texts") else ()


def _row(record: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    values = record[key]
    if not isinstance(values, list | tuple) or not all(isinstance(text, str) for text in values):
        wanted = "sentences" if key == "texts" else "texts"
        raise ValueError(f"{where}: {key!r} are {quoted(values)}, expected a list of {wanted}")
    return tuple(values)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and math.isfinite(value)
