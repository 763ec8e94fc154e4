"""n lines in, n translations out: lines that no model is asked about, and bytes that are no text.

An empty line is answered by an empty translation with the score 0, and one that is too long by one
with minus infinity.
"""

import logging
import math
from collections.abc import Sequence

from ..messages import named
from .raw_text import readable

logger = logging.getLogger(__name__)

EMPTY, TOO_LONG = 1, 2
SCORES = {EMPTY: 0.0, TOO_LONG: -math.inf}  # of the empty translations
LONGEST_LINE = 20_000  # characters, for folders that do not say


def mark_of(length: int, limit: int, *, whole: bool) -> int:
    """Return why a line is not translated: `EMPTY`, `TOO_LONG`, or 0 for one that is.

    Args:
        length: of the line in subwords, its end mark included.
        limit: of the model.
        whole: whether the line was read at all, which one of too many characters is not.
    """
    if length > limit or not whole:
        return TOO_LONG
    return EMPTY if length == 1 else 0


def taken(
    lines: Sequence[str], first: int, longest: int, *, cut: bool = False
) -> tuple[list[str], list[bool]]:
    """Return what is read of raw lines, and whether each is read at all.

    Args:
        lines: as they came; what is no Unicode text becomes U+FFFD.
        first: number of the first, for messages.
        longest: characters that a line may have.
        cut: whether longer ones are cut, instead of not being read.
    """
    stripped = [line.strip() for line in repaired(lines, first)]
    end = None if cut else 0
    read = [line if len(line) <= longest else line[:longest][:end] for line in stripped]
    return read, [bool(left) or not line for line, left in zip(stripped, read)]


def repaired(lines: Sequence[str], first: int) -> list[str]:
    """Put U+FFFD where a raw line is no Unicode text, and say where, the first being ``first``."""
    found = [readable(line) for line in lines]
    broken = [i for i, (old, new) in enumerate(zip(lines, found), first) if old != new]
    if broken:
        logger.warning("%s: bytes that are no UTF-8 text, replaced by U+FFFD", _lines(broken))
    return found


def report(marks: Sequence[int], first: int, limits: str, cure: str) -> None:
    """Say which lines get an empty translation, by their marks.

    Args:
        marks: of `mark_of`.
        first: number of the first line.
        limits: what a line may have.
        cure: what may be done about longer ones.
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
