"""The content of a request, for each kind of model, and the checks of requests.

A body is standard JSON: UTF-8, no NaN, no repeated name. Every refusal is one sentence
that names the item, its value and the limit.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import InputError
from ..messages import named, quoted
from ..text_reading import check_characters

DIGITS = 100  # of a number
MOST_BEAM = 32
CONTENT, UNREADABLE, TOO_LARGE, UNKNOWN, OTHER_TYPE, BUSY = 422, 400, 413, 404, 415, 503


class Refused(InputError):
    """A refused request, with the status of HTTP and one sentence."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Body(BaseModel):
    """What all requests have in common: nothing that is not known, nothing of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Sentences(Body):
    """Sentences to be labelled or scored."""

    texts: list[str] = Field(min_length=1, fail_fast=True)


class Pairs(Body):
    """Pairs of sentences to be labelled or scored."""

    texts: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(
        min_length=1, fail_fast=True
    )


class WordTexts(Body):
    """Sentences whose words are to be labelled, or words of sentences."""

    texts: list[str | Annotated[list[str], Field(min_length=1, fail_fast=True)]] = Field(
        min_length=1, fail_fast=True
    )


class Asked(Body):
    """A question on a text."""

    question: str
    context: str


class Questions(Body):
    """Questions, each with the text that it is about."""

    questions: list[Asked] = Field(min_length=1, fail_fast=True)


class Lines(Body):
    """Sentences to be translated, and how: see `bundles.ctranslate2_model.Search`."""

    texts: list[str] = Field(min_length=1, fail_fast=True)
    beam: int = Field(default=4, ge=1, le=MOST_BEAM)
    lenpen: float = Field(default=0.6, ge=-10, le=10)
    nbest: int = Field(default=1, ge=1, le=MOST_BEAM)
    prefix: str | list[str] = ""  # beginning of all translations, or that of each


SomeBody = TypeVar("SomeBody", bound=Body)


def read_json(raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8")
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_whole
        )
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} (0x{raw[error.start]:02x}) is not valid UTF-8"
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:
        reason = str(error)
    raise Refused(UNREADABLE, f"the body is no JSON: {reason}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = Counter(name for name, _ in pairs)
        twice = next(name for name, count in names.items() if count > 1)
        raise InputError(f"the name {quoted(twice)} stands twice in an object")
    return found


def _constant(name: str) -> Any:
    raise InputError(f"{name} is no number of JSON")


def _whole(digits: str) -> int:
    if len(digits) > DIGITS:
        raise InputError(f"a number has {len(digits)} digits")
    return int(digits)


def read_request(body: type[SomeBody], found: Any, example: Mapping[str, Any]) -> SomeBody:
    """Return a request from parsed JSON; a message shows the example."""
    try:
        return body.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    missing, value = first["type"] == "missing", first["input"]
    place = _place(first["loc"], found, missing=missing)
    if first["type"] == "model_type":
        first["msg"] = "it should be an object"
    what = f"{place} is {quoted(value)}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    if missing or first["type"] == "extra_forbidden":
        what = f"{place} is {'missing' if missing else 'not known'}"
    like = json.dumps(example, ensure_ascii=False)
    raise Refused(CONTENT, f"{what}; a request is like {like}")


def schema_of(body: type[Body]) -> dict[str, Any]:
    """Return the self-contained schema of a request."""
    schema = body.model_json_schema()
    parts = schema.pop("$defs", {})

    def filled(part: Any) -> Any:
        if isinstance(part, list):
            return [filled(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return filled(parts[part["$ref"].rpartition("/")[2]])
        return {name: filled(one) for name, one in part.items()}

    return filled(schema)


def _place(where: Sequence[str | int], found: Any, *, missing: bool) -> str:
    """Name a place in the content as in Python, ``texts[3]``.

    Parts that lead nowhere name the tried type of several, or, at the end, the missing part.
    """
    place = ""
    for part in where:
        if isinstance(found, list) and isinstance(part, int):
            place, found = f"{place}[{part}]", found[part]
        elif isinstance(found, dict) and (part in found or missing):
            name = named([part])
            place, found = f"{place}.{name}" if place else name, found.get(part)
        else:
            break
    return place or "the body"


def check_size(body: Body, most: int, longest: int) -> list[int]:
    """Count each text's characters; refuse too many items, and empty, long or non-Unicode texts."""
    name = next(iter(type(body).model_fields))
    items = body.model_dump(include={name})[name]
    if len(items) > most:
        raise Refused(CONTENT, f"{name} are {len(items):,}; a request may have {most:,}")
    sizes = []
    for number, item in enumerate(items):
        texts = [*_texts(item, f"{name}[{number}]")]
        for place, text in texts:
            _check_text(text, place, longest)
        sizes.append(sum(len(text) for _, text in texts))
        if sizes[-1] > longest and isinstance(item, list):  # of words
            _check_length(sizes[-1], f"{name}[{number}]", longest)
    return sizes


def _texts(item: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(item, str):
        yield place, item
    elif isinstance(item, dict):
        yield from ((f"{place}.{name}", text) for name, text in item.items())
    else:
        yield from ((f"{place}[{number}]", text) for number, text in enumerate(item))


def _check_text(text: str, place: str, longest: int) -> None:
    if not text.strip():
        raise Refused(CONTENT, f"{place} is empty: {quoted(text)}")
    _check_length(len(text), place, longest)
    try:
        check_characters(text, place)
    except InputError as error:
        raise Refused(CONTENT, str(error)) from None


def _check_length(length: int, place: str, longest: int) -> None:
    if length > longest:
        raise Refused(CONTENT, f"{place} has {length:,} characters; a text may have {longest:,}")
