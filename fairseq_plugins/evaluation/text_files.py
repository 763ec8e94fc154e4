"""Files of one sentence a line: strict reading, and writing that never leaves half a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..text_reading import numbered_lines


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


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text under a temporary name beside ``path`` and rename it when complete."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """Return the file mode mask (mkstemp makes private files, results are for sharing)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
