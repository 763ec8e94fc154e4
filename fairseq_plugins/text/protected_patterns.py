"""What may be protected: ready patterns, regular expressions of users, and terms.

Regular expressions are those of the library regex, whose search has a time limit.
"""

from __future__ import annotations

import math
import re
import string
from functools import lru_cache
from typing import Any

import regex

from ..errors import InputError
from ..messages import quoted

SECONDS = 2.0  # for all patterns on a line: a pattern that needs more may need forever
LONGEST, REPEATED = 1000, 1000  # characters of a pattern; product of the counts in one
MOST_PATTERNS, MOST_TERMS = 100, 10_000
READY = {
    "urls": r"\b(?:https?://|ftp://|www\.)(?:\([^\s<>\"()]*\)|[^\s<>\"()])*"
    r"(?:\([^\s<>\"()]*\)|[^\s<>\"'.,;:!?()\[\]{}])",
    "emails": r"(?<![\w.+-])[\w.+-]+@\w+(?:[.-]\w+)+",
    "placeholders": r"\{\{?\w*\}?\}|\$\{\w+\}|%(?:\(\w+\)|\d+\$)?[sdif](?!\w)",
    "tags": r"</?\w[^<>]{0,500}>",
}
_OF_PLACES = r"<p\d(?:=[\w.~%-]*)?>"  # text that looks like a place
_COUNTS = re.compile(r"[{,](\d+)")
_ESCAPED = re.compile(r"\\.")
_CALLS = re.compile(r"\(\?(?:[R&]|P>|[+-]?\d)")


def is_pattern(text: str) -> bool:
    """Whether a text is a regular expression between slashes."""
    return len(text) > 1 and text[0] == text[-1] == "/"


def own_pattern(text: str) -> str:
    """Return the end of ``--protect`` if it is a pattern between slashes; else refuse it."""
    if not is_pattern(text):
        raise InputError(
            f"--protect: {quoted(text.partition(',')[0].strip())} is no file, and none of "
            f"{', '.join(READY)}; a regular expression is written /.../, and stands last"
        )
    if ",/" in text[:-1]:
        raise InputError(
            f"--protect: {quoted(text)} looks like several patterns or files: write several "
            "patterns in a file, one per line"
        )
    return text


def check(pattern: str) -> None:
    """Refuse a text that is no regular expression, a huge one, and one of blanks."""
    counts = math.prod(int(count) or 1 for count in _COUNTS.findall(pattern))
    if len(pattern) > LONGEST or counts > REPEATED:
        raise InputError(f"{quoted(pattern)} is too long, or repeats too much")
    if _CALLS.search(_ESCAPED.sub("", pattern)):
        raise InputError(f"{quoted(pattern)} calls a group of itself, which may never end")
    try:
        compiled = regex.compile(pattern)
        found = [one[0].strip() for one in compiled.finditer(string.printable, timeout=SECONDS)]
        if compiled.fullmatch("", timeout=SECONDS) or (found and not any(found)):
            raise InputError(f"the pattern {quoted(pattern)} matches nothing at all, or blanks")
    except (regex.error, RecursionError, OverflowError, TimeoutError, MemoryError) as error:
        raise InputError(f"{quoted(pattern)} is no regular expression: {error}") from None


@lru_cache(maxsize=8)
def matchers(patterns: tuple[str, ...], terms: tuple[str, ...]) -> list[Any]:
    """Return compiled expressions that find what is protected, and text that looks like a place."""
    found = [regex.compile(pattern) for pattern in (*patterns, _OF_PLACES)]
    if terms:
        whole = r"(?:(?<!\w)|(?!\w))\L<terms>(?:(?!\w)|(?<!\w))"
        found.append(regex.compile(whole, terms=terms))
    return found
