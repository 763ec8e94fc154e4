"""The lock on a run's folder: the second process waits for the first."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import time
from collections.abc import Iterator
from pathlib import Path

from ..safe_files import open_file
from .run import RunError

logger = logging.getLogger(__name__)

LOCK = ".lock"
PATIENCE = 1800.0  # seconds without a sign of life, after which nobody is waited for
_LOOK = 0.5  # seconds between looks
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextlib.contextmanager
def locked(folder: Path, patience: float = PATIENCE) -> Iterator[int]:
    """Keep other processes out of a run's folder; wait for one that is at work there.

    Args:
        folder: is made if it is not there.
        patience: seconds without a sign of life, after which the other is not waited for.

    Yields:
        The open file that holds the lock.

    Raises:
        ValueError: the lock is a link.
        RunError: the other shows no sign of life.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open_file(folder / LOCK, "ab") as stream:
        waiting = False
        while not _try_lock(stream.fileno()):
            if not waiting:
                logger.warning("%s: another process is at work there; waiting for it", folder)
            waiting = True
            if time.time() - _last_change(folder) > patience:
                raise RunError(
                    f"another process is at work in this folder, but has written nothing for "
                    f"{patience / 60:.0f} minutes: end it, then start again"
                )
            time.sleep(_LOOK)
        yield stream.fileno()


def is_locked(folder: Path) -> bool:
    """Return whether somebody is at work in a run's folder."""
    try:
        with open_file(folder / LOCK, "rb+") as stream:  # network disks lock no other
            return not _try_lock(stream.fileno())
    except FileNotFoundError:
        return False


def _try_lock(stream: int) -> bool:
    """Take the lock of an open file if it is free, or if there are no locks on this disk."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        logger.warning("no locks on this disk: let no two jobs work on one run")
    return True


def _last_change(folder: Path) -> float:
    """Return when something in a folder was last written."""
    times = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # a temporary name
            times.append(path.stat().st_mtime)
    return max(times)  # the lock itself is there
