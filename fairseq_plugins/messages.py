"""Lists and values in messages, cut to what somebody reads.

A file or a user can make them as long as they like: labels that are whole sentences because the
wrong column was named, a header of ten thousand columns, a cell of a megabyte. What is printed or
logged passes through `plain`: no text of a file acts on a terminal.
"""

import difflib
import logging
import re
from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

MOST = 10  # members of a list that a message names
LONGEST = 80  # characters of each, and of any other value
WHOLE = 4096  # characters of a message
# control characters, further ends of lines, what turns the direction of text, halves of characters
_ACTING = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: object, *, breaks: bool = False) -> str:
    """Return a message with what would act on a terminal written out, of several lines if asked."""
    lines = str(text).split("\n") if breaks else [str(text)]
    shown = (_ACTING.sub(lambda one: repr(one[0])[1:-1], line[:WHOLE]) for line in lines)
    return "\n".join(one + _rest(line, WHOLE) for one, line in zip(shown, lines, strict=True))


def plain_record(record: logging.LogRecord) -> bool:
    """Make what our code logs plain, as a filter of a handler."""
    if record.name.startswith(__name__.partition(".")[0]):
        breaks = ".lab.execution." in record.name  # tells the ends of logs
        record.msg, record.args = plain(record.getMessage(), breaks=breaks), None
    return True


def named(
    values: Iterable[Any],
    most: int = MOST,
    *,
    between: str = ", ",
    none: str = "none",
    longest: int = LONGEST,
) -> str:
    """Name the members of a list: ``a, b, c``, or ``a, b, c and 108 more, 111 in all``.

    Args:
        values: the members; texts stand as they are unless they hold what cannot be printed, and
            paths are never cut.
        most: how many are named.
        between: what separates them.
        none: what an empty list is called.
        longest: characters of each that are shown.
    """
    rest = iter(values)
    shown = between.join(
        shortened(str(value), 4096 if isinstance(value, Path) else longest)
        for value in islice(rest, most)
    )
    left = sum(1 for _ in rest)
    return f"{shown} and {left:,} more, {most + left:,} in all" if left else shown or none


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text as it is, or of a long one the beginning; quoted if it cannot be printed."""
    shown = text[:longest] if text[:longest].isprintable() else repr(text[:longest])
    return shown + _rest(text, longest)


def quoted(value: Any, longest: int = LONGEST) -> str:
    """Return a value as Python writes it, or of a long one the beginning."""
    if isinstance(value, (str, bytes)):
        return repr(value[:longest]) + _rest(value, longest)
    text = repr(value)
    return text[:longest] + _rest(text, longest)


def like(name: Any, known: Collection[str], cutoff: float = 0.6) -> str:
    """Name up to three known names that a mistyped one is like, the nearest first; "" if none."""
    return ", ".join(difflib.get_close_matches(str(name)[:100], known, 3, cutoff))


def _rest(text: str | bytes, longest: int) -> str:
    return f"… ({len(text):,} characters)" if len(text) > longest else ""
