"""n lines in, n translations out: untranslated lines, and bytes that are not text.

The translation of an empty line is empty with score 0, of an overlong line empty with minus
infinity.
"""

import logging
import math
from collections.abc import Sequence

from ..messages import named
from .raw_text import readable

logger = logging.getLogger(__name__)

EMPTY, TOO_LONG = 1, 2
SCORES = {EMPTY: 0.0, TOO_LONG: -math.inf}  # of empty translations
LONGEST_LINE = 20_000  # characters, for folders without a limit


def mark_of(length: int, limit: int, *, whole: bool) -> int:
    """Return the reason for not translating a line, `EMPTY` or `TOO_LONG`, or 0.

    Args:
        length: of the line in subwords, its end mark included.
        limit: of the model.
        whole: whether the line was read; a line of too many characters is not.
    """
    if length > limit or not whole:
        return TOO_LONG
    return EMPTY if length == 1 else 0


def taken(
    lines: Sequence[str], first: int, longest: int, *, cut: bool = False
) -> tuple[list[str], list[bool]]:
    """Return the read part of raw lines, and whether each line is read.

    Args:
        lines: raw; undecodable parts become U+FFFD.
        first: number of the first line, for messages.
        longest: most characters of a line.
        cut: whether longer lines are cut, not skipped.
    """
    stripped = [line.strip() for line in repaired(lines, first)]
    end = None if cut else 0
    read = [line if len(line) <= longest else line[:longest][:end] for line in stripped]
    return read, [bool(left) or not line for line, left in zip(stripped, read)]


def repaired(lines: Sequence[str], first: int) -> list[str]:
    """Replace undecodable parts of raw lines by U+FFFD; log the numbers of these lines."""
    found = [readable(line) for line in lines]
    broken = [i for i, (old, new) in enumerate(zip(lines, found), first) if old != new]
    if broken:
        logger.warning("%s: bytes that are no UTF-8 text, replaced by U+FFFD", _lines(broken))
    return found


def report(marks: Sequence[int], first: int, limits: str, cure: str) -> None:
    """Log the lines with an empty translation.

    Args:
        marks: of `mark_of`.
        first: number of the first line.
        limits: of a line, for the message.
        cure: advice about longer lines.
    """
    empty, long = (
        [i for i, mark in enumerate(marks, first) if mark == kind] for kind in (EMPTY, TOO_LONG)
    )
    if empty:
        logger.warning("%s: nothing to translate, answered by an empty line", _lines(empty))
    if long:
        logger.warning(
            "%s: longer than %s, answered by an empty line with the score -inf; %s",
            *(_lines(long), limits, cure),
        )


def _lines(numbers: Sequence[int]) -> str:
    return f"line{'s'[: len(numbers) - 1]} {named(numbers)}"
