"""Questions with what is known of them, of a SQuAD file or of a prepared split."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.text_rows import Rows
from . import squad
from .corpus import numbered_lines
from .squad import Answer
from .squad_chunks import EXAMPLES
from .text_manifest import CONTEXTS


@dataclass(frozen=True)
class Asked:
    """A question.

    Args:
        text: what is asked.
        answers: its gold answers; none if it has no answer.
        context: the text that it is asked about; empty if unknown.
    """

    text: str
    answers: tuple[Answer, ...]
    context: str = ""

    @property
    def golds(self) -> tuple[str, ...]:
        """Texts of the gold answers."""
        return tuple(answer.text for answer in self.answers)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Begin and end of the gold answers that stand in the context where they say."""
        found = [answer for answer in self.answers if answer.stands_in(self.context)]
        return [(answer.start, answer.start + len(answer.text)) for answer in found]


def read_asked(path: str | Path) -> dict[str, Asked]:
    """Read questions by their ids.

    Args:
        path: SQuAD JSON with answers, or ``SPLIT.examples.jsonl`` of a prepared folder, whose other
            files tell the contexts if they are there.

    Raises:
        FileNotFoundError: no such file.
        ValueError: it holds something else, or a question without gold answers.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    return dict(_prepared(path) if path.suffix == ".jsonl" else _official(path))


def _official(path: Path) -> Iterator[tuple[str, Asked]]:
    """Yield the questions of a SQuAD file."""
    for paragraph in squad.read(path).paragraphs:
        for question in paragraph.questions:
            answers = _known(question.answers, question.id, path)
            yield question.id, Asked(question.text, answers, paragraph.context)


def _prepared(path: Path) -> Iterator[tuple[str, Asked]]:
    """Yield the questions of a prepared split."""
    contexts = _contexts(path)
    for number, line in numbered_lines(path, 0, 1):
        try:
            row = json.loads(line)
            name, (text,), gold = row["id"], row["texts"], row.get("answers")
            context = contexts[number - 1] if contexts else ""
            answers = gold if gold is None else tuple(map(_answer, gold))
        except (ValueError, TypeError, KeyError, IndexError, RecursionError):
            raise ValueError(f"{path}:{number}: no question of a prepared folder") from None
        yield name, Asked(text, _known(answers, name, path), context)


def _answer(row: dict[str, Any]) -> Answer:
    return Answer(row["text"], row.get("answer_start", -1))


def _known(answers: tuple[Answer, ...] | None, name: str, path: Path) -> tuple[Answer, ...]:
    if answers is None:
        raise ValueError(f"{path}: question {name!r} has no gold answers to compare with")
    return answers


def _contexts(examples: Path) -> list[str]:
    """Return the context of each question of a prepared split; none if its files are not there."""
    folder, split = examples.parent, examples.name.removesuffix(f".{EXAMPLES}")
    texts, numbers = folder / f"{split}.{CONTEXTS}", folder / f"{split}.paragraph"
    if not (texts.is_file() and numbers.with_name(f"{numbers.name}.idx").is_file()):
        return []
    lines = [json.loads(line)["context"] for _, line in numbered_lines(texts, 0, 1)]
    rows = Rows.read(numbers)
    return [lines[int(rows[number][0])] for number in range(len(rows))]
