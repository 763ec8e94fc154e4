"""Files of a preparation that its options name one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

OWN_FILES = {"train": "train_file", "valid": "valid_file", "test": "test_file"}


def own_files(options: Any) -> dict[str, Path]:
    """Files that are named one by one; commas give ``test``, ``test1``, … as in fairseq.

    Args:
        options: with those of `OWN_FILES` and ``raw_dir``, which must be there too.

    Raises:
        FileNotFoundError: a missing file or folder.
        ValueError: an empty name.
    """
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
    """Refuse options that name neither a file nor a folder.

    Raises:
        ValueError: there is nothing to prepare.
    """
    if not any(getattr(options, name) for name in ("raw_dir", *OWN_FILES.values())):
        raise ValueError(
            "nothing to prepare: give --raw-dir, or --train-file, --valid-file, --test-file"
        )


def listed(options: Any, name: str) -> list[Path]:
    """Read an option of file names with commas."""
    value = getattr(options, name)
    parts = [part.strip() for part in value.split(",")] if value else []
    if not all(parts):
        raise ValueError(f"--{name.replace('_', '-')} {value!r}: a file name is empty")
    return [Path(part) for part in parts]
