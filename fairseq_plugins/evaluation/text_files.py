"""Files of one sentence a line, read strictly; `write_text` leaves no half files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..files import write_text
from ..text_reading import numbered_lines

__all__ = ["check_equal_counts", "read_lines", "write_text"]


def read_lines(path: str | Path) -> list[str]:
    """Read a UTF-8 file as lines, without their line ends and without a byte order mark.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not valid UTF-8, or all lines are one; see `text_reading`.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    return [line for _, line in numbered_lines(path)]


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
