"""The index of a bundle, ``bundle.json``: its kind and task, size and SHA-256 of its files.

A bundle may come from anywhere. Nothing in it is executed, and only files that the index names and
describes are read: names stay inside the bundle, links are refused, and all files are verified
before the first is used. Other files at the top, such as a card (``README.md``) that a person
completes, are ignored. A folder inside a bundle, which a library reads as a whole, may hold no
other file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import complete_folder, sha256, sync, write_text
from ..messages import named, quoted
from ..text_reading import read_text

FILE_NAME = "bundle.json"
CARD = "README.md"
FORMAT, VERSION = "fairseq_plugins.bundle", 1
UNDERSTANDING, TRANSLATION = "understanding", "translation"  # kinds
KINDS = (UNDERSTANDING, TRANSLATION)
LONGEST_NAME = 80  # of a task
LONGEST_INDEX = 1 << 26  # bytes; there may be many labels

_PART = r"\w[\w.+-]{0,150}"  # no hidden file, no "..", no root
_NAME = re.compile(rf"{_PART}(?:/{_PART}){{0,9}}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Bundle:
    """A bundle whose files match its index."""

    folder: Path  # its path
    kind: str  # of `KINDS`
    task: str  # of the model's training, e.g. ``text_classification``
    content: dict[str, Any]  # description of the model; checked by its reader
    files: dict[str, dict[str, Any]]  # name -> ``size`` in bytes and ``sha256``
    versions: dict[str, str] = field(default_factory=dict)  # tool -> version that made it

    def path(self, name: str) -> Path:
        """Return the path of one of its files."""
        if name not in self.files:
            raise InputError(f"{self.folder / FILE_NAME} names no file {name!r}: it is incomplete")
        return self.folder / name

    def inside(self, folder: str) -> list[str]:
        """Return the names of the files in one of its folders; none without such a folder."""
        return [name for name in self.files if name.startswith(f"{folder}/")]


def is_bundle(path: str | Path) -> bool:
    """Return whether a path is a folder with an index."""
    return (Path(path) / FILE_NAME).is_file()


def listed(path: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return the given paths: one, several as a list, or several joined by ``:``."""
    if isinstance(path, (str, Path)):
        whole = str(path)
        path = [whole] if Path(whole).exists() else [p for p in whole.split(os.pathsep) if p]
    return [Path(part) for part in path]


def found_bundles(path: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return the bundles of a path, several as a list or joined by ``:``.

    Empty if none of them is a bundle.
    """
    parts = listed(path)
    bundles = [part for part in parts if is_bundle(part)]
    if bundles and len(bundles) < len(parts):
        other = next(part for part in parts if not is_bundle(part))
        raise InputError(f"{bundles[0]} is a bundle and {other} is none: they make no ensemble")
    return bundles


@contextmanager
def new_bundle(
    output: str | Path,
    kind: str,
    task: str,
    content: Mapping[str, Any],
    versions: Mapping[str, str],
) -> Iterator[Path]:
    """Yield a folder to fill; when the block succeeds it becomes the bundle ``output``.

    Args:
        output: the folder to make; must be missing or empty.
        kind, task, content, versions: see `Bundle`; ``content`` may still grow inside the block.
    """
    with complete_folder(output) as temporary:
        yield temporary
        body = {"format": FORMAT, "format_version": VERSION, "kind": kind, "task": task}
        body |= {"content": dict(content), "versions": dict(versions)}
        body["files"] = {name: _described(temporary / name) for name in _all_files(temporary)}
        _check_entries(output, body["files"])
        write_text(temporary / FILE_NAME, json.dumps(body, indent=1, ensure_ascii=False) + "\n")


def open_bundle(folder: str | Path) -> Bundle:
    """Open a bundle after all its files were compared with its index."""
    folder = Path(folder)
    bundle = read_index(folder)
    inner = {name.partition("/")[0] for name in bundle.files if "/" in name}
    for name, entry in bundle.files.items():
        _check_file(folder, name, entry)
    for part in sorted(inner):
        strange = [name for name in _all_files(folder, part) if name not in bundle.files]
        if strange:
            raise InputError(
                f"{folder}: {named(strange)} in its folder {part!r} is not named in {FILE_NAME}; "
                "it was changed after it was made: take an unchanged copy"
            )
    return bundle


def read_index(folder: Path) -> Bundle:
    """Read only a bundle's index; see `open_bundle`."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing: {folder} is no bundle (fairseq-plugins export makes one)"
        )
    if path.is_symlink() or path.stat().st_size > LONGEST_INDEX:
        raise InputError(f"{path} is a link, or larger than {LONGEST_INDEX:,} bytes")
    try:
        body = json.loads(read_text(path))
        form, version = body["format"], body["format_version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path} is no index of a bundle: {error!r}") from None
    if (form, version) != (FORMAT, VERSION):
        raise InputError(
            f"{path} has format {quoted(form)} version {quoted(version)}; this release reads "
            f"{FORMAT!r} version {VERSION}"
        )
    kinds = {"kind": str, "task": str, "content": dict, "files": dict, "versions": dict}
    for name, kind in kinds.items():
        if type(body.get(name)) is not kind:
            raise InputError(f"{path}: {name!r} is {quoted(body.get(name))}, not of its type")
    if body["kind"] not in KINDS:
        raise InputError(f"{path}: kind {quoted(body['kind'])}; choices: {', '.join(KINDS)}")
    if not body["task"].isidentifier() or len(body["task"]) > LONGEST_NAME:
        raise InputError(f"{path}: task {quoted(body['task'])} is no name")
    _check_entries(path, body["files"])
    return Bundle(folder, **{name: body[name] for name in kinds})


def _check_entries(path: object, files: dict[str, Any]) -> None:
    """Refuse an index with file entries that `new_bundle` does not write."""
    for name, entry in files.items():
        if not _NAME.fullmatch(name) or name == FILE_NAME:
            raise InputError(f"{path}: {quoted(name)} is no name of a file in a bundle")
        size, digest = (entry.get(k) if isinstance(entry, dict) else 0 for k in ("size", "sha256"))
        if type(size) is not int or not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise InputError(f"{path}: the entry of {quoted(name)} has no size and SHA-256")


def _check_file(folder: Path, name: str, entry: dict[str, Any]) -> None:
    """Refuse a file that is missing, behind a link, or different from its entry."""
    path = folder
    for part in name.split("/"):
        path = path / part
        if path.is_symlink():
            raise InputError(f"{path} is a symbolic link: a bundle has its files in itself")
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: the bundle is incomplete")
    if (size := path.stat().st_size) != entry["size"]:
        raise InputError(f"{path} has {size} bytes, but was written with {entry['size']}")
    if sha256(path) != entry["sha256"]:
        raise InputError(f"{path} has other bytes than were written (SHA-256)")


def _described(path: Path) -> dict[str, Any]:
    sync(path)
    return {"size": path.stat().st_size, "sha256": sha256(path)}


def _all_files(folder: Path, part: str = "") -> list[str]:
    """Return the names of all files below a folder or a part of it, without cards and indices."""
    paths = (path for path in (folder / part).rglob("*") if not path.is_dir() or path.is_symlink())
    names = sorted(path.relative_to(folder).as_posix() for path in paths)
    return [name for name in names if name not in (FILE_NAME, CARD)]
