"""Parallel text files: one checking pass, then chunks of lines read at their byte offsets.

The pass finds what would ruin hours of later work: files of unequal length, bytes that are no
UTF-8, lines too long to be sentences (`text_reading` defines a line). Memory does not grow with the
files.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..syntax.sequences import has_sequence
from ..text_reading import decode_line, numbered_lines
from .conllu import BLANKS

CHUNK_LINES = 500
MOSES_ENTITIES = (b"&apos;", b"&quot;", b" @-@ ")


@dataclass
class Scan:
    """Result of the checking pass over one file."""

    path: Path  # the file
    lines: int = 0  # number of lines (of sentences, for CoNLL-U)
    sha256: str = ""  # hash of its bytes
    offsets: list[int] = field(default_factory=list)  # byte offset of every `CHUNK_LINES`-th line
    # file line at each offset (differs from sentence numbers in CoNLL-U)
    line_numbers: list[int] = field(default_factory=list)
    # the first line longer than the limit, as (line number, characters), or None
    overlong: tuple[int, int] | None = None
    escaped: int = 0  # number of lines with Moses entities
    sequences: bool = False  # whether a line has a sequence (`syntax.sequences`)


def scan_file(
    path: Path, max_characters: int | None, tick: Callable[[int], Any] = lambda n: None
) -> Scan:
    """Check one file.

    Args:
        max_characters: longer lines set `Scan.overlong`; None for CoNLL-U, whose sentences are runs
            of lines between blank ones.
        tick: called with the number of bytes read.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"no file {str(path)!r}")
    found, digest, offset, blank = Scan(Path(path)), hashlib.sha256(), 0, True
    with open(path, "rb") as stream:
        for number, raw in enumerate(stream, 1):
            line = decode_line(raw, path, number)
            if max_characters is not None or (blank and line.strip(BLANKS)):
                if found.lines % CHUNK_LINES == 0:
                    found.offsets.append(offset)
                    found.line_numbers.append(number)
                found.lines += 1
            if max_characters is not None:
                if len(line) > max_characters:
                    found.overlong = found.overlong or (number, len(line))
                found.sequences = found.sequences or has_sequence(line)
                found.escaped += any(entity in raw for entity in MOSES_ENTITIES)
            blank = not line.strip(BLANKS)
            offset += len(raw)
            digest.update(raw)
            tick(len(raw))
    found.sha256 = digest.hexdigest()
    return found


def read_chunk(path: Path, offset: int, number: int, count: int) -> list[str]:
    """Read ``count`` lines from line ``number`` on, which is at a byte offset."""
    lines = [line for _, line in islice(numbered_lines(path, offset, number), count)]
    if len(lines) != count:
        raise InputError(f"{path} changed while it was read: run the same command again")
    return lines


def check_parallel(source: Scan, other: Scan, unit: str = "lines") -> None:
    """Refuse two files of unequal length, and empty ones."""
    if source.lines != other.lines:
        raise InputError(
            f"{source.path} has {source.lines} lines but {other.path} has {other.lines} {unit}: "
            "line i of one must translate or annotate line i of the other"
        )
    if source.lines == 0:
        raise InputError(f"{source.path} is empty")
