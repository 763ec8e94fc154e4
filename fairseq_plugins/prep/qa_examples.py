"""Questions with their gold answers, from a SQuAD file or a prepared split."""

import json
import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..corpora import squad
from ..corpora.squad import GoldAnswer
from ..data.folder_names import CONTEXTS, EXAMPLES
from ..data.passages import read_texts
from ..errors import InputError
from ..messages import quoted
from ..syntax.rows import Rows, stream_exists
from ..text_reading import numbered_lines


@dataclass(frozen=True)
class Asked:
    """A question."""

    text: str
    answers: tuple[GoldAnswer, ...]  # empty if it has no answer
    context: str = ""  # empty if unknown

    @property
    def golds(self) -> tuple[str, ...]:
        return tuple(answer.text for answer in self.answers)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Begin and end of the gold answers whose text is at their place in the context."""
        found = [answer for answer in self.answers if answer.stands_in(self.context)]
        return [(answer.start, answer.start + len(answer.text)) for answer in found]


def read_asked(path: str | Path, contexts: bool = False) -> dict[str, Asked]:
    """Read questions by id.

    Args:
        path: SQuAD JSON with answers, or ``SPLIT.examples.jsonl`` of a prepared folder.
        contexts: whether to read a prepared folder's contexts, too.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    if path.suffix != ".jsonl":
        return dict(_official(path))
    found = _prepared(path)
    texts = _contexts(path, len(found)) if contexts else []
    known = zip(found.items(), texts)
    return {name: replace(one, context=text) for (name, one), text in known} if texts else found


def _official(path: Path) -> Iterator[tuple[str, Asked]]:
    for paragraph in squad.read(path).paragraphs:
        for question in paragraph.questions:
            answers = _known(question.answers, question.id, path)
            yield question.id, Asked(question.text, answers, paragraph.context)


def _prepared(path: Path) -> dict[str, Asked]:
    found: dict[str, Asked] = {}
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
            name, (text,), gold = _text(row["id"]), map(_text, row["texts"]), row.get("answers")
            answers = gold if gold is None else tuple(map(_answer, gold))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError(f"{path}:{number}: no question of a prepared folder") from None
        if name in found:
            raise InputError(f"{path}:{number}: question {quoted(name)} is there twice")
        found[name] = Asked(text, _known(answers, name, path))
    if not found:
        raise InputError(f"{path} holds no question")
    return found


def _answer(row: dict[str, Any]) -> GoldAnswer:
    return GoldAnswer(_text(row["text"]), operator.index(row.get("answer_start", -1)))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _known(answers: tuple[GoldAnswer, ...] | None, name: str, path: Path) -> tuple[GoldAnswer, ...]:
    if answers is None:
        raise InputError(f"{path}: question {name!r} has no gold answers to compare with")
    return answers


def _contexts(examples: Path, count: int) -> list[str]:
    """Return the context of each question of a prepared split; none if its files are missing."""
    folder, split = examples.parent, examples.name.removesuffix(f".{EXAMPLES}")
    texts, numbers = folder / f"{split}.{CONTEXTS}", folder / f"{split}.paragraph"
    if not (texts.is_file() and stream_exists(numbers)):
        return []
    try:
        lines = read_texts(texts, lambda row: _text(row["context"]))
        found = [lines[int(row[0])] for row in Rows.read(numbers)]
    except (ValueError, TypeError, LookupError, OSError) as error:
        raise InputError(f"{texts}, {numbers.name}.*: not as they were made: {error}") from None
    if len(found) != count:
        raise InputError(f"{examples} has {count:,} questions, {numbers.name}.* {len(found):,}")
    return found
