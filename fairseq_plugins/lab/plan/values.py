"""Kinds of values that an experiment file may hold; none of them can run anything.

Every value that a file gives to a command line, a path, a Slurm script or a page has one of these
kinds. No value starts like an option, breaks a line, leaves a folder or is evaluated.
"""

import math
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from pydantic_core import CoreSchema, core_schema

from ...errors import InputError
from ...messages import like, named, quoted

_NUMBER = r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?"
_SEVERAL = rf"\s*{_NUMBER}\s*(?:,\s*{_NUMBER}\s*){{0,50}},?\s*"
_COMPONENT = r"\w[\w.+-]{0,99}"
_ONE_NUMBER = re.compile(_NUMBER)
_NUMBERS = re.compile(rf"(?a){_SEVERAL}|\({_SEVERAL}\)|\[{_SEVERAL}\]")
_ONE_WORD = re.compile(r"\w[\w.,+-]{0,199}")
_ONE_NAME = re.compile(r"\w[\w.-]{0,99}")
_ONE_PATH = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT}){{0,19}}")


class Refused(InputError, ArgumentTypeError):
    """A value of the wrong kind; argparse shows the message too."""


@dataclass(frozen=True)
class Kind:
    """A kind of values; as a field's annotation, pydantic checks it."""

    said: str  # description of accepted values, for messages
    fits: Callable[[Any], bool]  # whether a value is accepted
    names: Collection[str] = ()  # known values, to suggest the nearest

    def check(self, value: Any) -> Any:
        """Return the value, or refuse it."""
        if not self.fits(value):
            near = like(value, self.names)
            raise Refused(f"{quoted(value)} is not {self.said}{near and f'; like it: {near}'}")
        return value

    def __or__(self, other: "Kind") -> "Kind":
        if self.said == other.said:
            return self
        return Kind(f"{self.said}, or {other.said}", lambda v: self.fits(v) or other.fits(v))

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)


def matching(fullmatch: Callable[[str], Any], said: str) -> Kind:
    """Return the kind of texts that a regular expression matches completely."""
    return Kind(said, lambda value: isinstance(value, str) and bool(fullmatch(value)))


def one_of(names: Iterable[str]) -> Kind:
    """Return the kind of some names."""
    known = tuple(names)
    return Kind(f"one of {named(known)}", lambda v: isinstance(v, str) and v in known, known)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


def _is_number(value: Any) -> bool:
    if isinstance(value, str):  # YAML reads 1e-5 as text
        return _ONE.fits(value)
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and len(value) <= 500


_ONE = matching(_ONE_NUMBER.fullmatch, "a number")
_TUPLE = matching(_NUMBERS.fullmatch, "numbers such as (0.9, 0.98)")
_WORD = matching(_ONE_WORD.fullmatch, "a word of letters, digits and _, with . , + - within")
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
WHOLE = Kind("a whole number", _is_whole)
NUMBER = Kind("a number", _is_number)
NUMBERS = Kind(_TUPLE.said, lambda value: _is_number(value) or _TUPLE.fits(value))
WORD = Kind(_WORD.said, lambda value: _is_whole(value) and value >= 0 or _WORD.fits(value))
NAME = matching(_ONE_NAME.fullmatch, "a name of letters, digits and _, with . - within")
PATH = matching(
    _ONE_PATH.fullmatch,
    "a path that goes down only, of letters, digits and _, with . + - within",
)
LINE = Kind("a line of at most 500 characters", _is_line)
TEXT = Kind(  # as a word of a command line
    f"{LINE.said} that does not begin with -", lambda v: _is_line(v) and not v.startswith("-")
)
