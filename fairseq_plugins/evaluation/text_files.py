"""Files of one sentence a line: strict reading, and writing that never leaves half a file.

Lines end at ``\\n`` only. Python's universal newlines and ``str.splitlines`` also split at
characters that occur inside sentences (U+2028, a lone carriage return), which would shift every
following line against the references.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


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


@contextmanager
def replaced(path: str | Path) -> Iterator[Path]:
    """Give a temporary name to write under; the file gets its own name when it is complete.

    The temporary file lies in the same folder, hidden, under a name that nobody else has, and its
    content is on the disk before the name is. Whoever is killed leaves it behind, as
    ``.NAME.*.tmp``; what lay at ``path`` before stays until then.

    Args:
        path: of the file; its folder is made.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
        _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text, which appears under its name when it is complete."""
    with replaced(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
