"""Given beginnings of translations: one text for all lines, or a text for each line."""

import os
from collections.abc import Sequence

from ..errors import InputError
from ..text_reading import numbered_lines

Beginnings = str | Sequence[str]


def read_beginnings(given: str | None) -> Beginnings:
    """Return the lines of a file, or a text as it is."""
    if not given or not os.path.isfile(given):
        return given or ""
    return [line for _, line in numbered_lines(given)]


def beginnings_of(given: Beginnings, first: int, count: int) -> list[str]:
    """Return the beginnings of ``count`` lines, from line number ``first``."""
    if isinstance(given, str):
        return [given] * count
    found = [*given[first - 1 : first - 1 + count]]
    if len(found) < count:
        raise InputError(
            f"prefix: {len(given)} lines, but line {first + len(found)} of the text needs one too"
        )
    return found


def check_known(number: int, subwords: Sequence[str], lacking: Sequence[str], most: int) -> None:
    """Refuse a beginning with subwords that the model lacks, or of ``most`` subwords."""
    if lacking:
        raise InputError(f"prefix of line {number}: the model has no subword {lacking[0]!r}")
    if len(subwords) >= most:
        raise InputError(
            f"prefix of line {number}: {len(subwords)} subwords; a translation has at most {most}"
        )
