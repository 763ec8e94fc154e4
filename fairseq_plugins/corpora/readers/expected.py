"""Inputs and labels of a model, to check files from elsewhere.

One class has several names: ``entailment`` is ``entails`` in SciTail and ``ENTAILMENT`` in
SICK, ``not_entailment`` is ``non-entailment`` in TextFlint. For a model of two classes with
entailment, every other label is the other class.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...messages import named, quoted
from ...targets.target import Target
from ...text_reading import ONE_A_LINE, numbered_lines, read_text
from ..examples import Example
from .split_file import Respelled, known_label, log_respelled

ENTAILMENT = "entailment"
MEANINGS = {
    "entailment": ENTAILMENT,
    "entails": ENTAILMENT,
    "neutral": "neutral",
    "contradiction": "contradiction",
    "not_entailment": "not entailment",
    "non-entailment": "not entailment",
}
KINDS = {1: "single sentences", 2: "pairs of sentences"}


@dataclass(frozen=True)
class Expected:
    """The inputs and labels of a model."""

    target: Target  # of its answers
    labels: tuple[str, ...]  # the model's classes in the order of their ids; empty for a score
    sentences: int  # 1, or 2 for pairs
    # counts of labels that mean the model's; grows while files are read
    respelled: Respelled = field(default_factory=Counter, compare=False)

    def example(self, row: tuple[str, tuple[Any, ...], Any], where: str, line: int = 0) -> Example:
        """Return the example of a row's id, texts and gold label.

        Args:
            where: file and line, for errors.
        """
        name, texts, label = row
        self.check_sentences(len(texts), where)
        for text in texts:
            if not isinstance(text, str) or not text.strip():
                raise InputError(f"{where}: {quoted(text)} is no sentence")
        return Example(name, tuple(texts), label=self.label(label, where), line=line)

    def check_sentences(self, count: int, where: str) -> None:
        """Refuse examples of one sentence for a model of pairs, and the other way round."""
        if count != self.sentences:
            raise InputError(
                f"{where}: {KINDS[count]}, but the model reads {KINDS[self.sentences]}"
            )

    def label(self, written: Any, where: str) -> str:
        """Return a gold label in the model's spelling; a score stays as written."""
        text = "" if written is None else str(written).strip()
        if not text:
            raise InputError(f"{where}: no gold label: robustness needs one for every example")
        try:
            return self.target.spelt(text, self._class)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None

    def _class(self, text: str) -> str:
        found = known_label(text, self.labels) or self._of_like_meaning(text)
        if found is None:
            known = named(self.labels)
            raise InputError(f"gold label {quoted(text)} is none of the model's; choices: {known}")
        if found != text:
            self.respelled[text, found] += 1
        return found

    def log_respelled(self, path: Path) -> None:
        """Log labels of a file that mean others of the model; reset the counts."""
        log_respelled(path, self.respelled)
        self.respelled.clear()

    def _of_like_meaning(self, text: str) -> str | None:
        """Return the model's label with the same meaning as a label of inference, if any."""
        meaning = MEANINGS.get(text.lower())
        ours = {MEANINGS.get(label.lower()): label for label in self.labels}
        if meaning is not None and meaning in ours:
            return ours[meaning]
        if meaning is None or len(ours) != 2 or ENTAILMENT not in ours:
            return None
        return next(label for other, label in ours.items() if other != ENTAILMENT)


def json_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines with their line numbers; skip blank lines."""
    for number, line in numbered_lines(path):
        if line.strip():
            yield number, _json_object(line, f"{path}:{number}", f": {ONE_A_LINE}")


def json_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    return _json_object(read_text(path), str(path))


def _json_object(text: str, where: str, hint: str = "") -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: no JSON ({error}){hint}") from None
    if not isinstance(found, dict):
        raise InputError(f"{where}: expected a JSON object, found {quoted(text.strip())}{hint}")
    return found


def check_same_pairs(
    originals: list[Example], perturbed: list[Example], paths: tuple[Path, Path]
) -> None:
    """Refuse two files with different examples, before and after."""
    before, after = paths
    for one, other in zip(originals, perturbed):
        if one.id != other.id:
            raise InputError(
                f"{after}:{other.line}: id {quoted(other.id)}, but {before}:{one.line} has "
                f"{quoted(one.id)}: they must hold the same examples in the same order"
            )
    if len(originals) != len(perturbed):
        raise InputError(
            f"{after} has {len(perturbed)} examples, {before} {len(originals)}: they must hold "
            "the same ones, before and after"
        )
