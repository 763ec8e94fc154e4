"""Files of predictions, read and written.

``jsonl``  one object per example, with the `FIELDS` of its record.
``tsv``    a header and one line per example, or per word (an empty line after every sentence).
``conll``  word, gold label if known, predicted label; an empty line after every sentence.
``glue``   the GLUE server's format: ``index`` and ``prediction``, with the server's names.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..messages import quoted
from ..targets.classes import CLASSES
from ..targets.prediction import Prediction
from ..targets.table import TARGETS
from ..targets.target import Target
from ..text_reading import json_lines, read_lines

FORMATS = ("jsonl", "tsv", "conll", "glue")
COMPARED = [one for one in TARGETS.values() if one.compared is not None]

Render = Callable[[Any], str]
Systems = Sequence[tuple[str, Sequence[Prediction]]]  # files, each with its predictions


def renderer(
    form: str, target: Target, names: Mapping[str, str] | None = None
) -> tuple[str, Render]:
    """Return the head of a format and the function that writes one prediction.

    Args:
        names: for ``glue``: our label -> the server's; None without a GLUE submission.
    """
    if form not in FORMATS:
        raise InputError(f"unknown format {form!r}; choices: {', '.join(FORMATS)}")
    if form == "glue" and (names is None or form not in target.formats):
        raise InputError("format 'glue' is for splits of GLUE's datasets")
    if form not in target.formats:
        raise InputError(
            f"format {form!r} is not for {target.said}; choices: {', '.join(target.formats)}"
        )
    if form == "glue":
        return "index\tprediction\n", lambda made: f"{made.id}\t{made.glue(names)}\n"
    head = "\t".join(target.prediction.HEAD) + "\n" if form == "tsv" else ""
    return head, methodcaller({"jsonl": "json"}.get(form, form))


def target_of_lines(path: str | Path) -> Target | None:
    """Return the target of a file of predictions that can be compared, else None."""
    lines = read_lines(path)
    try:
        first = json.loads(lines[0])
    except (IndexError, ValueError, RecursionError):
        return None
    if not isinstance(first, dict) or "id" not in first:
        return None
    return next((target for target in COMPARED if target.key in first), None)


def read_predictions(path: str | Path, target: Target = CLASSES) -> list[Prediction]:
    """Read predictions of one target."""
    made = []
    for number, record in json_lines(path):
        where = f"{path}, line {number}"
        needed = target.needed
        if not isinstance(record, dict) or not record.keys() >= set(needed):
            raise InputError(f"{where}: no prediction of {target.said} ({', '.join(needed)})")
        made.append(target.read(record, where, number))
    return made


def read_texts(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read the texts of examples by id.

    Args:
        path: JSON lines with ``id`` and ``texts`` (a prepared folder's ``SPLIT.examples.jsonl``),
            or one example per line, a TAB between its sentences, with ids from 0.
    """
    if Path(path).suffix != ".jsonl":
        lines = enumerate(read_lines(path))
        return {str(number): tuple(line.split("\t")) for number, line in lines}
    texts: dict[str, tuple[str, ...]] = {}
    places: dict[str, int] = {}
    for number, record in json_lines(path):
        try:
            name, row = str(record["id"]), tuple(map(str, record["texts"]))
        except (KeyError, TypeError):
            raise InputError(f"{path}, line {number}: no example with 'id' and 'texts'") from None
        if (before := places.setdefault(name, number)) != number:
            raise InputError(
                f"{path}, line {number}: id {quoted(name)} is in line {before} already"
            )
        texts[name] = row
    return texts


def with_texts(systems: Systems, path: str | Path) -> Systems:
    """Add the texts of a file to the first system's predictions without texts."""
    (first, made), *others = systems
    texts = read_texts(path)
    lacking = next((one for one in made if not one.texts and one.id not in texts), None)
    if lacking is not None:
        raise InputError(f"{path} holds no example {lacking.id!r}, which {first} predicts")
    known = [replace(one, texts=one.texts or texts[one.id]) for one in made]
    return [(first, known), *others]


def check_same(systems: Systems) -> None:
    """Refuse systems that predict other examples, or examples without gold."""
    (first, made), *others = systems
    for name, other in others:
        if len(made) != len(other):
            raise InputError(
                f"{name} has {len(other):,} predictions, {first} {len(made):,}: they must be of "
                "the same examples"
            )
        for one, two in zip(made, other):
            for what in ("id", "gold"):
                if getattr(one, what) != getattr(two, what):
                    raise InputError(
                        f"{name}, line {two.line}: {what} {quoted(getattr(two, what))}, but "
                        f"{first} has {quoted(getattr(one, what))}: they must be of the same "
                        "examples"
                    )
    lacking = next((one for one in made if one.gold is None), None)
    if lacking is not None:
        raise InputError(f"{first}, line {lacking.line}: no gold label: nobody is right or wrong")
