"""Where systems differ about texts: examples that one gets right and another gets wrong.

Table 4 of Wang et al. (2022) shows pairs of sentences, the words in which they differ, the gold
label and what each of four systems says. Predictions are the JSON lines of ``scripts/predict.py``
and ``scripts/robustness.py``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..messages import named, quoted
from ..text_reading import read_lines

BETTER = ("second", "first", "last", "both", "any")  # "both" and "any": whichever
Texts = tuple[str, ...]
Differing = TypeVar("Differing")  # something with a gap


@dataclass(frozen=True)
class TextPrediction:
    """What a system says about one example.

    Args:
        id: the example's.
        label: the most probable class.
        probabilities: class -> probability.
        gold: the true class; None if unknown.
        texts: one or two sentences; empty if unknown.
        line: of the file, from 1.
    """

    id: str
    label: str
    probabilities: Mapping[str, float]
    gold: str | None
    texts: Texts
    line: int

    @property
    def is_right(self) -> bool:
        """Whether the label is the true one."""
        return self.label == self.gold

    def probability(self, label: str | None) -> float:
        """Return the probability of a class; 0 of one that the system does not tell of."""
        return self.probabilities.get(label, 0.0)


@dataclass(frozen=True)
class TextExample:
    """An example about which systems differ.

    Args:
        id: the example's.
        texts: one or two sentences; empty if unknown.
        gold: the true class.
        said: what each system says.
        gap: by how much the better system finds the true class more probable than the others do
            on average, in %.
    """

    id: str
    texts: Texts
    gold: str
    said: Sequence[TextPrediction]
    gap: float


def holds_predictions(path: str | Path) -> bool:
    """Tell whether a file holds predictions for texts: its first line says so.

    Raises:
        FileNotFoundError: there is no such file.
    """
    lines = read_lines(path)
    try:
        first = json.loads(lines[0])
    except (IndexError, ValueError, RecursionError):
        return False
    return (
        isinstance(first, dict) and "id" in first and bool({"label", "labels", "score"} & {*first})
    )


def holds_answers(path: str | Path) -> bool:
    """Tell whether a file holds answers to questions: it is one JSON object of ids with texts.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a JSON object of something else, which nothing here compares.
    """
    text = "\n".join(read_lines(path)).strip()
    if not (text.startswith("{") and text.endswith("}")) or holds_predictions(path):
        return False
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not all(isinstance(answer, str) for answer in found.values()):
        raise ValueError(f"{path} is one JSON object, but not of ids with answers")
    return True


def read_predictions(path: str | Path) -> list[TextPrediction]:
    """Read predictions of classes.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line that is none; names file and line.
    """
    made = []
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where}: no JSON ({error})") from None
        if not isinstance(record, dict) or not {"id", "label", "probabilities"} <= record.keys():
            raise ValueError(
                f"{where}: no prediction of a class (id, label, probabilities): scores and labels "
                "of words are not compared"
            )
        made.append(_prediction(record, number, where))
    return made


def _prediction(record: dict[str, Any], number: int, where: str) -> TextPrediction:
    probabilities, texts = record["probabilities"], record.get("texts") or ()
    if not isinstance(probabilities, dict) or record["label"] not in probabilities:
        raise ValueError(f"{where}: no probability of label {quoted(record['label'])}")
    if not all(isinstance(p, float | int) and math.isfinite(p) for p in probabilities.values()):
        raise ValueError(f"{where}: probabilities are {named(probabilities.values())}")
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{where}: 'texts' are {quoted(texts)}, expected a list of sentences")
    gold = record.get("gold")
    gold = None if gold is None else str(gold)
    identifier, label = str(record["id"]), str(record["label"])
    return TextPrediction(identifier, label, probabilities, gold, tuple(texts), number)


def read_texts(path: str | Path) -> dict[str, Texts]:
    """Read the texts of examples by their ids.

    Args:
        path: JSON lines with ``id`` and ``texts`` (a prepared folder's ``SPLIT.examples.jsonl``),
            or one example a line, a TAB between its sentences, whose ids count from 0.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line that is no example; names file and line.
    """
    lines = read_lines(path)
    if Path(path).suffix != ".jsonl":
        return {str(number): tuple(line.split("\t")) for number, line in enumerate(lines)}
    texts = {}
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            texts[str(record["id"])] = tuple(map(str, record["texts"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ValueError(f"{path}, line {number}: no example with 'id' and 'texts'") from None
    return texts


def compare_predictions(
    systems: Sequence[tuple[str, Sequence[TextPrediction]]],
    texts: Mapping[str, Texts] | None = None,
    *,
    better: str = "last",
    min_gap: float = 0.0,
) -> list[TextExample]:
    """Find examples that one system gets right and another gets wrong.

    Those that most of the others get wrong come first, then those with the widest gap.

    Args:
        systems: name of the file and predictions of each, two at least.
        texts: id -> texts, for predictions that do not hold them.
        better: which system has to be right: ``first``, ``second``, ``last``, or whichever:
            ``both``, ``any``.
        min_gap: smallest gap to keep, in %.

    Raises:
        ValueError: fewer than two systems, other examples, no gold labels, unknown ``better``, or a
            negative gap.
    """
    check_criteria(len(systems), better, min_gap)
    _check_same(systems)
    sides = better_sides(len(systems), better)
    found = []
    for said in zip(*(made for _, made in systems)):
        right = [side for side in sides if said[side].is_right]
        wrong = sum(not one.is_right for one in said)
        if right and wrong:
            example = _example(said, max(_gap(said, side) for side in right), texts or {})
            found.append((wrong, example))
    return ranked(found, min_gap)


def agreement(systems: Sequence[Sequence[TextPrediction]]) -> str:
    """Say how many examples there are, and on how many no system differs from the gold, or all do.

    Args:
        systems: predictions of each, of the same examples.
    """
    return tally([[one.is_right for one in said] for said in zip(*systems)], "examples")


def tally(rows: Sequence[Sequence[bool]], what: str) -> str:
    """Say how many there are, and how many all systems get right, or none.

    Args:
        rows: whether each system is right, row by row.
        what: the rows are.
    """
    right, wrong = sum(map(all, rows)), sum(not any(row) for row in rows)
    return f"{len(rows)} {what}: {right} all right, {wrong} all wrong, systems differ on the rest"


def ranked(found: Iterable[tuple[int, Differing]], min_gap: float) -> list[Differing]:
    """Return what systems differ about, that which most get wrong first, then by gap.

    Args:
        found: how many systems are wrong, and about what.
        min_gap: smallest gap to keep.
    """
    kept = [(wrong, one) for wrong, one in found if one.gap >= min_gap]
    return [one for _, one in sorted(kept, key=lambda pair: (-pair[0], -pair[1].gap))]


def better_sides(systems: int, better: str) -> Sequence[int]:
    """Return the numbers of the systems of which one has to be right; see `compare_predictions`."""
    chosen = {"first": [0], "second": [1], "last": [systems - 1]}
    return chosen.get(better, range(systems))


def check_criteria(systems: int, better: str, min_gap: float) -> None:
    """Refuse too few systems, and values that are none.

    Args:
        systems: how many there are.
        better: see `BETTER`.
        min_gap: smallest gap to keep.

    Raises:
        ValueError: says which.
    """
    if systems < 2:
        raise ValueError("a comparison needs the predictions of two systems at least")
    if better not in BETTER:
        raise ValueError(f"better: unknown value {better!r}; choose from {', '.join(BETTER)}")
    if min_gap < 0:
        raise ValueError(f"min_gap must not be negative, got {min_gap}")


def _example(said: Sequence[TextPrediction], gap: float, texts: Mapping[str, Texts]) -> TextExample:
    known = next((one.texts for one in said if one.texts), texts.get(said[0].id, ()))
    return TextExample(said[0].id, known, said[0].gold, said, gap)


def _gap(said: Sequence[TextPrediction], side: int) -> float:
    """Return how much more probable the true class is to one system than to the others, in %."""
    chances = [one.probability(one.gold) for one in said]
    others = chances[:side] + chances[side + 1 :]
    return 100 * (chances[side] - math.fsum(others) / len(others))


def _check_same(systems: Sequence[tuple[str, Sequence[TextPrediction]]]) -> None:
    """Refuse predictions of other examples, or without gold labels."""
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
                        f"{name}, line {two.line}: {what} {quoted(getattr(two, what))}, "
                        f"but {first} has {quoted(getattr(one, what))}: they must "
                        "be of the same examples"
                    )
    lacking = next((one for one in made if one.gold is None), None)
    if lacking is not None:
        raise ValueError(f"{first}, line {lacking.line}: no gold label: nobody is right or wrong")
