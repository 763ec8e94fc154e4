"""Kinds of values that the file of an experiment may hold: none of them can act.

Whatever of a file comes to a command line, a path, a script of Slurm or a page is of one of these:
no value begins like an option, breaks a line, leaves a folder or is computed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ...messages import quoted

_NUMBER = r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?"
_SEVERAL = rf"\s*{_NUMBER}\s*(?:,\s*{_NUMBER}\s*){{0,50}},?\s*"
_ONE = re.compile(_NUMBER, re.ASCII)
_NUMBERS = re.compile(rf"{_SEVERAL}|\({_SEVERAL}\)|\[{_SEVERAL}\]", re.ASCII)
_COMPONENT = r"\w[\w.+-]{0,99}"
_WORD = re.compile(r"\w[\w.,+-]{0,199}")
_NAME = re.compile(r"\w[\w.-]{0,99}")
_PATH = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT}){{0,19}}")
_LONGEST = 500  # characters of a line


@dataclass(frozen=True)
class Kind:
    """A kind of values.

    Args:
        said: what fits, for messages.
        fits: tells whether a value does.
    """

    said: str
    fits: Callable[[Any], bool]

    def check(self, value: Any) -> Any:
        """Return a value that fits.

        Raises:
            ValueError: it does not; says what would.
        """
        if not self.fits(value):
            raise ValueError(f"{quoted(value)} is not {self.said}")
        return value


def one_of(names: Iterable[str], *, alone: bool = False) -> Kind:
    """Return the kind of some names; ``alone`` lets the option stand without a value as well."""
    names = tuple(names)
    return Kind(
        f"one of {', '.join(names)}",
        lambda value: isinstance(value, str) and value in names or (alone and value is True),
    )


def either(one: Kind, other: Kind) -> Kind:
    """Return the kind of what fits one or the other."""
    if one.said == other.said:
        return one
    said = f"{one.said}, or {other.said}"
    return Kind(said, lambda value: one.fits(value) or other.fits(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


def _is_number(value: Any) -> bool:
    if isinstance(value, str):  # YAML takes 1e-5 for a text
        return bool(_ONE.fullmatch(value))
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_text(value: Any, fullmatch: Callable[[str], Any]) -> bool:
    return isinstance(value, str) and bool(fullmatch(value))


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and len(value) <= _LONGEST


FLAG = Kind("true or false", lambda value: isinstance(value, bool))
WHOLE = Kind("a whole number", _is_whole)
NUMBER = Kind("a number", _is_number)
NUMBERS = Kind(
    "numbers such as (0.9, 0.98)",
    lambda value: _is_number(value) or _is_text(value, _NUMBERS.fullmatch),
)
WORD = Kind(
    "a word of letters, digits and _, with . , + - within",
    lambda value: _is_whole(value) and value >= 0 or _is_text(value, _WORD.fullmatch),
)
NAME = Kind(
    "a name of letters, digits and _, with . - within", lambda v: _is_text(v, _NAME.fullmatch)
)
PATH = Kind(
    "a path that goes down only, of letters, digits and _, with . + - within",
    lambda value: _is_text(value, _PATH.fullmatch),
)
LINE = Kind(f"a line of at most {_LONGEST} characters", _is_line)
TEXT = Kind(  # as a word of a command line
    f"{LINE.said} that does not begin with -",
    lambda value: _is_line(value) and not value.startswith("-"),
)
