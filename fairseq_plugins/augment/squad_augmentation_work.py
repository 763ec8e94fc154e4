"""Translations of an augmentation under way: one line of JSON a chunk, kept until it is finished.

The first line says what the work belongs to. A line that a kill left unfinished is cut off, and its
chunk translated again.
"""

from __future__ import annotations

import fcntl
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..files import open_own

logger = logging.getLogger(__name__)


@contextmanager
def open_work(
    path: Path, fingerprint: str
) -> Iterator[tuple[dict[str, str], Callable[[dict[str, str]], None]]]:
    """Open the work file, made if missing; one process at a time.

    Args:
        path: of the file; its folder is made.
        fingerprint: of what decides the translations; work of another is thrown away.

    Yields:
        What was translated before, and a function that keeps another chunk.

    Raises:
        ValueError: another process works with the file, or it is a link.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_own(path) as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"{path} is in use: another augmentation writes this output") from None
        found = _read(stream, path, fingerprint)

        def keep(chunk: dict[str, str]) -> None:
            stream.write(_line(chunk))
            stream.flush()

        yield found, keep


def _line(body: Any) -> bytes:
    return (json.dumps(body, ensure_ascii=True) + "\n").encode()


def _read(stream: IO[bytes], path: Path, fingerprint: str) -> dict[str, str]:
    """Read the whole lines of our own work; cut the file after them, or begin it again."""
    stream.seek(0)
    lines = stream.read().split(b"\n")[:-1]
    found: dict[str, str] = {}
    head = _line(fingerprint)
    if not lines or lines[0] + b"\n" != head:
        if lines:
            logger.warning("%s is of another augmentation: beginning anew", path)
        stream.truncate(0)
        stream.write(head)
        stream.flush()
        return found
    stream.truncate(sum(len(line) + 1 for line in lines))
    for line in lines[1:]:
        found |= json.loads(line)
    if found:
        logger.info("going on: %d questions are translated", len(found))
    return found
