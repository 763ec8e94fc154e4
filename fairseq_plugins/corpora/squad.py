"""SQuAD files (Rajpurkar et al. 2016, 2018): read strictly, and written.

Versions 1.1 and 2.0 have one form: articles of paragraphs, each with its questions. A question with
``answers`` is answerable, with an empty list unanswerable, and without ``answers`` and
``is_impossible`` (official test files) unknown. A contradiction of ``is_impossible`` and
``answers`` is an error. Other keys, such as ``plausible_answers``, are ignored. Also accepted:
integer ids, titles and versions that are numbers or null, and Hugging Face's form, in which
``answers`` are columns (``{"text": [...], "answer_start": [...]}``) and ``data`` may hold
questions, each with its own context.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import write_text
from ..messages import named, quoted, shortened
from ..text_reading import as_rows, check_characters, read_text

VERSION = "v2.0"
NO_VERDICT = "1"  # prefix of versions without "is_impossible"

JSON_KINDS = {str: "a text", list: "a list", int: "a whole number", bool: "a truth"}


@dataclass(frozen=True)
class GoldAnswer:
    """A gold answer."""

    text: str  # as the annotator marked it
    start: int  # its begin in the context, in code points; may be wrong

    def stands_in(self, context: str) -> bool:
        """Return whether the text is at its place in the context."""
        return self.start >= 0 and context.startswith(self.text, self.start)

    def as_json(self) -> dict[str, Any]:
        return {"text": self.text, "answer_start": self.start}


@dataclass(frozen=True)
class Question:
    """A question."""

    id: str  # unique in the file
    text: str  # the question itself
    # its gold answers; empty if unanswerable; None if unknown
    answers: tuple[GoldAnswer, ...] | None = None


@dataclass(frozen=True)
class Paragraph:
    """A paragraph with its questions."""

    title: str  # of its article
    context: str  # its text
    questions: tuple[Question, ...]  # about it
    place: str = field(default="", compare=False)  # in its file

    def named(self) -> Iterator[tuple[str, Question]]:
        """Yield its questions, each with its place and id for messages."""
        for number, question in enumerate(self.questions):
            yield f"{self.place}.qas[{number}] (id {question.id!r})", question


@dataclass(frozen=True)
class Squad:
    """A file's content."""

    version: str  # in the file, e.g. ``v2.0``; may be empty
    paragraphs: tuple[Paragraph, ...]  # in order

    @property
    def questions(self) -> Iterator[Question]:
        """All questions, in order."""
        return (question for paragraph in self.paragraphs for question in paragraph.questions)


def read(path: str | Path) -> Squad:
    path = Path(path)
    body = _parsed(path)
    paragraphs = tuple(_paragraphs(body, path))
    seen: dict[str, str] = {}
    for paragraph in paragraphs:
        for place, question in paragraph.named():
            if question.id in seen:
                raise InputError(f"{place}: the id stands at {seen[question.id]} as well")
            seen[question.id] = place.removeprefix(f"{path}: ")
    if not seen:
        raise InputError(f"{path} holds no question")
    return Squad(_said(body, "version", str(path)), paragraphs)


def dump(path: str | Path, paragraphs: Iterable[Paragraph], version: str = VERSION) -> None:
    """Write a file, which appears when complete.

    Args:
        paragraphs: neighbours with one title become one article.
        version: of the file; 1.1 has no impossible questions.
    """

    def body_of(question: Question) -> dict[str, Any]:
        body: dict[str, Any] = {"question": question.text, "id": question.id}
        if question.answers is not None:
            body["answers"] = [answer.as_json() for answer in question.answers]
            if not version.removeprefix("v").startswith(NO_VERDICT):
                body["is_impossible"] = not question.answers
        return body

    data = []
    for title, group in groupby(paragraphs, key=lambda paragraph: paragraph.title):
        found = [{"context": one.context, "qas": [*map(body_of, one.questions)]} for one in group]
        data.append({"title": title, "paragraphs": found})
    write_text(Path(path), json.dumps({"version": version, "data": data}, ensure_ascii=False))


def _parsed(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    text = read_text(path)
    try:
        body = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{path} is no JSON: {place}: {error.msg}") from None
    except (ValueError, RecursionError) as error:  # a number too long, or lists too deep
        raise InputError(f"{path} is no JSON that can be read: {error}") from None
    if not isinstance(body, dict) or "data" not in body:
        raise InputError(f"{path} is no SQuAD file: expected an object with a list 'data'")
    return body


def _paragraphs(body: dict[str, Any], path: Path) -> Iterator[Paragraph]:
    for i, article in enumerate(_take(body, "data", list, f"{path}: the file")):
        place = f"{path}: data[{i}]"
        if isinstance(article, dict) and "question" in article and "paragraphs" not in article:
            article = {**article, "paragraphs": [{**article, "qas": [article]}]}
        found = _take(article, "paragraphs", list, place)
        title = _said(article, "title", place)
        check_characters(title, place)
        for k, paragraph in enumerate(found):
            where = f"{place}.paragraphs[{k}]"
            context = _text(paragraph, "context", where)
            bodies = enumerate(_take(paragraph, "qas", list, where))
            questions = tuple(_question(question, f"{where}.qas[{n}]") for n, question in bodies)
            yield Paragraph(title, context, questions, where)


def _question(body: Any, place: str) -> Question:
    if isinstance(body, dict):
        known = {"answers": as_rows(body["answers"])} if "answers" in body else {}
        known |= {"id": str(body["id"])} if type(body.get("id")) is int else {}
        body = body | known
    name = _text(body, "id", place)
    place = f"{place} (id {name!r})"
    text = _text(body, "question", place)
    impossible = _take(body, "is_impossible", bool, place, None)
    found = _take(body, "answers", list, place, [] if impossible else None)
    if impossible is not None and impossible != (not found):
        raise InputError(
            f"{place}: 'is_impossible' is {json.dumps(impossible)}, but it has "
            f"{len(found or ())} answers"
        )
    if found is None:
        return Question(name, text)
    answers = []
    for k, answer in enumerate(found):
        where = f"{place}: answers[{k}]"
        marked = _text(answer, "text", where)
        answers.append(GoldAnswer(marked, _take(answer, "answer_start", int, where)))
    return Question(name, text, tuple(answers))


def _text(body: Any, key: str, place: str) -> str:
    found = _take(body, key, str, place)
    if not found.strip():
        raise InputError(f"{place}: {key!r} is empty")
    check_characters(found, place)
    return found


def _said(body: dict[str, Any], key: str, place: str) -> str:
    """Return a text that may be missing, null, or a number."""
    found = body.get(key)
    number = type(found) in (int, float)
    return str(found) if number else "" if found is None else _take(body, key, str, place)


def _take(body: Any, key: str, kind: type, place: str, default: Any = ...) -> Any:
    if not isinstance(body, dict):
        raise InputError(f"{place} is {shortened(json.dumps(body), 40)}, expected an object")
    found = body.get(key, default)
    if found is ...:
        raise InputError(
            f"{place} has no {key!r}; it has {named(map(quoted, body), none='nothing')}"
        )
    if key in body and type(found) is not kind:
        shown = shortened(json.dumps(found), 40)
        raise InputError(f"{place}: {key!r} is {shown}, expected {JSON_KINDS[kind]}")
    return found
