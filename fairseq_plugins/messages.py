"""Lists and values in messages, cut to readable length.

A file or a user can make a message very long: labels that are whole sentences because the wrong
column was named, a header of ten thousand columns, a cell of a megabyte. Printed and logged text
passes through `plain`: no text of a file acts on a terminal.
"""

import difflib
import logging
import re
from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

MOST = 10  # members of a list in a message
LONGEST = 80  # characters of each, and of any other value
WHOLE = 4096  # characters of a message
# control characters, further line ends, direction marks, halves of characters
_ACTING = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: object, *, breaks: bool = False) -> str:
    """Return a message with control characters written out; ``breaks`` keeps line ends."""
    lines = str(text).split("\n") if breaks else [str(text)]
    shown = (_ACTING.sub(lambda one: repr(one[0])[1:-1], line[:WHOLE]) for line in lines)
    return "\n".join(one + _rest(line, WHOLE) for one, line in zip(shown, lines, strict=True))


def plain_record(record: logging.LogRecord) -> bool:
    """Make our log records plain, as a filter of a handler."""
    if record.name.startswith(__name__.partition(".")[0]):
        breaks = ".lab.execution." in record.name  # shows the ends of logs
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
        values: the members; unprintable texts are quoted, paths are never cut.
        most: named members.
        none: text for an empty list.
        longest: characters shown of each member.
    """
    rest = iter(values)
    shown = between.join(
        shortened(str(value), 4096 if isinstance(value, Path) else longest)
        for value in islice(rest, most)
    )
    left = sum(1 for _ in rest)
    return f"{shown} and {left:,} more, {most + left:,} in all" if left else shown or none


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text, cut to ``longest`` characters, quoted if unprintable."""
    shown = text[:longest] if text[:longest].isprintable() else repr(text[:longest])
    return shown + _rest(text, longest)


def quoted(value: Any, longest: int = LONGEST) -> str:
    """Return a value as Python writes it, cut to ``longest`` characters."""
    if isinstance(value, (str, bytes)):
        return repr(value[:longest]) + _rest(value, longest)
    text = repr(value)
    return text[:longest] + _rest(text, longest)


def like(name: Any, known: Collection[str], cutoff: float = 0.6) -> str:
    """Name up to three known names similar to a mistyped name, the nearest first; "" for none."""
    return ", ".join(difflib.get_close_matches(str(name)[:100], known, 3, cutoff))


def _rest(text: str | bytes, longest: int) -> str:
    return f"… ({len(text):,} characters)" if len(text) > longest else ""
