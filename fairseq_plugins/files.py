"""Files written whole or not at all, opened without following links, and hashed.

A new file has a name of its own beside the one it is for, ``.NAME.tmpNUMBER``; it takes that name
when it is complete and on disk. Whoever writes it holds a lock on it: what a killed process left is
removed by the next one that writes NAME. A symbolic link in the place of a result is replaced,
never written through. Files and folders that steer work, such as locks, must be no links at all:
what is emptied or removed would lie elsewhere.
"""

import errno
import fcntl
import hashlib
import logging
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from .errors import InputError

logger = logging.getLogger(__name__)

BLOCK = 1 << 20
NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)
TEMPORARY = re.compile(r"\.?(?P<name>.+)\.tmp\d+")


def temporary_beside(path: str | Path) -> Path:
    """Return a path beside ``path`` that nobody else writes to; InputError: it names no file."""
    path = Path(path)
    if not path.name:
        raise InputError(f"{path}: is a folder; name a file")
    return path.with_name(f".{path.name}.tmp{secrets.randbelow(10**15)}")


def final_name(name: str) -> str:
    """Return the name that a file is to have in the end; its own if it is no temporary one."""
    found = TEMPORARY.fullmatch(name)
    return found["name"] if found else name


def new_file(path: str | Path) -> Path:
    """Make an empty file beside ``path`` (its folder too), to be filled and then published."""
    temporary = temporary_beside(path)
    temporary.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    return temporary


@contextmanager
def _temporary(make: Callable[[Path], Path], path: Path) -> Iterator[Path]:
    """Make something beside ``path`` and lock it, after what killed processes left is removed."""
    names = os.listdir(path.parent) if path.parent.is_dir() else []
    for left in map(path.with_name, filter(TEMPORARY.fullmatch, names)):
        if left.name.startswith(f".{path.name}.tmp"):
            with suppress(OSError), closing(_locked(left)):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    lock, temporary = None, make(path)
    while lock is None:
        try:
            lock = _locked(temporary)
        except (BlockingIOError, FileNotFoundError):  # taken for such a rest, before it was locked
            temporary = make(path)
        except OSError:  # a file system without locks, where nobody can tell what is a rest
            lock = ExitStack()
    with closing(lock):
        yield temporary


def _locked(path: Path) -> ExitStack:
    """Lock a file or folder that is no link; OSError where another has locked it."""
    how = os.O_RDONLY if path.is_dir() else os.O_RDWR  # network disks lock what can be written
    handle = os.open(path, how | os.O_NOFOLLOW | os.O_NONBLOCK)
    with ExitStack() as lock:
        lock.callback(os.close, handle)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.stat(path)  # nobody removed it before
        return lock.pop_all()


@contextmanager
def working_folder(path: str | Path) -> Iterator[Path]:
    """Give a new folder beside ``path``, which is removed at the end if it is still there."""

    def new(path: Path) -> Path:
        temporary = temporary_beside(path)
        temporary.mkdir(parents=True)
        return temporary

    with _temporary(new, Path(path)) as temporary:
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def check_free(folder: str | Path) -> Path:
    """Refuse a place for a new folder that is taken (InputError); an empty folder is free."""
    folder = Path(folder)
    taken = folder.is_dir() and any(folder.iterdir())
    if taken or folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is there already; choose another name, or remove it")
    return folder


@contextmanager
def complete_folder(folder: str | Path) -> Iterator[Path]:
    """Give a folder to fill, which gets its name when the block ends well.

    Raises:
        InputError: the name is taken.
    """
    folder = check_free(folder)
    with working_folder(folder) as temporary:
        yield temporary
        os.rename(temporary, folder)
        sync(folder.parent)


def publish(temporary: Path, path: str | Path) -> None:
    """Give a complete file its name, once its bytes are on disk."""
    sync(temporary)
    os.replace(temporary, path)
    sync(Path(path).parent)


def sync(path: str | Path) -> None:
    """Wait until a file or folder is on disk, where its file system can tell."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # folders of some network disks
            raise
    finally:
        os.close(handle)


@contextmanager
def replaced(path: str | Path) -> Iterator[Path]:
    """Give a temporary name to write under; the file gets its own when the block ends well."""
    with _temporary(new_file, Path(path)) as temporary:
        try:
            yield temporary
            publish(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing(path: str | Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a file (``wb``, or ``w`` for UTF-8) that gets its name when the block ends well.

    Folders on the way are made.
    """
    how: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    with replaced(path) as temporary, open(temporary, mode, **how) as stream:
        yield stream


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text; it appears under its name when it is complete."""
    with replacing(path, "w") as stream:
        stream.write(text)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write bytes; they appear under their name when they are complete."""
    with replacing(path) as stream:
        stream.write(content)


def copy(source: str | Path, path: str | Path) -> None:
    """Copy a file's bytes; they appear under their name when they are complete."""
    with open(source, "rb") as bytes_of, replacing(path) as stream:
        shutil.copyfileobj(bytes_of, stream, BLOCK)


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes as hex digits."""
    digest, block = hashlib.sha256(), memoryview(bytearray(BLOCK))
    with open(path, "rb", buffering=0) as stream:
        while count := stream.readinto(block):
            digest.update(block[:count])
    return digest.hexdigest()


def refuse_link(path: Path) -> None:
    """Refuse a symbolic link (InputError) where a file or folder of our own has to be."""
    if path.is_symlink():
        raise InputError(
            f"{path} is a symbolic link, to {os.readlink(path)!r}: what is written and removed "
            "there would lie elsewhere; remove the link"
        )


def own_folder(path: Path) -> Path:
    """Make a folder of our own if it is missing; InputError for a link in its place."""
    refuse_link(path)
    path.mkdir(exist_ok=True)
    return path


def open_own(path: Path) -> IO[bytes]:
    """Open a file of our own for reading and appending, made if missing; no link is followed.

    Raises:
        InputError: it is a link, no regular file, or a file that has another name as well.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        refuse_link(path)
        raise
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(handle)
        what = "has another name as well" if stat.S_ISREG(status.st_mode) else "is no plain file"
        raise InputError(f"{path} {what}: what is written there would lie elsewhere; remove it")
    return os.fdopen(handle, "a+b")


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Wait until no other process is in such a block for a folder; it is made if need be.

    On a file system without locks, which a warning names, nobody waits.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in (*NO_LOCKS, errno.EBADF):  # network disks lock no folders
            os.close(handle)
            raise
        logger.warning("%s: this file system has no locks; let no two processes work here", folder)
    try:
        yield
    finally:
        os.close(handle)


def try_lock(stream: IO[bytes], path: Path) -> bool:
    """Lock an open file for this process and its children; false where another has locked it.

    On a file system without locks, which a warning names, everybody has the lock.
    """
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        logger.warning("%s: this file system has no locks; let no two processes work here", path)
    return True
