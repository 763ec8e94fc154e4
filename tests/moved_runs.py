"""A run that was moved to another place, while its prepared folder is gone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def moved(run: Path, folder: Path, place: Path) -> Iterator[Path]:
    """Give a copy of a run elsewhere; its prepared folder comes back at the end."""
    shutil.copytree(run, place / "elsewhere")
    hidden = folder.rename(place / "gone")
    try:
        yield place / "elsewhere"
    finally:
        hidden.rename(folder)
