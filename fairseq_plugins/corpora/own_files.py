"""Files of a preparation: those in its options, and unread data."""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..messages import named

logger = logging.getLogger(__name__)

DATA = (".tsv", ".csv", ".json", ".jsonl", ".txt", ".conll", ".conllu", ".m2", ".xml")
ABOUT = ("readme", "license", "licence")  # prefixes of files that are no data
OWN_FILES = {"train": "train_file", "valid": "valid_file", "test": "test_file"}


def own_files(options: Any) -> dict[str, Path]:
    """Return the individually named files; commas give ``test``, ``test1``, … as in fairseq."""
    found = {
        f"{split}{k or ''}": path
        for split, name in OWN_FILES.items()
        for k, path in enumerate(listed(options, name))
    }
    for split, path in found.items():
        if not path.is_file():
            raise FileNotFoundError(f"no file {str(path)!r} for split {split!r}")
    if options.raw_dir and not Path(options.raw_dir).is_dir():
        raise FileNotFoundError(f"--raw-dir: no folder {options.raw_dir!r}")
    return found


def check_some(options: Any) -> None:
    """Refuse options without a file or folder."""
    if not any(getattr(options, name) for name in ("raw_dir", *OWN_FILES.values())):
        raise InputError(
            "nothing to prepare: give --raw-dir, or --train-file, --valid-file, --test-file"
        )


def listed(options: Any, name: str) -> list[Path]:
    """Read an option of file names with commas."""
    value = getattr(options, name)
    parts = [part.strip() for part in value.split(",")] if value else []
    if not all(parts):
        raise InputError(f"--{name.replace('_', '-')} {value!r}: a file name is empty")
    return [Path(part) for part in parts]


def log_unread(
    raw_dir: str | Path, expected: Mapping[str, Iterable[str]], read: Mapping[str, Path]
) -> None:
    """Log the files in a raw folder that look like data and are not read.

    Args:
        raw_dir: the folder, or empty.
        expected: split -> possible paths below it; empty to skip the search.
        read: all files that are read.
    """
    if not raw_dir:
        return
    places = {Path(name).parent for names in expected.values() for name in names} or {Path()}
    folders = [Path(raw_dir) / place for place in sorted(places) if ".." not in place.parts]
    known = {path.resolve() for path in read.values()}
    unread = [
        path
        for folder in folders
        for path in sorted(folder.iterdir() if folder.is_dir() else ())
        if path.suffix.lower() in DATA
        and not path.name.lower().startswith((".", *ABOUT))
        and path.is_file()
        and path.resolve() not in known
    ]
    if unread:
        lacking = [f"{s} as {named(n, 3)}" for s, n in expected.items() if s not in read]
        looked = f"; looked for: {named(lacking, between='; ')}" if lacking else ""
        names = named(path.relative_to(raw_dir) for path in unread)
        logger.info("%s: there, but not read: %s%s", raw_dir, names, looked)
