"""Given beginnings of translations: one text for all lines, or a text for each line."""

import logging
import os
import re
from collections.abc import Sequence

from ..errors import InputError
from ..messages import quoted
from ..text_reading import numbered_lines

logger = logging.getLogger(__name__)

_ENDING = re.compile(r"\.[^\W\d_]\w{1,7}\Z")  # of a file's name, such as .de
Beginnings = str | Sequence[str]


def read_beginnings(given: str | None) -> Beginnings:
    """Return the lines of a file, or a text as it is, unless it looks like a file's name."""
    if not given:
        return ""
    if not os.path.isfile(given):
        if _names_file(given):
            raise FileNotFoundError(
                f"--prefix {quoted(given)}: no such file; with a blank behind it, it is a text"
            )
        logger.warning("--prefix: one beginning for all lines: %s", quoted(given))
        return given
    return [line for _, line in numbered_lines(given)]


def _names_file(text: str) -> bool:
    """Whether a text looks like the name of a file: no blanks, but a separator or an ending."""
    if any(map(str.isspace, text)):
        return False
    return not {"/", os.sep}.isdisjoint(text) or bool(_ENDING.search(text))


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
