"""Files written whole or not at all, opened without following links, and hashed.

A new file has a temporary name beside its own, ``.NAME.tmpNUMBER``; the file gets its own name once
complete and on disk. The writer holds a lock on the temporary file: the next writer of NAME removes
the remains of killed processes. A symbolic link in place of a result is replaced, never followed.
Files and folders that control work, such as locks, must not be links: otherwise files elsewhere
would be emptied or removed.
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
    """Return an unused path beside ``path``."""
    path = Path(path)
    if not path.name:
        raise InputError(f"{path}: is a folder; name a file")
    return path.with_name(f".{path.name}.tmp{secrets.randbelow(10**15)}")


def final_name(name: str) -> str:
    """Return the final name of a temporary name; other names unchanged."""
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
    """Make something beside ``path`` and lock it, after removing remains of killed processes."""
    names = os.listdir(path.parent) if path.parent.is_dir() else []
    for left in map(path.with_name, filter(TEMPORARY.fullmatch, names)):
        if left.name.startswith(f".{path.name}.tmp"):
            with suppress(OSError), closing(_locked(left)):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    lock, temporary = None, make(path)
    while lock is None:
        try:
            lock = _locked(temporary)
        except (BlockingIOError, FileNotFoundError):  # removed before the lock
            temporary = make(path)
        except OSError:  # a file system without locks, remains are not recognisable
            lock = ExitStack()
    with closing(lock):
        yield temporary


def _locked(path: Path) -> ExitStack:
    """Lock a file or folder that is no link; OSError if locked by another process."""
    how = os.O_RDONLY if path.is_dir() else os.O_RDWR  # network disks lock only writable files
    handle = os.open(path, how | os.O_NOFOLLOW | os.O_NONBLOCK)
    with ExitStack() as lock:
        lock.callback(os.close, handle)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.stat(path)  # fails if removed before the lock
        return lock.pop_all()


@contextmanager
def working_folder(path: str | Path) -> Iterator[Path]:
    """Yield a new folder beside ``path``; at the end the folder is removed unless renamed."""

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
    """Refuse a taken place for a new folder; an empty folder is free."""
    folder = Path(folder)
    taken = folder.is_dir() and any(folder.iterdir())
    if taken or folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is there already; choose another name, or remove it")
    return folder


@contextmanager
def complete_folder(folder: str | Path) -> Iterator[Path]:
    """Yield a folder to fill; when the block succeeds the folder gets its name."""
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
    """Wait until a file or folder is on disk, if its file system supports waiting."""
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
    """Yield a temporary name to write under; when the block succeeds the file gets its own name."""
    with _temporary(new_file, Path(path)) as temporary:
        try:
            yield temporary
            publish(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing(path: str | Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a file (``wb``, or ``w`` for UTF-8) that gets its name when the block succeeds.

    Missing folders are made.
    """
    how: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    with replaced(path) as temporary, open(temporary, mode, **how) as stream:
        yield stream


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text; the file appears when complete."""
    with replacing(path, "w") as stream:
        stream.write(text)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write bytes; the file appears when complete."""
    with replacing(path) as stream:
        stream.write(content)


def copy(source: str | Path, path: str | Path) -> None:
    """Copy a file's bytes; the copy appears when complete."""
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
    """Refuse a symbolic link in place of our own file or folder."""
    if path.is_symlink():
        raise InputError(
            f"{path} is a symbolic link, to {os.readlink(path)!r}: what is read, written and "
            "removed there would lie elsewhere; remove the link"
        )


def own_folder(path: Path) -> Path:
    """Make a folder of our own if missing; refuse a link."""
    refuse_link(path)
    path.mkdir(exist_ok=True)
    return path


def open_own(path: Path) -> IO[bytes]:
    """Open a file of our own for reading and appending, made if missing.

    A link, a special file, or a file with a second name is refused.
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
    """Wait until no other process is in this block for a folder, which is made if missing.

    On a file system without locks, named in a warning, no process waits.
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
    """Lock an open file for this process and its children; false if locked by another process.

    On a file system without locks, named in a warning, every process gets the lock.
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
