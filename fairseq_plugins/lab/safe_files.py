"""Files and folders of an experiment, opened and emptied without following symbolic links.

An experiment's folder may come from a stranger, and a link in it could expose other files in a
report, or make this package overwrite or remove them. The folder that a user names may be a link;
links below it are never followed.
"""

import errno
import logging
import os
import stat
from pathlib import Path
from typing import IO, Any

from ..errors import InputError
from ..text_reading import parse_json

LARGEST = 2**31  # bytes of a file that is read as a whole: the log of a long training

logger = logging.getLogger(__name__)


def open_file(path: str | Path, mode: str = "rb") -> IO[bytes]:
    """Open a regular file that is no link, to read (``rb``) or to append (``ab``)."""
    how = os.O_RDONLY if mode == "rb" else os.O_WRONLY | os.O_APPEND | os.O_CREAT
    try:
        handle = os.open(path, how | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise InputError(_linked(path)) from None
        if error.errno in (errno.EISDIR, errno.ENXIO):
            raise InputError(f"{path}: no regular file") from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputError(f"{path}: no regular file")
    return os.fdopen(handle, mode)


def read_bytes(path: str | Path, limit: int = LARGEST) -> bytes:
    """Read a file through `open_file`; refuse a file larger than the limit."""
    with open_file(path) as stream:
        content = stream.read(limit + 1) if os.fstat(stream.fileno()).st_size <= limit else None
    if content is None or len(content) > limit:
        raise InputError(f"{path}: larger than {limit:,} bytes")
    return content


def read_text(path: str | Path, limit: int = LARGEST, errors: str = "strict") -> str:
    """Read a file as UTF-8 with normalised line ends; see `read_bytes`."""
    text = read_bytes(path, limit).decode("utf-8", errors=errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object; empty if there is no file."""
    try:
        found = parse_json(read_text(path)) if os.path.lexists(path) else {}
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: not a JSON object")
    return found


def read_tail(path: str | Path, size: int, start: int = 0) -> str:
    """Return the last bytes of a file, from a byte on, as text; empty if there is no file."""
    if not is_file(path):
        return ""
    with open_file(path) as stream:
        stream.seek(max(start, os.fstat(stream.fileno()).st_size - size))
        return stream.read(size).decode("utf-8", errors="replace")


def is_file(path: str | Path) -> bool:
    """Return whether a path is a regular file and no link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def inner_folders(folder: Path, remarks: list[str] | None = None) -> list[Path]:
    """Return the folders in a folder, sorted; none if it is missing. A skipped link is a remark."""
    try:
        inner = sorted(Path(folder).iterdir())
    except OSError:
        return []
    # a broken link may lead to a folder
    inner = [path for path in inner if not os.path.isfile(path)]
    return [path for path in _without_links(inner, remarks) if path.is_dir()]


def files_below(folder: Path, remarks: list[str] | None = None) -> list[Path]:
    """Return all regular files below a folder, sorted; see `inner_folders`."""
    paths = [Path(place) / name for place, inner, own in os.walk(folder) for name in (*inner, *own)]
    return [path for path in sorted(_without_links(paths, remarks)) if is_file(path)]


def _without_links(paths: list[Path], remarks: list[str] | None) -> list[Path]:
    tell, found = logger.warning if remarks is None else remarks.append, []
    for path in paths:
        if path.is_symlink():
            tell(f"passed over {_linked(path)}")
        else:
            found.append(path)
    return found


def is_below(root: Path, folder: Path) -> bool:
    """Return whether a folder, which may be missing, lies below another and behind no link."""
    try:
        refuse_links(root, folder)
    except (OSError, InputError):  # of another path, a link, or no path at all
        return False
    return "\0" not in str(folder) and ".." not in folder.relative_to(root).parts


def refuse_links(root: Path, folder: Path, *, within: bool = False) -> None:
    """Refuse a folder behind a link.

    Args:
        root: may be a link.
        folder: below it; may be missing.
        within: whether to refuse links among its files too.
    """
    parts = folder.relative_to(root).parts
    places = [root.joinpath(*parts[: count + 1]) for count in range(len(parts))]
    if within and folder.is_dir():
        places += [folder / entry.name for entry in os.scandir(folder) if entry.is_symlink()]
    for place in places:
        if place.is_symlink():
            raise InputError(_linked(place))


def _linked(path: str | Path) -> str:
    return f"{path}: a symbolic link, and below the folder of an experiment none is followed"
