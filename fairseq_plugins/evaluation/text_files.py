"""Files of one sentence a line, read strictly; `write_text` leaves no half files.

Lines end at ``\\n`` only. Python's universal newlines and ``str.splitlines`` also split at
characters that occur inside sentences (U+2028, a lone carriage return), which would shift every
following line against the references.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..files import write_text

__all__ = ["check_equal_counts", "read_lines", "write_text"]


def read_lines(path: str | Path) -> list[str]:
    """Read a UTF-8 file as lines, without their line ends and without a byte order mark.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not valid UTF-8; names file and line.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    lines = []
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{path}, line {number}: not valid UTF-8 ({error.reason})"
                ) from None
            lines.append(line.removesuffix("\n").removesuffix("\r"))
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    return lines


def check_equal_counts(first: tuple[str, Sequence[str]], second: tuple[str, Sequence[str]]) -> None:
    """Refuse two named lists of sentences of different length.

    Raises:
        ValueError: the counts differ; names both and gives both counts.
    """
    (first_name, first_lines), (second_name, second_lines) = first, second
    if len(first_lines) != len(second_lines):
        raise ValueError(
            f"unequal line counts: {first_name} has {len(first_lines):,}, "
            f"{second_name} has {len(second_lines):,}; sentence i of one must answer "
            "sentence i of the other"
        )
