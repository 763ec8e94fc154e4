"""Kinds of values that the file of an experiment may hold, and their reading: none can act.

Whatever of a file comes to a command line, a path, a script of Slurm or a page is of one of these:
no value begins like an option, breaks a line, leaves a folder or is computed. What pydantic refuses
is said in one sentence.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from ...messages import like, quoted, shortened

_NUMBER = r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?"
_SEVERAL = rf"\s*{_NUMBER}\s*(?:,\s*{_NUMBER}\s*){{0,50}},?\s*"
_COMPONENT = r"\w[\w.+-]{0,99}"
_LONGEST = 500  # characters of a line


@dataclass(frozen=True)
class ValueKind:
    """A kind of values; as annotation of a field it is what pydantic checks."""

    said: str  # what fits, for messages
    fits: Callable[[Any], bool]  # whether a value does
    names: Collection[str] = ()  # of which the nearest are named, where all are too many

    def check(self, value: Any) -> Any:
        """Return a value that fits; ValueError says what would."""
        if not self.fits(value):
            near = like(value, self.names)
            hint = f"; like it: {near}" if near else ""
            raise ValueError(f"{quoted(value)} is not {self.said}{hint}")
        return value

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)


def matching(fits: Callable[[str], object], said: str) -> ValueKind:
    """Return the kind of texts that fit, mostly a regular expression as a whole."""
    return ValueKind(said, lambda value: isinstance(value, str) and bool(fits(value)))


def one_of(names: Iterable[str], *, alone: bool = False) -> ValueKind:
    """Return the kind of some names; ``alone`` lets the option stand without a value as well."""
    names = tuple(names)
    return ValueKind(
        f"one of {', '.join(names)}",
        lambda value: isinstance(value, str) and value in names or (alone and value is True),
    )


def either(one: ValueKind, other: ValueKind) -> ValueKind:
    """Return the kind of what fits one or the other."""
    if one.said == other.said:
        return one
    said = f"{one.said}, or {other.said}"
    return ValueKind(said, lambda value: one.fits(value) or other.fits(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


def _is_number(value: Any) -> bool:
    if isinstance(value, str):  # YAML takes 1e-5 for a text
        return _ONE.fits(value)
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and len(value) <= _LONGEST


_A_NUMBER = re.compile(_NUMBER, re.ASCII)
_ONE = matching(_A_NUMBER.fullmatch, "a number")
FLAG = ValueKind("true or false", lambda value: isinstance(value, bool))
WHOLE = ValueKind("a whole number", _is_whole)
NUMBER = ValueKind("a number", _is_number)
_A_TUPLE = re.compile(rf"{_SEVERAL}|\({_SEVERAL}\)|\[{_SEVERAL}\]", re.ASCII)
_TUPLE = matching(_A_TUPLE.fullmatch, "numbers such as (0.9, 0.98)")
NUMBERS = ValueKind(_TUPLE.said, lambda value: _is_number(value) or _TUPLE.fits(value))
_A_WORD = re.compile(r"\w[\w.,+-]{0,199}")
_TEXT_WORD = matching(_A_WORD.fullmatch, "a word of letters, digits and _, with . , + - within")
WORD = ValueKind(
    _TEXT_WORD.said, lambda value: _is_whole(value) and value >= 0 or _TEXT_WORD.fits(value)
)
_A_NAME = re.compile(r"\w[\w.-]{0,99}")
NAME = matching(_A_NAME.fullmatch, "a name of letters, digits and _, with . - within")
_A_PATH = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT}){{0,19}}")
PATH = matching(
    _A_PATH.fullmatch,
    "a path that goes down only, of letters, digits and _, with . + - within",
)
LINE = ValueKind(f"a line of at most {_LONGEST} characters", _is_line)
TEXT = ValueKind(  # as a word of a command line
    f"{LINE.said} that does not begin with -",
    lambda value: _is_line(value) and not value.startswith("-"),
)


def closed(name: str, kinds: Mapping[str, Any]) -> Any:
    """Return the type of mappings that have some of the keys given, and no other."""
    made: Any = TypedDict(name, kinds, total=False)  # pyrefly: ignore[not-callable]
    return with_config(ConfigDict(extra="forbid"))(made)


def filled(content: Any) -> Any:
    """Return keys and values without those left empty; anything else as it is."""
    is_mapping = isinstance(content, dict)
    return {k: v for k, v in content.items() if v not in (None, "")} if is_mapping else content


@cache
def _adapter(kind: Any) -> TypeAdapter:
    return TypeAdapter(kind)


def read_as(kind: Any, content: Any, place: str) -> Any:
    """Return content as a value of a type.

    Args:
        kind: model or dataclass, whose keys are closed, or another type that pydantic knows.
        content: as YAML has it.
        place: where it stands, for messages.
    """
    try:
        return _adapter(kind).validate_python(content)
    except ValidationError as error:
        found = error.errors()[0]
    places = [f"value {one + 1}" if isinstance(one, int) else str(one) for one in found["loc"]]
    key = quoted(places[-1]) if places else ""
    if found["type"] == "missing":
        places[-1:], reason = [], f"key {key} is missing"
    elif found["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        known = get_type_hints(kind) if len(places) == 1 else ()
        choices = f"; choices: {', '.join(known)}" if known else ""
        places[-1:], reason = [], f"unknown key {key}{choices}"
    elif found["type"] == "value_error":
        reason = str(found["ctx"]["error"])
    else:
        reason = f"{quoted(found['input'])}: {found['msg']}"
    raise ValueError(": ".join([place, *(shortened(one) for one in places), reason]))
