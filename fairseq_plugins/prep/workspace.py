"""The output folder of a preparation: its results, its lock, its unfinished work.

Only one preparation at a time works in a folder. The process and its workers hold the lock: the
system releases it after the end of the last one, even after a kill.
"""

import errno
import logging
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..data.manifest import FILE_NAME, M, Manifest
from ..data.manifests import is_product, read_manifest
from ..data.products import faults, with_products
from ..errors import InputError
from ..files import final_name, open_own, own_folder, refuse_link, try_lock, write_text
from ..messages import named

logger = logging.getLogger(__name__)

WORK = ".preparing"
LOCK = ".preparing.lock"
MARK = "fingerprint.json"
WORK_FORMAT = 4  # of unfinished work; another format is not continued
PATIENCE = 5.0  # seconds for workers of a killed preparation to end


def products(folder: Path) -> list[Path]:
    """Return the files in ``folder`` named like a preparation's results."""
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if path.is_symlink() or not path.is_dir())
    return sorted(path for path in found if is_product(final_name(path.name)))


def check_destination(folder: Path, inputs: Iterable[Path]) -> None:
    """Refuse a folder that cannot be written, or whose results would replace their own input."""
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "--destdir: not a folder", str(existing))
    if not os.access(existing, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "--destdir: cannot write", str(existing))
    for path in inputs:
        if path.resolve().parent == folder.resolve() and is_product(path.name):
            raise InputError(
                f"{path} is an input, but --destdir {folder} would replace it: "
                "copy it elsewhere or name another --destdir"
            )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make and lock a folder against other preparations."""
    folder.mkdir(parents=True, exist_ok=True)
    stream = _take(folder)
    try:
        yield
    finally:
        (folder / LOCK).unlink(missing_ok=True)
        stream.close()


def _take(folder: Path) -> IO[bytes]:
    """Wait briefly for the lock; return its open file, which holds this process's number."""
    path, end = folder / LOCK, time.monotonic() + PATIENCE
    while True:
        stream = open_own(path)
        if try_lock(stream, path):
            if _is_there(stream, path):
                stream.truncate(0)
                stream.write(str(os.getpid()).encode())
                stream.flush()
                return stream
        elif time.monotonic() > end:
            stream.seek(0)
            holder = stream.read(20).decode("ascii", "replace") or "?"
            stream.close()
            raise InputError(
                f"{folder} is being prepared by another process ({holder}): "
                "wait for it, or name another --destdir"
            )
        stream.close()
        time.sleep(0.05)


def _is_there(stream: IO[bytes], path: Path) -> bool:
    """Return whether an open file still has its name; another preparation may have removed it."""
    try:
        return os.fstat(stream.fileno()).st_ino == path.lstat().st_ino
    except FileNotFoundError:
        return False


def open_work(folder: Path, fingerprint: str, *, overwrite: bool) -> Path:
    """Open the folder of unfinished work; remove foreign work and half-written results.

    ``fingerprint`` is a hash of this preparation's input, options and versions.
    """
    found = check_products(folder, overwrite=overwrite)
    work = own_folder(folder / WORK)  # stays: without it results look foreign
    if has_mark(work, fingerprint):
        logger.info("going on with the unfinished preparation in %s", folder)
    else:
        for path in work.iterdir():
            path.unlink()
        write_text(work / MARK, _mark(fingerprint))
    (folder / FILE_NAME).unlink(missing_ok=True)
    for path in found:
        path.unlink(missing_ok=True)
    return work


def has_mark(work: Path, fingerprint: str) -> bool:
    """Return whether a folder of unfinished work belongs to this preparation."""
    mark = work / MARK
    return (
        mark.is_file()
        and not mark.is_symlink()
        and mark.read_bytes() == _mark(fingerprint).encode()
    )


def _mark(fingerprint: str) -> str:
    return f"{WORK_FORMAT} {fingerprint}"


def check_products(folder: Path, *, overwrite: bool) -> list[Path]:
    """Return the removable results in the folder; refuse foreign ones."""
    found = products(folder)
    ours = (folder / WORK).is_dir() or (folder / FILE_NAME).is_file()
    if found and not ours and not overwrite:
        raise InputError(
            f"{folder} holds files of another tool or preparation ({found[0].name}, …); "
            "name another --destdir or give --overwrite"
        )
    return found


def is_finished(folder: Path, manifest: Manifest, *, overwrite: bool) -> bool:
    """Return whether the folder already holds exactly this preparation, complete.

    Always False with ``overwrite``.
    """
    if overwrite or not (folder / FILE_NAME).is_file():
        return False
    found = read_manifest(folder, type(manifest))
    if differences := found.differences(manifest):
        raise InputError(
            f"{folder} holds another preparation ({some(differences)}); "
            "name another --destdir or give --overwrite "
            "(of an experiment: another name of the part, or --name)"
        )
    if wrong := list(faults(folder, found)):
        logger.warning("preparing %s again: %s", folder, named(wrong, 3, between="; "))
        return False
    logger.info("%s is already prepared from the same input and options", folder)
    return True


def finish(folder: Path, manifest: M) -> M:
    """Write the complete manifest, last, return it, and remove the work folder."""
    manifest = with_products(folder, manifest)
    manifest.save(folder)
    close_work(folder)
    return manifest


def close_work(folder: Path) -> None:
    if (folder / WORK).is_dir():
        refuse_link(folder / WORK)
        shutil.rmtree(folder / WORK)


def some(differences: Iterable[str]) -> str:
    """Name a few differences between two manifests."""
    return named(differences, 3, between="; ", longest=400)
